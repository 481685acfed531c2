"""What exists once: the installation's own id, and the leases of the periodic turns."""

from __future__ import annotations

import secrets
import string
from datetime import datetime, timedelta
from functools import cache

from django.db import models
from django.db.models import Q

LETTERS = string.ascii_letters


def public_id(length: int = 6) -> str:
    """Six mixed-case letters: what URLs, the API and tokens call a thing."""
    return "".join(secrets.choice(LETTERS) for _ in range(length))


class Unpaid(models.TextChoices):
    """Who may run what no budget pays for."""

    ADMINS = "admins", "Admins only, as soon as there is any budget"
    EVERYBODY = "everybody", "Everybody"


class Installation(models.Model):
    """Made once and kept: its code marks every cluster that belongs to this database."""

    code = models.CharField(max_length=8, unique=True)
    made = models.DateTimeField(auto_now_add=True)
    unpaid = models.CharField(max_length=12, choices=Unpaid, default=Unpaid.ADMINS, help_text="Who may run what no budget pays for")

    @classmethod
    @cache
    def code_of_this(cls) -> str:
        """The code, made at the first call ever; asked for once a process."""
        row = cls.objects.order_by("pk").first() or cls.objects.get_or_create(pk=1, defaults={"code": "hr" + secrets.token_hex(2)})[0]
        return row.code

    @classmethod
    def who_runs_unpaid(cls) -> Unpaid:
        row = cls.objects.order_by("pk").values_list("unpaid", flat=True).first()
        return Unpaid(row) if row else Unpaid.ADMINS

    @classmethod
    def let_run_unpaid(cls, who: Unpaid) -> None:
        code = cls.code_of_this()
        if not cls.objects.update(unpaid=who):
            cls.objects.create(pk=1, code=code, unpaid=who)


class Turn(models.Model):
    """A lease on a periodic turn (sweep, poll, meter, reconcile): two beats harm nothing."""

    name = models.CharField(max_length=40, unique=True)
    until = models.DateTimeField(null=True)
    last = models.DateTimeField(null=True)

    @classmethod
    def take(cls, name: str, now: datetime, seconds: float) -> bool:
        """True for one caller in `seconds`; by compare-and-set."""
        cls.objects.get_or_create(name=name)
        free = cls.objects.filter(name=name).filter(Q(until__isnull=True) | Q(until__lte=now))
        return free.update(until=now + timedelta(seconds=seconds), last=now) == 1

    @classmethod
    def give_back(cls, name: str) -> None:
        cls.objects.filter(name=name).update(until=None)


class Outage(models.Model):
    """A time in which this portal, or its database, was away: nobody turned the crank. Nobody pays for it after the end."""

    start = models.DateTimeField()
    end = models.DateTimeField(db_index=True)

    @classmethod
    def last_end(cls) -> datetime | None:
        """Since when this portal is there without a break, as far as it knows."""
        return cls.objects.order_by("-end").values_list("end", flat=True).first()
