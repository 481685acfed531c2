"""Which processes `up` runs, and with what environment: the one list."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from django.conf import settings

from . import broker, folders, former, ports
from .children import Child

CELERY = (sys.executable, "-m", "celery", "--quiet", "-A", "portal")
ALONE = ("--without-gossip", "--without-mingle", "--without-heartbeat")
"""Workers need not know of one another: the leases in the database divide the work."""


def environment(data: Path, host: str, port: int, redis_url: str) -> dict[str, str]:
    """Ours, with the addresses of this Headrace. What a deployment set itself stays as it is."""
    here = ports.url(ports.reachable(host), port)
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": os.environ.get("DJANGO_SETTINGS_MODULE", "portal.settings"),
        "HEADRACE_DATA": str(data),
        "PORTAL_URL": settings.PORTAL_URL or here,
        "AGENT_URL": former.address(host, port),
        "REDIS_URL": redis_url,
        "PYTHONUNBUFFERED": "1",
    }


def children(data: Path, host: str, port: int) -> list[Child]:
    """The broker first (unless REDIS_URL names another), then who needs it."""
    found, redis_url = [], settings.REDIS_URL
    if not redis_url:
        path = broker.socket_path(folders.run(data))
        redis_url = broker.url(path)
        found.append(("valkey", broker.command(path)))
    found += [
        ("worker", [*CELERY, "worker", "--loglevel=WARNING", f"--hostname=worker@{os.getpid()}", *ALONE]),
        ("beat", [*CELERY, "beat", "--loglevel=WARNING", "--scheduler=celery.beat:Scheduler", "--pidfile="]),
        ("web", [sys.executable, "-m", "portal.server", "--host", host, "--port", str(port)]),
    ]
    known: Mapping[str, str] = environment(data, host, port, redis_url)
    return [Child(name, command, known, folders.log(data) / f"{name}.log", settings.BASE_DIR) for name, command in found]
