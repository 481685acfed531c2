"""The facts behind the pages of one workstation, each looked up once and only when a page asks for it.

What it has in common with a job (cluster, nodes, stage times, gates, cost) is asked for in the same words, so the shared
presenters (stages, timeline, health) take either.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from jobs import idleness, lifecycle, logs, tokens
from jobs.models import HomeCopy, Share, Workstation, WorkstationKind
from portal import relay

from ..facts import Facts

SOON = timedelta(minutes=5)
"""Idle for so long is worth a word, even if the suspend is far away."""


class WorkstationFacts(Facts):
    """One workstation as it stands at `now`."""

    @cached_property
    def station(self) -> Workstation:
        return self.work.workstation

    @property
    def kind(self) -> WorkstationKind:
        return self.station.kind

    @cached_property
    def name(self) -> str:
        """Its name in the relay's addresses; stays over suspend and resume."""
        return relay.name_of(tokens.token_of(self.work))

    @cached_property
    def copies(self) -> list[HomeCopy]:
        """Whole copies of its home, newest first."""
        return [copy for copy in self.station.copies.all() if copy.whole]

    @cached_property
    def home(self) -> HomeCopy | None:
        return self.copies[0] if self.copies else None

    @cached_property
    def ready(self) -> datetime | None:
        """Since when its session can be connected to."""
        lives = self.work.status in (lifecycle.STARTING, lifecycle.ACTIVE)
        return self.cluster.ready if self.cluster and lives else None

    @cached_property
    def unsaved(self) -> str:
        """Why its home could not be saved when that was wanted last."""
        return self.cluster.unsaved if self.cluster and not self.cluster.released else ""

    @cached_property
    def verdict(self) -> idleness.Verdict | None:
        return idleness.verdict(self.station, self.now) if self.work.status == lifecycle.ACTIVE else None

    @cached_property
    def evidence(self) -> list[idleness.Evidence]:
        return idleness.evidence(self.station, self.now) if self.work.status == lifecycle.ACTIVE else []

    @property
    def kept_until(self) -> datetime | None:
        """Until when somebody keeps it on; None if nobody does any more."""
        until = self.station.keep_until
        return until if until and until > self.now else None

    @property
    def idle_since(self) -> datetime | None:
        """Since when it counts as idle, once that is worth a word: for a while, or with the suspend near."""
        said = self.verdict
        if said is None or said.suspends_at is None or self.wants_rest:
            return None
        warned = timedelta(seconds=max(self.kind.idle_warnings or [0]))
        long, near = self.now - said.idle_since >= SOON, said.suspends_at - self.now <= warned
        return said.idle_since if (long or near) and self.now - said.idle_since >= idleness.QUIET else None

    @property
    def wants_rest(self) -> bool:
        """Somebody asked for a suspend or an end."""
        return self.work.wish != lifecycle.Wish.RUN

    @cached_property
    def viewers(self) -> list[dict[str, str]]:
        return relay.viewers(self.work.public_id, self.work.attempt) if self.ready else []

    @cached_property
    def shares(self) -> list[Share]:
        """Links that still open something."""
        return list(Share.valid(self.now).filter(workstation=self.station).select_related("made_by"))

    def beats(self, seconds: float, most: int = 90) -> list[dict[str, Any]]:
        """What its node told in the last so many seconds, thinned out."""
        return logs.beats(self.logs_dir, 0, self.now.timestamp() - seconds, most)
