"""After a few failed sign-ins a name rests for a while, so that nobody guesses a password.

One idea: a try is written down before its password is looked at and taken back when it was right; so a hundred tries at
the same moment are counted like a hundred in a row. Counted in the database: every web process sees the same.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q

from .models import SignInTry

WINDOW = timedelta(minutes=5)
LIMIT = 5
"""Tries at one name from one address."""
NAME_LIMIT, ADDRESS_LIMIT = 50, 100
"""Tries at one name from anywhere; from one address at any name."""


@dataclass(frozen=True)
class Try:
    """A try that was written down. `until` is set if it comes too soon and must not be looked at; `left` counts those after it."""

    pk: int | None
    left: int = 0
    until: datetime | None = None


def begin(name: str, address: str | None, now: datetime) -> Try:
    """Write a try down. Give the answer to `forgive` if the password was right."""
    SignInTry.objects.filter(at__lt=now - WINDOW).delete()
    row = SignInTry.objects.create(name=_plain(name), address=address, at=now)
    before = SignInTry.objects.filter(pk__lt=row.pk)
    until = [_until(before.filter(who), limit) for who, limit in _counted(row)]
    rests = [moment for moment in until if moment]
    if rests:
        row.delete()
        return Try(None, 0, max(rests))
    return Try(row.pk, LIMIT - 1 - before.filter(name=row.name, address=address).count())


def forgive(name: str, address: str | None) -> None:
    """The password was right: start counting afresh for this name from this address."""
    SignInTry.objects.filter(name=_plain(name), address=address).delete()


def _counted(row: SignInTry) -> list[tuple[Q, int]]:
    name, address = Q(name=row.name), Q(address=row.address)
    return [(name & address, LIMIT), (name, NAME_LIMIT), (address, ADDRESS_LIMIT)]


def _until(tries: object, limit: int) -> datetime | None:
    """When the oldest of the last `limit` tries is forgotten; None while there were fewer."""
    moments = list(tries.order_by("-pk").values_list("at", flat=True)[:limit])  # type: ignore[attr-defined]
    return moments[-1] + WINDOW if len(moments) == limit else None


def _plain(name: str) -> str:
    return unicodedata.normalize("NFKC", name).strip().lower()[:150]
