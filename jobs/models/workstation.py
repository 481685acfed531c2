"""A workstation: what a workload is when a person works on it. One-to-one beside the Workload row.

Its home is the job folder of its cluster; between two clusters it is the last whole HomeCopy. The verbs answer with ""
if the wish was taken, else with the reason why not, in words for people.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone

from .. import lifecycle, refusing
from .change import touch
from .event import Event
from .fields import MoneyField
from .workload import Workload
from .workstation_kind import WorkstationKind


class WorkstationQuerySet(models.QuerySet["Workstation"]):
    def visible_to(self, user: Any) -> WorkstationQuerySet:
        return self.filter(workload__in=Workload.objects.visible_to(user))


class Workstation(models.Model):
    workload = models.OneToOneField(Workload, models.CASCADE, primary_key=True, related_name="workstation")
    kind = models.ForeignKey(WorkstationKind, models.PROTECT, related_name="workstations")
    description = models.TextField(blank=True)
    begun = models.DateTimeField(null=True, help_text="Its session was there for the first time")
    # idle: see jobs.idleness
    keep_until = models.DateTimeField(null=True, help_text="Not suspended for being idle before this time")
    stayed = models.DateTimeField(null=True, help_text="Its user said last that it is in use")
    warned = models.PositiveIntegerField(default=0, help_text="Seconds ahead of the last warning that it will be suspended; 0: none")
    warned_at = models.DateTimeField(null=True)
    # long suspended, and the longest life
    end_warned = models.PositiveIntegerField(default=0, help_text="Seconds ahead of the last warning that it will be ended; 0: none")
    end_warned_at = models.DateTimeField(null=True)

    objects = WorkstationQuerySet.as_manager()

    def __str__(self) -> str:
        return self.workload.name

    @property
    def home(self) -> HomeCopy | None:
        """The last whole copy of its home, or None."""
        return self.copies.filter(whole__isnull=False).order_by("-pk").first()

    @property
    def ready(self) -> datetime | None:
        """Since when its session can be connected to; None while it cannot."""
        work = self.workload
        cluster = work.cluster if work.status in (lifecycle.STARTING, lifecycle.ACTIVE) else None
        return cluster.ready if cluster else None

    @property
    def unsaved(self) -> str:
        """Why its home could not be saved when that was wanted last; empty if nothing is in the way."""
        cluster = self.workload.cluster
        return cluster.unsaved if cluster else ""

    @property
    def can_suspend(self) -> str:
        """Why it cannot be suspended now, in words; empty if it can."""
        return refusing.suspend(self.workload.status, self.workload.wish, self.home is not None)

    @property
    def can_resume(self) -> str:
        """Why it cannot be resumed now, in words; empty if it can. Money and capacity are for the queue to see."""
        work = self.workload
        why = refusing.resume(work.status, work.wish, self.home is not None)
        return why or self.kind.refuses(work.owner, work.coretype)

    def access(self, user: Any) -> str:
        """What a person may do with its session: "input", "look" or "" (nothing)."""
        if user == self.workload.owner:
            return "input" if user.is_active else ""
        return "look" if self.workload.may_change(user) else ""

    # --- verbs --------------------------------------------------------------------------------------------------------
    @classmethod
    def make(cls, owner: Any, kind: WorkstationKind, coretype: Any, **fields: Any) -> Workstation:
        """A draft; `.workload.submit(by)` starts it. Further fields: name, cores (all of a node), project, description."""
        description = fields.pop("description", "")
        asked = {"name": str(kind), "cores": coretype.cores, "walltime": coretype.walltime_max, **fields}
        with transaction.atomic():
            work = Workload.objects.create(kind=Workload.Kind.WORKSTATION, owner=owner, coretype=coretype, nodes=1, **asked)
            return cls.objects.create(workload=work, kind=kind, description=description)

    def suspend(self, by: Any, now: datetime | None = None) -> str:
        """Save the home, end the session, hand the cluster back. Of a resume that waits or starts: back to Suspended."""
        self.workload.refresh_from_db()
        return self.can_suspend or self._answer(self.workload.suspend(by, now))

    def resume(self, by: Any, now: datetime | None = None) -> str:
        """Back into the queue, for a new cluster with the home as it was saved."""
        self.workload.refresh_from_db()
        why = self.can_resume or self._answer(self.workload.resume(by, now))
        if not why:  # what was warned of while it was suspended says nothing about the time after
            Workstation.objects.filter(pk=self.pk).update(end_warned=0, end_warned_at=None, keep_until=None, stayed=None)
        return why

    def stop(self, by: Any, force: bool = False, now: datetime | None = None) -> str:
        """End it for good; the home is saved before, unless it is forced. A suspended one ends without being resumed."""
        self.workload.refresh_from_db()
        why = refusing.stop(self.workload.status, self.workload.wish, force)
        return why or self._answer(self.workload.stop(by, force, now))

    def keep(self, by: Any, until: datetime | None, now: datetime | None = None) -> str:
        """Not suspended for being idle before `until`, within the limit of its kind; None takes that back."""
        now = now or timezone.now()
        self.workload.refresh_from_db()
        why = refusing.keep(self.workload.status, until, now, timedelta(seconds=self.kind.keep_limit))
        if not why:
            self._note(by, now, "keep" if until else "keep-no-more", until.isoformat() if until else "", keep_until=until)
        return why

    def stay(self, by: Any, now: datetime | None = None) -> str:
        """Its user says that it is in use: the time without work begins anew."""
        self.workload.refresh_from_db()
        if self.workload.status != lifecycle.ACTIVE:
            return "It is not active."
        self._note(by, now or timezone.now(), "stay", "", stayed=now or timezone.now())
        return ""

    def share(self, by: Any, expires: datetime, signed_in: bool = True, now: datetime | None = None) -> str:
        """A new link for looking only; its token, which is told this once."""
        token = secrets.token_urlsafe(24)
        made = {"made_by": by, "made": now or timezone.now(), "expires": expires, "signed_in": signed_in}
        Share.objects.create(workstation=self, token_hash=Share.hash_of(token), **made)
        return token

    def copy_to(self, workload: Workload) -> Workstation:
        """The same asked for again, with a home of its own."""
        return Workstation.objects.create(workload=workload, kind=self.kind, description=self.description)

    def _answer(self, done: bool) -> str:
        return "" if done else "Something else happened to it just now; look at its page."

    def _note(self, by: Any, now: datetime, reason: str, detail: str, **fields: Any) -> None:
        """Columns that a person changed, with the event; what was warned of begins anew."""
        work = self.workload
        with transaction.atomic():
            Workstation.objects.filter(pk=self.pk).update(**fields, warned=0, warned_at=None)
            Event.beside(work, now, "user", reason, detail, by).save()
            touch([work.pk], now)
        self.refresh_from_db()


class HomeCopy(models.Model):
    """A copy of the home in file storage: a tar with its sha256. `whole` None: still arriving, or it never arrived."""

    class Why(models.TextChoices):
        PERIODIC = "periodic", "Every now and then"
        SUSPEND = "suspend", "At suspend"
        STOP = "stop", "At stop"

    workstation = models.ForeignKey(Workstation, models.CASCADE, related_name="copies")
    code = models.CharField(max_length=32, help_text="Made by the agent")
    attempt = models.PositiveIntegerField()
    why = models.CharField(max_length=12, choices=Why)
    size = models.BigIntegerField(default=0, help_text="Bytes; of one that still arrives the most that it can have")
    files = models.PositiveBigIntegerField(default=0)
    changed = models.PositiveBigIntegerField(default=0, help_text="Files that changed while they were read")
    unread = models.PositiveBigIntegerField(default=0, help_text="Files that are not in it because their disk failed")
    sha256 = models.CharField(max_length=64, blank=True)
    key = models.CharField(max_length=255, blank=True)
    skipped = models.JSONField(default=list, help_text="What is not in it: pairs of path and reason")
    made = models.DateTimeField()
    whole = models.DateTimeField(null=True)

    class Meta:
        verbose_name, verbose_name_plural = "copy of a home", "copies of homes"
        ordering = ["-pk"]
        constraints = [models.UniqueConstraint(fields=["workstation", "code"], name="one_copy_a_code")]

    def __str__(self) -> str:
        return self.code


class Share(models.Model):
    """A link by which others look at a session, never touch it. The token itself is kept nowhere, only its hash."""

    workstation = models.ForeignKey(Workstation, models.CASCADE, related_name="shares")
    token_hash = models.CharField(max_length=64, unique=True)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    made = models.DateTimeField()
    expires = models.DateTimeField()
    revoked = models.DateTimeField(null=True)
    signed_in = models.BooleanField(default=True, help_text="Only for people who are signed in")

    class Meta:
        ordering = ["-pk"]

    @staticmethod
    def hash_of(token: str) -> str:
        return hashlib.sha256(token.encode()).hexdigest()

    @classmethod
    def valid(cls, now: datetime) -> models.QuerySet[Share]:
        """Those that still open something: neither expired nor revoked, and their maker may still see the session."""
        return cls.objects.filter(expires__gt=now, revoked__isnull=True, made_by__is_active=True)

    @classmethod
    def of(cls, token: str, now: datetime) -> Share | None:
        """The share of a link, if it is valid."""
        found = cls.valid(now).filter(token_hash=cls.hash_of(token)).select_related("workstation__workload", "made_by").first()
        return found if found and found.workstation.access(found.made_by) else None

    def revoke(self, by: Any, now: datetime | None = None) -> None:
        Share.objects.filter(pk=self.pk, revoked__isnull=True).update(revoked=now or timezone.now())


class DiskUse(models.Model):
    """The home of a suspended workstation on disk, paid by the second from the confirmed release on; see jobs.money.disks."""

    workload = models.ForeignKey(Workload, models.CASCADE, related_name="disk_uses")
    attempt = models.PositiveIntegerField(help_text="The one whose release began it")
    size = models.BigIntegerField(help_text="Bytes")
    price = MoneyField(help_text="Per GiB and hour, noted when it began")
    start = models.DateTimeField()
    charged_until = models.DateTimeField(null=True)
    settled = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workload", "attempt"], name="one_disk_use_an_attempt")]
        indexes = [models.Index(fields=["workload"], condition=Q(settled__isnull=True), name="disk_use_open")]


class WorkNotice(models.Model):
    """What its owner is told by mail about a workload; its page says the same. `mailed` None: not sent yet."""

    workload = models.ForeignKey(Workload, models.CASCADE, related_name="notices")
    at = models.DateTimeField()
    subject = models.CharField(max_length=200)
    text = models.TextField()
    mailed = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["at"], condition=Q(mailed__isnull=True), name="work_notice_waiting")]
