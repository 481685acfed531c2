"""How Headrace stands: what `manage.py status` and /health/ say.

One idea: it is healthy if somebody sweeps. A sweep passes beat, broker, worker and database, so its age speaks for all
of them; the processes that `up` started are looked at as well where there are any.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from decimal import Decimal
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import DatabaseError
from django.db.models import Count, Sum

from jobs import lifecycle
from jobs.models import Cluster, Hold, Stray, Turn, Workload
from portal.launch import folders, record

SWEEP_LIMIT = 30.0
"""Seconds without a sweep after which something is wrong."""


@dataclass(frozen=True)
class Standing:
    healthy: bool
    reasons: list[str]
    version: str
    processes: list[dict[str, Any]]
    sweep_age: float | None
    """Seconds; None if there was none yet."""
    workloads: dict[str, int]
    clusters_up: int
    unknown_machines: int
    holds: str
    """Decimal as text: what is reserved now, in money and core-hours budgets together."""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def brief(now: datetime) -> dict[str, Any]:
    """What anybody may know; two small queries. Raises nothing: a dead database is an answer too."""
    try:
        age = sweep_age(now)
        active = Workload.objects.active().count()
    except DatabaseError:
        return {"healthy": False, "version": release(), "reasons": ["the database does not answer"]}
    reasons = _about_sweep(age)
    return {"healthy": not reasons, "version": release(), "reasons": reasons, "sweep_age": age, "active": active}


def standing(now: datetime, data: Path) -> Standing:
    """Everything. Raises DatabaseError."""
    age = sweep_age(now)
    found = record.read(folders.run(data))
    reasons = _about_processes(found) + _about_sweep(age)
    return Standing(
        healthy=not reasons, reasons=reasons, version=release(), processes=_processes(found or []), sweep_age=age,
        workloads=by_status(), clusters_up=Cluster.objects.filter(up__isnull=False, released__isnull=True).count(),
        unknown_machines=Stray.waiting(), holds=f"{_held():f}",
    )


def sweep_age(now: datetime) -> float | None:
    last = Turn.objects.filter(name="sweep").values_list("last", flat=True).first()
    return None if last is None else max(0.0, round((now - last).total_seconds(), 1))


def by_status() -> dict[str, int]:
    """Number of workloads of each status that has any, by its label in lower case ("running job")."""
    labels = dict(lifecycle.CHOICES)
    rows = Workload.objects.order_by().values_list("status").annotate(Count("pk"))
    return {labels[code].lower(): count for code, count in sorted(rows, key=lambda row: list(labels).index(row[0]))}


def release() -> str:
    """The version of Headrace: of the package, or of the source tree that it runs from."""
    try:
        return version("headrace")
    except PackageNotFoundError:
        lines = (settings.BASE_DIR / "pyproject.toml").read_text(encoding="utf-8").splitlines()
        return next((line.split('"')[1] for line in lines if line.startswith("version = ")), "unknown")


def _held() -> Decimal:
    return Hold.objects.filter(released__isnull=True).aggregate(sum=Sum("amount"))["sum"] or Decimal(0)


def _about_sweep(age: float | None) -> list[str]:
    if age is None:
        return ["nobody has looked after the workloads yet"]
    return [f"nobody has looked after the workloads for {age:.0f} s"] if age > SWEEP_LIMIT else []


def _about_processes(found: list[record.Entry] | None) -> list[str]:
    if found is None:
        return [] if settings.PRODUCTION else ["it is not running; start it with `manage.py up`"]
    dead = [entry.name for entry in found if not record.alive(entry)]
    if "up" in dead:
        return ["`up` is dead; start it again"]
    return [f"{name} is dead" for name in dead]


def _processes(found: list[record.Entry]) -> list[dict[str, Any]]:
    return [{"name": entry.name, "pid": entry.pid, "since": _iso(entry.since)} for entry in found if record.alive(entry)]


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
