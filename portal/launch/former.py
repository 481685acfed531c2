"""Where former runs of `up` were for their agents.

One idea: agents on other machines look for their portal at the address that they were started with (those on this one read
a file), so a new address while such clusters are up leaves them alone until they are given up as lost. Nobody sees why,
unless it is said at the start. A line is kept for
every change of address, with its time; a cluster looks where the portal was when it was asked for.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from pathlib import Path

from django.conf import settings

from jobs.models import Cluster

from . import ports

NAME = "addresses"
KEPT = 20
"""Changes of address; what is older no cluster remembers."""


def address(host: str, port: int) -> str:
    """Where agents find a portal that listens there."""
    return settings.AGENT_URL or ports.url(ports.reachable(host), port)


def moved(folder: Path, here: str, now: datetime) -> str:
    """Note that the portal is `here` from `now` on; says what is wrong if clusters that are up look elsewhere."""
    file = folder / NAME
    known = _read(file)
    asked = Cluster.objects.filter(released__isnull=True).exclude(backend="local").values_list("asked", flat=True)
    elsewhere = Counter(then for moment in asked if (then := _at(known, moment, here)) != here)
    if not known or known[-1][1] != here:
        known.append((now, here))
        file.write_text("".join(f"{moment.isoformat()} {there}\n" for moment, there in known[-KEPT:]))
    return "; ".join(_words(then, count, here) for then, count in elsewhere.items())


def _read(file: Path) -> list[tuple[datetime, str]]:
    lines = file.read_text().splitlines() if file.exists() else []
    return [(datetime.fromisoformat(moment), there) for moment, _, there in (line.partition(" ") for line in lines)]


def _at(known: list[tuple[datetime, str]], moment: datetime, here: str) -> str:
    return next((there for since, there in reversed(known) if since <= moment), known[0][1] if known else here)


def _words(then: str, count: int, here: str) -> str:
    who = "1 cluster looks for its" if count == 1 else f"{count} clusters look for their"
    return f"{who} portal at {then}, but it is at {here} now: start it there again, or they are given up as lost"
