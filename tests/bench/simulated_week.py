"""A simulated week of jobs that the real `decide` starts, for tests/bench/forecasting.py.

No database: deciding and foretelling are pure. 128 cores, a dozen people in four projects, who send studies: a batch of like jobs at once,
again and again. What a run really takes is known to the simulation alone; the forecast sees walltimes, how runs that have ended used
theirs, who came on the days before and, of two thirds of the software, how far its running jobs are by their own output.
"""

from __future__ import annotations

import heapq
import random
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

CORES, WEEK = 128, 7 * 86_400
BEGIN = datetime(2026, 9, 14, tzinfo=UTC).timestamp()
EVERY = 8
"""One in so many is foretold, to have more weeks in the same time."""
WRONG = 0.08
"""So much of what is left a pace may be wrong."""
LEARNT = 7 * 86_400.0
"""Seconds before anything is counted: a portal that has run for a week. Then a quarter of the studies gives way to new ones."""


@dataclass
class Study:
    """Jobs that one person sends again and again."""

    owner: int
    project: int
    software: int
    cores: int
    walltime: float
    share: float
    spread: float
    tells: bool

    def used(self, draw: random.Random) -> float:
        """Seconds that a run takes: about its usual share; one in twenty breaks early."""
        if draw.random() < 0.05:
            return self.walltime * draw.uniform(0.01, 0.3)
        return self.walltime * min(1.0, max(0.02, self.share * draw.lognormvariate(0, self.spread)))


@dataclass
class Job:
    """One run: what it really takes (`used`, seconds), when it started and was asked for (unix seconds)."""

    study: Study
    work: Any
    used: float
    start: float = 0.0
    asked: float = 0.0
    likeness: Any = ()


@dataclass
class Told:
    """What was foretold of a job, with all that is known and with nothing."""

    job: Job
    known: Any
    blind: Any
    sure: Any


