"""What a user starts: a job or a workstation. One row holds where it stands, what is wished, and who works on it.

`advance` (change.py) is the only writer of `status`; `wish` is written by people only, through the verbs below.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import models, transaction
from django.db.models import F, Q
from django.utils import timezone

from .. import lifecycle
from ..lifecycle import Wish
from ..signals import announce
from .change import Change, advance, touch
from .choice import Choice
from .event import Event
from .installation import public_id
from .project import Membership
from .roles import sees_all
from .searching import ids_of_names_like


def projects_of(user: Any) -> list[int]:
    """Ids, as numbers and not as a subquery: so the database knows how many rows to expect and takes its indexes."""
    return list(Membership.objects.filter(user=user).values_list("project", flat=True))


class WorkloadQuerySet(models.QuerySet["Workload"]):
    def visible_to(self, user: Any) -> WorkloadQuerySet:
        """Own work, that of one's projects, everything for admins and auditors, nothing for strangers."""
        if not user.is_authenticated:
            return self.none()
        if sees_all(user):
            return self
        return self.filter(Q(owner=user) | Q(project__in=projects_of(user)))

    def named(self, text: str, user: Any) -> WorkloadQuerySet:
        """Those that `user` may see with `text` in their name, in any case, or with that public id."""
        among = {} if sees_all(user) else {"owner": user.pk, "projects": projects_of(user)}
        found = ids_of_names_like(text, **among)
        if found is None:
            return self.filter(Q(name__icontains=text) | Q(public_id__iexact=text))
        found += Workload.objects.filter(public_id=text).values_list("pk", flat=True)
        return self.filter(pk__any_of=found)

    def active(self) -> WorkloadQuerySet:
        return self.filter(status__in=lifecycle.ACTIVE_CODES)


