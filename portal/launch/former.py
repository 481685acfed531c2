"""Where the last `up` was for its agents.

One idea: agents look for their portal at the address that they were started with, so a new address while clusters are up
leaves them alone until they are given up as lost. Nobody sees why, unless it is said at the start.
"""

from __future__ import annotations

from pathlib import Path

from django.conf import settings

from jobs.models import Cluster

from . import ports

NAME = "address"


def address(host: str, port: int) -> str:
    """Where agents find a portal that listens there."""
    return settings.AGENT_URL or ports.url(ports.reachable(host), port)


def moved(folder: Path, now: str) -> str:
    """Keep `now`; says what is wrong if clusters that are up look for another address."""
    file = folder / NAME
    then = file.read_text().strip() if file.exists() else now
    file.write_text(now)
    count = Cluster.objects.filter(released__isnull=True).count() if then != now else 0
    if not count:
        return ""
    who = "1 cluster looks for its" if count == 1 else f"{count} clusters look for their"
    return f"{who} portal at {then}, but it is at {now} now: start it there again, or they are given up as lost"