@dataclass
class World:
    """One week, event by event."""

    busy: float
    habits_of_people: bool
    seed: int
    waiting: list[Job] = field(default_factory=list)
    running: list[tuple[float, int, Job]] = field(default_factory=list)
    done: list[Job] = field(default_factory=list)
    submitted: list[Told] = field(default_factory=list)
    looks: list[Told] = field(default_factory=list)
    spent: list[float] = field(default_factory=list)
    came: list[Any] = field(default_factory=list)

    def play(self) -> None:
        from jobs.models import Coretype
        from jobs.scheduling.habits import Habits

        self.draw = random.Random(self.seed)
        self.kind = Coretype(pk=1, code="basalt", name="Basalt", cores=128, max_nodes=8, price=Decimal("0.05"), active=True)
        self.habits, self.nothing = Habits(), Habits()
        for at, job in self._arrivals():
            self._end_until(at)
            self.came.append(self._waits(job))
            self.waiting.append(job)
            self._decide(at)
            if at > BEGIN + LEARNT and job.work.pk % EVERY == 0:
                if job in self.waiting:
                    self.submitted.append(self._foretell(job, at))
                if self.waiting:
                    self.looks.append(self._foretell(random.Random(job.work.pk).choice(self.waiting), at))
        self._end_until(float("inf"))

    def _arrivals(self) -> Iterator[tuple[float, Job]]:
        """Batches of one study each; more of them by day."""
        studies = [_study(self.draw, self.habits_of_people, owner) for owner in range(12) for _ in range(3)]
        load = _load(studies)
        clock, number, old = 0.0, 0, True
        self.studies = studies
        while clock < LEARNT + WEEK:
            if clock > LEARNT and old:
                studies[::4], old = [_study(self.draw, self.habits_of_people, one.owner) for one in studies[::4]], False
                load = _load(studies)
            study = self.draw.choice(studies)
            for place in range(self.draw.randint(1, 8)):
                number, self.batch = number + 1, (study, place + 1)
                yield BEGIN + clock, self._job(study, BEGIN + clock, number)
                clock += 1.0
            clock += self.draw.expovariate(self._rate(clock, load))

    def _rate(self, clock: float, load: float) -> float:
        """Batches a second: more by day."""
        day = 1.6 if 8 <= clock % 86_400 / 3600 < 18 else 0.57
        return day * self.busy * CORES / load

    def _job(self, study: Study, at: float, number: int) -> Job:
        from jobs.models import Workload
        from jobs.scheduling.habits import likeness_of

        moment = datetime.fromtimestamp(at, UTC)
        work = Workload(
            pk=number, owner_id=study.owner, project_id=study.project, coretype=self.kind, cores=study.cores, walltime=int(study.walltime), submitted=moment, made=moment
        )
        likeness = likeness_of(study.owner, study.software, study.walltime, study.cores, 1)
        return Job(study, work, study.used(self.draw), asked=at, likeness=likeness)

    def _end_until(self, until: float) -> None:
        while self.running and self.running[0][0] <= until:
            end, _, job = heapq.heappop(self.running)
            self.habits.note(job.likeness, (end - job.start) / job.study.walltime)
            self._decide(end)

    def _decide(self, at: float) -> None:
        """What the real queue would start."""
        from jobs.capacity import Room
        from jobs.scheduling import Line, decide
        from jobs.scheduling.fair import in_turn, side_of
        from jobs.scheduling.line import Living

        now = datetime.fromtimestamp(at, UTC)
        ends = [(datetime.fromtimestamp(job.start + job.study.walltime, UTC), job.study.cores) for _, _, job in self.running]
        using: dict[Any, int] = {}
        for _, _, job in self.running:
            using[side_of(job.work)] = using.get(side_of(job.work), 0) + job.study.cores
        line = Line(Room(("x", ""), CORES, sum(using.values())), lambda: Living(ends))
        by = {job.work.pk: job for job in self.waiting}
        self.order = in_turn(sorted((job.work for job in self.waiting), key=lambda work: (work.submitted, work.pk)), using)
        started = {work.pk for work in decide(self.order, lambda _: ("x", ""), {("x", ""): line}, Rich(), now).start}
        for pk in started:
            job = by[pk]
            job.start = at
            heapq.heappush(self.running, (at + job.used, pk, job))
            self.done.append(job)
        self.waiting = [job for job in self.waiting if job.work.pk not in started]
        self.order = [work for work in self.order if work.pk not in started]

    def _foretell(self, job: Job, at: float) -> Told:
        from jobs.scheduling import forecast

        free = CORES - sum(one.study.cores for _, _, one in self.running)
        line = {one.work.pk: self._waits(one) for one in sorted(self.waiting, key=lambda one: one.work.pk)}
        runs = [
            forecast.Runs(one.study.cores, one.start, one.study.walltime, one.likeness, self._pace(one, at), side_of(one)) for _, _, one in self.running
        ]
        scene = forecast.Scene(free, runs, list(line.values()), at, self.habits, self.came, BEGIN)
        begun = time.process_time()
        told = forecast.interval(scene, line[job.work.pk], job.work.pk)
        self.spent.append(time.process_time() - begun)
        blind = [forecast.Runs(one.cores, one.start, one.walltime, side=one.side) for one in runs]
        plain = {pk: forecast.Waits(one.cores, one.walltime, (), one.asked, one.side) for pk, one in line.items()}
        nothing = forecast.Scene(free, blind, list(plain.values()), at, self.nothing)
        return Told(job, told, forecast.interval(nothing, plain[job.work.pk], job.work.pk), self._oracle(job, at, free, runs))

    def _oracle(self, job: Job, at: float, free: int, runs: list[Any]) -> Any:
        """The narrowest interval that holds nine tenths of what may come."""
        from jobs.scheduling import forecast

        line = {one.work.pk: replace(self._waits(one), likeness=(one.study,)) for one in sorted(self.waiting, key=lambda one: one.work.pk)}
        seen = [replace(run, likeness=(one.study,)) for run, (_, _, one) in zip(runs, self.running, strict=True)]
        starts = forecast.played(forecast.Scene(free, seen, list(line.values()), at, self.nothing), line[job.work.pk], job.work.pk, oracle(self))
        return forecast.narrowest(starts, 0.9)

    def to_come(self, draw: random.Random, now: float) -> Iterator[Any]:
        """Who comes from now on, drawn anew: the rest of the batch that has begun, then others."""
        from jobs.scheduling import forecast

        def waits(study: Study, asked: float) -> Any:
            return forecast.Waits(study.cores, study.walltime, (study,), asked, ("project", study.project) if study.project else ("owner", study.owner))

        clock, load, (study, place) = now - BEGIN, _load(self.studies), self.batch
        count = draw.randint(place, 8) - place if clock < LEARNT + WEEK else 0
        while True:
            for _ in range(count):
                clock += 1.0
                yield waits(study, BEGIN + clock)
            clock += draw.expovariate(self._rate(clock, load))
            if clock >= LEARNT + WEEK:
                return
            study, count = draw.choice(self.studies), draw.randint(1, 8)
            yield waits(study, BEGIN + clock)
            count -= 1

    def _waits(self, job: Job) -> Any:
        from jobs.scheduling import forecast

        return forecast.Waits(job.study.cores, job.study.walltime, job.likeness, job.asked, side_of(job))

    def _pace(self, job: Job, at: float) -> float | None:
        """When it ends by its own output: known once a tenth is done, and a little wrong."""
        done = (at - job.start) / job.used
        if not job.study.tells or done < 0.1:
            return None
        wrong = random.Random(job.work.pk).uniform(-WRONG, WRONG)
        return at + (job.start + job.used - at) * (1 + wrong)


def oracle(world: World) -> Any:
    """A play that draws from what the week is drawn from."""
    from jobs.scheduling import forecast

    class Oracle(forecast.Play):
        def _guess(self) -> Any:
            return self

        def _arrivals(self) -> Iterator[Any]:
            return world.to_come(self.draw, self.scene.now)

        def share(self, likeness: Any, ran: float = 0.0) -> float:
            """By the study itself, given that it has run so long."""
            study = likeness[0]
            return next((used for _ in range(300) if (used := study.used(self.draw) / study.walltime) > ran), min(1.0, ran * 1.02))

        def _end(self, one: Any) -> float:
            if one.end is not None:
                return self.scene.now + (one.end - self.scene.now) / (1 + self.draw.uniform(-WRONG, WRONG))
            return max(self.scene.now, one.start + self.share(one.likeness, (self.scene.now - one.start) / one.walltime) * one.walltime)

    return Oracle


def side_of(job: Job) -> Any:
    from jobs.scheduling import fair

    return fair.side_of(job.work)


class Rich:
    """A purse that pays for everything."""

    left: dict[int, Decimal] = {}

    def short(self, work: Any) -> None:
        return None

    def hold(self, work: Any, now: datetime) -> None:
        pass


def _load(studies: list[Study]) -> float:
    """Core-seconds of a batch."""
    return statistics.mean(one.cores * one.walltime * one.share for one in studies) * 4.5


def _study(draw: random.Random, habits: bool, owner: int) -> Study:
    share, spread = (draw.betavariate(2, 2.5), 0.1) if habits else (0.42, 0.7)
    cores = draw.choice([4, 8, 8, 16, 16, 32, 64])
    return Study(owner, owner % 4, draw.randrange(5), cores, 3600.0 * draw.choice([1, 2, 4, 8]), max(0.03, share), spread, draw.random() < 0.67)