class Workload(models.Model):
    class Kind(models.TextChoices):
        JOB = "job", "Job"
        WORKSTATION = "workstation", "Workstation"

    public_id = models.CharField(max_length=8, default=public_id)
    kind = models.CharField(max_length=12, choices=Kind, default=Kind.JOB)
    name = models.CharField(max_length=200)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="workloads", db_index=False)
    project = models.ForeignKey("jobs.Project", models.PROTECT, null=True, related_name="workloads", db_index=False)
    coretype = models.ForeignKey("jobs.Coretype", models.PROTECT, related_name="workloads")
    nodes = models.PositiveIntegerField(default=1)
    cores = models.PositiveIntegerField(default=1, help_text="A node")
    walltime = models.PositiveIntegerField(help_text="Seconds")
    priority = models.IntegerField(default=0)
    latest_start = models.DateTimeField(null=True)
    economy = models.BooleanField(default=False, help_text="Cheaper; may be interrupted for work on demand and starts again")
    restarts = models.PositiveIntegerField(default=0, help_text="Times that it was interrupted")
    # where it stands: written by advance() only
    status = models.CharField(max_length=12, choices=lifecycle.CHOICES, default=lifecycle.DRAFT)
    since = models.DateTimeField(default=timezone.now, help_text="In this status since")
    attempt = models.PositiveIntegerField(default=1)
    tries = models.PositiveIntegerField(default=0, help_text="Attempts that broke through no fault of the job")
    outcome = models.CharField(max_length=12, blank=True)
    reason = models.CharField(max_length=24, blank=True, choices=lifecycle.REASON_CHOICES)
    detail = models.TextField(blank=True, help_text="The evidence behind the reason, for people")
    failed_stage = models.CharField(max_length=20, blank=True, help_text="Status code of the stage with the red X")
    again = models.CharField(max_length=12, blank=True, help_text="After the teardown back to Queued: counted, or uncounted")
    not_before = models.DateTimeField(null=True, help_text="Not tried again before this time")
    gate = models.CharField(max_length=12, blank=True, help_text="What a queued one waits for, as the queue saw it last")
    gate_text = models.CharField(max_length=300, blank=True)
    gate_more = models.CharField(max_length=300, blank=True)
    gate_since = models.DateTimeField(null=True)
    gate_else = models.JSONField(default=list, help_text="Why its other choices of hardware do not start either: name, code, sentence")
    choice = models.PositiveSmallIntegerField(default=0, help_text="Place of the hardware that it took, if it has choices")
    made = models.DateTimeField(default=timezone.now)
    submitted = models.DateTimeField(null=True)
    ended = models.DateTimeField(null=True)
    # what is wished: written by people
    wish = models.CharField(max_length=12, choices=[(wish.value, wish.value) for wish in Wish], default=Wish.RUN)
    wished_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+", db_index=False)
    wished_at = models.DateTimeField(null=True)
    # who works on it: written by the engine
    due = models.DateTimeField(null=True, help_text="Look again at this time; the retry")
    lease = models.CharField(max_length=32, blank=True)
    leased_until = models.DateTimeField(null=True)
    flagged = models.TextField(blank=True, help_text="A bug met this row; a person should look")
    version = models.PositiveBigIntegerField(default=1)
    archived = models.BooleanField(default=False)
    submit_key = models.CharField(max_length=80, blank=True, help_text="Two submits with one key are one")

    objects = WorkloadQuerySet.as_manager()
    acceptable: Sequence[Choice] = ()
    """Its choices of hardware, if it names several, where somebody attaches them."""

    class Meta:  # a row is written a dozen times in its life, each time into every index: none that another one includes
        indexes = [
            models.Index(fields=["due"], condition=Q(status__in=lifecycle.ACTIVE_CODES), name="workload_due"),
            models.Index(fields=["owner", "-id"]),
            models.Index(fields=["project", "-id"]),
            models.Index(fields=["status", "-id"], include=["owner", "project", "archived", "kind"], name="workload_by_status"),
            models.Index(fields=["wished_by"], condition=Q(wished_by__isnull=False), name="workload_wished_by"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["public_id"], name="workload_public_id"),
            models.UniqueConstraint(fields=["owner", "submit_key"], condition=~Q(submit_key=""), name="one_workload_a_submit_key"),
        ]

    def __str__(self) -> str:
        return self.name

    # --- reading ------------------------------------------------------------------------------------------------------
    @property
    def table(self) -> lifecycle.Lifecycle:
        return lifecycle.TABLES[self.kind]

    @property
    def row(self) -> lifecycle.Status:
        return self.table[self.status]

    @property
    def is_active(self) -> bool:
        return self.status in lifecycle.ACTIVE_CODES

    @property
    def total_cores(self) -> int:
        return self.nodes * self.cores

    @property
    def asked(self) -> datetime:
        """Its place in line counts from then."""
        return self.submitted or self.made

    @property
    def price(self) -> Decimal:
        """Per core and hour, as the coretype has it today."""
        return self.coretype.price_of(self.economy)

    @property
    def ending(self) -> lifecycle.Reason | None:
        if self.status in (lifecycle.SUSPENDING, lifecycle.SUSPENDED):
            return None  # its reason says why it was suspended
        return lifecycle.ENDINGS.get(self.reason)

    @property
    def topic(self) -> str:
        return f"{self.kind}:{self.public_id}"

    def may_change(self, user: Any) -> bool:
        """Owner, lead of its project, admin: they may stop, archive and delete it. Other members look."""
        if user == self.owner or user.is_superuser or user.is_staff:
            return True
        return self.project_id is not None and self.project.memberships.filter(user=user, role="lead").exists()

    @property
    def cluster(self) -> Any:
        """The cluster of this attempt, or None."""
        return self.clusters.filter(attempt=self.attempt).first()

    # --- verbs: what people do ----------------------------------------------------------------------------------------
    def submit(self, by: Any, now: datetime | None = None) -> bool:
        """Draft to Queued. True if this call did it; a second submit changes nothing."""
        now = now or timezone.now()
        if self.status != lifecycle.DRAFT:
            return False
        done = advance([Change(self, lifecycle.QUEUED, fields={"submitted": now, "wish": Wish.RUN, "due": now})], now, source="user", by=by)
        return bool(done)

    def stop(self, by: Any, force: bool = False, now: datetime | None = None) -> bool:
        """Ask for the end. True if the wish was taken; False if it is over (or already wished). Works without any worker."""
        wish = Wish.FORCE_STOP if force else Wish.STOP
        weaker = [Wish.RUN, Wish.SUSPEND] + ([Wish.STOP] if force else [])
        return self._wish(wish, weaker, by, now or timezone.now())

    def suspend(self, by: Any, now: datetime | None = None) -> bool:
        """Ask for a suspend; True if the wish was taken. Whether it makes sense is for Workstation.suspend to say."""
        return self._wish(Wish.SUSPEND, [Wish.RUN], by, now or timezone.now())

    def resume(self, by: Any, now: datetime | None = None) -> bool:
        """Suspended to Queued, as a new attempt. True if this call did it. Works without any worker."""
        now = now or timezone.now()
        empty = dict.fromkeys(("reason", "outcome", "detail", "failed_stage", "again", "gate", "gate_text", "gate_more"), "")
        wish = {"wish": Wish.RUN, "wished_by": by, "wished_at": now}
        self.refresh_from_db()
        if self.status != lifecycle.SUSPENDED:
            return False
        fields = {**empty, **wish, "attempt": self.attempt + 1, "tries": 0, "submitted": now, "not_before": None, "gate_since": None}
        fields |= {"lease": "", "leased_until": None}
        return bool(advance([Change(self, lifecycle.QUEUED, reason="resume", fields=fields)], now, source="user", by=by, lease=None))

    def clone(self, by: Any) -> Workload:
        """A new draft that asks for the same."""
        copy = Workload(
            kind=self.kind,
            name=self.name,
            owner=by,
            project=self.project,
            coretype=self.coretype,
            nodes=self.nodes,
            cores=self.cores,
            walltime=self.walltime,
            priority=0,
            economy=self.economy,
        )
        choices = list(self.choices.all())
        for name in ("coretype", "nodes", "cores") if choices else ():
            setattr(copy, name, getattr(choices[0], name))
        with transaction.atomic():
            copy.save()
            copy.accept([(one.coretype, one.nodes, one.cores) for one in choices])
            detail = self.job if self.kind == self.Kind.JOB else self.workstation
            detail.copy_to(copy)
        return copy

    def accept(self, choices: Sequence[tuple[Any, int, int]]) -> None:
        """Hardware that it may have (coretype, nodes, cores), in order; the first is what its own columns say. Fewer than two: none."""
        self.choices.all().delete()
        rows = [Choice(workload=self, place=at, coretype=kind, nodes=nodes, cores=cores) for at, (kind, nodes, cores) in enumerate(choices)]
        Choice.objects.bulk_create(rows if len(rows) > 1 else [])

    def ask_for(self, by: Any, now: datetime | None = None, **fields: Any) -> bool:
        """While it is queued, ask for something else (cores, nodes, coretype_id, project_id, economy, walltime). False if it has left."""
        now = now or timezone.now()
        told = {"gate": "", "gate_text": "", "gate_more": "", "gate_since": None, "gate_else": [], "due": now, "version": F("version") + 1}
        detail = ", ".join(f"{name} {value}" for name, value in fields.items())
        with transaction.atomic():
            if not Workload.objects.filter(pk=self.pk, status=lifecycle.QUEUED, lease="").update(**fields, **told):
                return False
            self.refresh_from_db()
            self.choices.filter(place=0).update(coretype=self.coretype_id, nodes=self.nodes, cores=self.cores)
            Event.beside(self, now, "user", "asks-for-something-else", detail, by).save()
            announce(self.topic, version=self.version, due=True, status=self.status)
        return True

    def archive(self, by: Any, archived: bool = True) -> None:
        """Out of the list, or back in; nothing is deleted."""
        Workload.objects.filter(pk=self.pk).update(archived=archived, version=F("version") + 1)
        self.refresh_from_db()
        announce(self.topic, version=self.version)

    def delete_for_good(self, by: Any) -> None:
        """A job at rest goes, with its events; charges and audit entries stay. Raises ValueError while it is active.

        The bytes (logs, outputs) are the caller's to delete: they lie outside the database.
        """
        with transaction.atomic():
            row = Workload.objects.select_for_update().get(pk=self.pk)
            if row.is_active or row.status == lifecycle.SUSPENDED:
                raise ValueError("stop it first")
            self.holds.all().delete()
            self.clusters.all().delete()
            row.delete()

    def _wish(self, wish: Wish, before: list[Wish], by: Any, now: datetime) -> bool:
        rows = Workload.objects.filter(pk=self.pk, status__in=[*lifecycle.ACTIVE_CODES, lifecycle.SUSPENDED], wish__in=before)
        with transaction.atomic():
            list(self.clusters.filter(attempt=self.attempt).select_for_update().values_list("pk"))  # as the agents do: cluster first
            if not rows.update(wish=wish, wished_by=by, wished_at=now, due=now, version=F("version") + 1):
                return False
            self.refresh_from_db()
            self.clusters.filter(attempt=self.attempt).update(orders=F("orders") + 1, unsaved="", unsaved_at=None)
            Event.beside(self, now, "user", wish, by=by).save()
            announce(self.topic, version=self.version, due=True, status=self.status)
            announce(f"orders:{self.public_id}")
        return True

    def touch(self) -> None:
        """Facts about it have changed: next version, look at once."""
        touch([self.pk])
