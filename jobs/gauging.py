"""Asks the backends what they have. The queue asks at its turn, the poll writes the answers down for the pages.

One idea: what could not be asked is never written as nothing: the last figures stay, with their age and the reason.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable, Mapping
from datetime import datetime

from . import backends
from .capacity import Figures
from .models import Coretype, PoolState
from .signals import announce

log = logging.getLogger(__name__)

KEPT = 2.0
"""Seconds that an answer is used for."""
REFRESHED = 10.0
"""Seconds after which figures that did not change are written again, so that their age stays true."""

_snapshots: dict[str, tuple[float, dict[str, Figures]]] = {}
_lock = threading.Lock()


def snapshot(names: Iterable[str]) -> dict[str, dict[str, Figures]]:
    """Figures by backend and coretype code, at most KEPT seconds old. Calls the backends: never in a transaction.

    A backend that raises is one that could not be asked: it has no figures.
    """
    return {name: _ask(name)[0] for name in set(names)}


def forget() -> None:
    """Drop what is kept (tests, and after something was released)."""
    with _lock:
        _snapshots.clear()


def write(now: datetime) -> int:
    """Ask every backend that has a coretype and write its pools down; how many rows changed."""
    names = set(Coretype.objects.values_list("backend", flat=True))
    rows: dict[str, dict[str, PoolState]] = {name: {} for name in names}
    for row in PoolState.objects.all():
        rows.setdefault(row.backend, {})[row.code] = row
    changed = sum(_write(name, rows[name], now) for name in sorted(names))
    gone = [row.pk for name, some in rows.items() if name not in names for row in some.values()]
    if gone:
        PoolState.objects.filter(pk__in=gone).delete()
    if changed:
        announce("hardware")
    return changed


# --- private ----------------------------------------------------------------------------------------------------------
def _ask(name: str) -> tuple[dict[str, Figures], str]:
    """Its figures and, where there are none, why."""
    moment = time.monotonic()
    with _lock:
        kept = _snapshots.get(name)
    if kept and moment - kept[0] < KEPT:
        return kept[1], ""
    try:
        told = {code: _figures(one) for code, one in backends.get(name).capacity().items()}
    except (backends.TryAgain, backends.Refused) as error:
        log.warning("backend %s does not say what it has: %s", name, error)
        return {}, str(error)
    with _lock:
        _snapshots[name] = (moment, told)
    return told, ""


def _figures(one: backends.Capacity) -> Figures:
    return Figures(one.total, one.queues_itself, one.limit)


def _write(name: str, rows: Mapping[str, PoolState], now: datetime) -> int:
    told, why = _ask(name)
    if not told:
        return _silent(name, rows or {"": PoolState(backend=name, asked=now)}, why or "it does not answer", now)
    gone = [row.pk for code, row in rows.items() if code not in told]
    if gone:
        PoolState.objects.filter(pk__in=gone).delete()
    changed = 0
    for code, figures in told.items():
        row = rows.get(code) or PoolState(backend=name, code=code, asked=now)
        if figures.total is None and not figures.queues_itself:
            changed += _silent(name, {code: row}, "it does not answer", now)
        else:
            changed += _told(row, figures, now)
    return changed


def _silent(name: str, rows: Mapping[str, PoolState], why: str, now: datetime) -> int:
    """No answer: what was told last stays."""
    new = [row for row in rows.values() if row.pk is None or row.trouble != why[:300]]
    for row in rows.values():
        row.asked, row.trouble = now, why[:300]
        _put(row)
    return len(new)


def _told(row: PoolState, figures: Figures, now: datetime) -> int:
    after = (figures.total, figures.queues_itself, figures.limit, "")
    same = row.pk is not None and after == (row.total, row.queues_itself, row.limit, row.trouble)
    if same and row.at is not None and (now - row.at).total_seconds() < REFRESHED:
        return 0
    row.total, row.queues_itself, row.limit, row.trouble = after
    row.at = row.asked = now
    _put(row)
    return 0 if same else 1


def _put(row: PoolState) -> None:
    """By backend and code, so that two polls at once make one row."""
    values = {name: getattr(row, name) for name in ("total", "queues_itself", "limit", "at", "asked", "trouble")}
    PoolState.objects.update_or_create(backend=row.backend, code=row.code, defaults=values)
