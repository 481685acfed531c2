"""The facts behind the pages of one job, each looked up once and only when a page asks for it.

One idea: this is the only place where the pages meet the domain's functions (costs, gates, stage times, outputs, logs);
presenters take a Facts and compute words from it, so they can be tried with any facts.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from django.core.cache import cache
from django.utils import timezone

from jobs import history, ledger, lifecycle, logs, offering, outputs, scheduling
from jobs.lifecycle import Wish
from jobs.models import Check, Choice, Cluster, Event, Job, JobInput, Node, Workload

KEPT = 30
"""Seconds for which usual times are kept."""
SHORTLY = 10
"""Seconds for which it is kept who stands before a job."""
SILENT = 30
"""Seconds without a report after which a node is shown as not heard."""


class Facts:
    """One job as it stands at `now`. Everything is looked up on first use."""

    def __init__(self, workload: Workload, now: datetime | None = None) -> None:
        self.work = workload
        self.now = now or timezone.now()

    # --- rows ---------------------------------------------------------------------------------------------------------
    @cached_property
    def job(self) -> Job:
        return self.work.job

    @cached_property
    def cluster(self) -> Cluster | None:
        """The hardware of the current attempt, if it was asked for."""
        return next((cluster for cluster in self.work.clusters.all() if cluster.attempt == self.work.attempt), None)

    @cached_property
    def nodes(self) -> list[Node]:
        return list(self.cluster.nodes.all()) if self.cluster else []

    @cached_property
    def inputs(self) -> list[JobInput]:
        return list(self.job.inputs.select_related("file"))

    @cached_property
    def input_bytes(self) -> int:
        return sum(use.file.size for use in self.inputs)

    @cached_property
    def events(self) -> list[Event]:
        return list(self.work.events.select_related("by"))

    @cached_property
    def choices(self) -> list[Choice]:
        """Hardware that it may have, in order; empty if it named only one."""
        return list(self.work.choices.select_related("coretype"))

    @property
    def taken(self) -> str:
        """Which of its choices this attempt got, and why not one before it; empty if it had no choice."""
        moves = self.events if self.choices else []
        start = next((one for one in moves if one.after == lifecycle.VALIDATING and one.attempt == self.work.attempt), None)
        return start.detail if start else ""

    @cached_property
    def check(self) -> Check | None:
        return self.job.checked

    # --- what the domain computes -------------------------------------------------------------------------------------
    @cached_property
    def times(self) -> dict[str, history.StageTime]:
        """Begin and end of each status of this attempt, by code."""
        return {time.code: time for time in history.stage_times(self.work)} if self.work.submitted else {}

    @cached_property
    def cost(self) -> ledger.Cost:
        return ledger.cost(self.work, self.now)

    @cached_property
    def budgets(self) -> list[Any]:
        return ledger.budgets_for(self.work.owner, self.work.project)

    @cached_property
    def gates(self) -> list[scheduling.Gate]:
        return scheduling.gates(self.work, self.now) if self.work.status == lifecycle.QUEUED else []

    @cached_property
    def holding(self) -> scheduling.Gate | None:
        return scheduling.holding(self.work) if self.work.status == lifecycle.QUEUED else None

    def offers(self, user: Any) -> list[scheduling.Offer]:
        """What would start it now, for those who may change it."""
        return offering.offers(self.work, self.now) if self.work.status == lifecycle.QUEUED and self.work.may_change(user) else []

    @cached_property
    def expected_start(self) -> tuple[datetime | None, datetime | None]:
        """Asked once in KEPT seconds for what it waits for."""
        if self.work.status != lifecycle.QUEUED:
            return None, None
        key = f"start:{self.work.pk}:{self.work.attempt}:{self.work.gate}"
        return cache.get_or_set(key, lambda: scheduling.expected_start(self.work, self.now), KEPT)

    @cached_property
    def ahead(self) -> scheduling.Ahead | None:
        """Asked once in SHORTLY seconds for what it waits for."""
        if self.work.status != lifecycle.QUEUED:
            return None
        key = f"ahead:{self.work.pk}:{self.work.attempt}:{self.work.gate}"
        return cache.get_or_set(key, lambda: scheduling.ahead(self.work, self.now), SHORTLY)

    def usual(self, code: str) -> tuple[float, float] | None:
        """Seconds that this stage took in 8 of 10 past cases on this coretype; asked once in KEPT seconds."""
        return cache.get_or_set(f"usual:{self.work.coretype_id}:{code}", lambda: history.usual(self.work.coretype_id, code), KEPT)

    @cached_property
    def manifest(self) -> outputs.Manifest:
        return outputs.manifest(self.work.public_id, self.work.attempt)

    @property
    def progress(self) -> dict[str, Any]:
        """How far this attempt is, as its own output tells: text, percent, alarm; see jobs.following."""
        said: dict[str, Any] = self.job.progress
        return said if said.get("attempt") == self.work.attempt else {}

    # --- files beside the database ------------------------------------------------------------------------------------
    @cached_property
    def logs_dir(self) -> Path:
        return logs.attempt_dir(self.work.public_id, self.work.attempt)

    @cached_property
    def listing(self) -> dict[str, Any]:
        """The job folder as the head node last told."""
        return logs.listing(self.logs_dir)

    @cached_property
    def last_line(self) -> datetime | None:
        """When stdout last grew."""
        try:
            info = logs.path_of(self.logs_dir, "stdout").stat()
        except OSError:
            return None
        return datetime.fromtimestamp(info.st_mtime, UTC)

    @cached_property
    def heard(self) -> dict[int, datetime]:
        return {node: datetime.fromtimestamp(at, UTC) for node, at in logs.last_heard(self.logs_dir).items()}

    def tail(self, count: int) -> list[str]:
        """The last lines of stdout as text; whatever bytes they were."""
        try:
            data = logs.tail_lines(logs.path_of(self.logs_dir, "stdout"), count)
        except OSError:
            return []
        return data.decode("utf-8", "replace").replace("\0", "\u2400").splitlines()

    # --- small answers ------------------------------------------------------------------------------------------------
    @property
    def is_over(self) -> bool:
        return self.work.status in lifecycle.REST_CODES

    @property
    def wants_stop(self) -> bool:
        return self.work.wish in (Wish.STOP, Wish.FORCE_STOP)

    @property
    def silent(self) -> list[int]:
        """Nodes that should report and were not heard for SILENT seconds."""
        if not self.cluster or self.cluster.releasing or self.cluster.released:
            return []
        return [node for node, at in self.heard.items() if (self.now - at).total_seconds() > SILENT]

    @property
    def ran(self) -> tuple[datetime, datetime | None] | None:
        """When the command started and ended."""
        if not self.cluster or not self.cluster.started:
            return None
        return self.cluster.started, self.cluster.exited
