"""Where the portal is and who one is: HEADRACE_URL and HEADRACE_TOKEN, else what `headrace login` kept, readable by its owner only."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

import click


@dataclass(frozen=True)
class Config:
    url: str
    token: str


def path() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "headrace" / "client.json"


def read() -> Config:
    """Raises ClickException where nothing is known."""
    kept = json.loads(path().read_text()) if path().exists() else {}
    url, token = os.environ.get("HEADRACE_URL") or kept.get("url"), os.environ.get("HEADRACE_TOKEN") or kept.get("token")
    if not url or not token:
        raise click.ClickException("Not signed in: run `headrace login`, or set HEADRACE_URL and HEADRACE_TOKEN.")
    return Config(url.rstrip("/"), token)


def write(config: Config) -> Path:
    target = path()
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(asdict(config), file)
    return target
