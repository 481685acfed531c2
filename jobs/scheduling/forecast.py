"""When a queued job will start: an interval that holds the true start in 9 of 10 cases.

One idea: the queue is played through many times by its own rules (fair.py and deciding.py: fair shares, the head's cores kept
free, backfill), each job ending after a share of its walltime that is drawn from habits, or at the pace that its own output
tells, while others keep arriving as they did on days before. The interval is the narrowest that most of these plays agree on. Pure, and the
same answer for the same facts: the draw is seeded. Times are unix seconds.
"""

from __future__ import annotations

import heapq
import math
import random
from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from .fair import AGE_A_CORE, MOST
from .habits import Guess, Habits, Likeness

PLAYS, FEWEST, WORK = 200, 20, 150_000
"""Plays of a short line and of a long one, and places that are looked at in all."""
ORDERED = 20
"""Places in line for each moment that goes by until its order is looked at again; somebody who comes is put in at once."""
SHARE = 0.86
"""Of the plays lie in the interval: of all that hold so many it is the narrowest."""
EARLIER, LATER = 0.2, 0.3
"""By so much of itself the interval is wider than the plays tell, which go wrong together: found by the simulated week."""
PACE = 0.1
"""What is left by the pace of its output may be so much more or less."""
DAY, NEARLY = 86_400.0, 1800.0
"""Who comes, comes as on a day before, about the same time."""
AGE, LONGEST = AGE_A_CORE.total_seconds(), MOST.total_seconds()


@dataclass(frozen=True)
class Runs:
    """What holds cores now, since `start`, for at most `walltime` seconds. `end`: when it ends at its own pace, if it tells."""

    cores: int
    start: float
    walltime: float
    likeness: Likeness = ()
    end: float | None = None
    side: Hashable = None


@dataclass(frozen=True)
class Waits:
    """What stands in line, or came on a day before. `rank` comes before age: (-priority, economy)."""

    cores: int
    walltime: float
    likeness: Likeness = ()
    asked: float = 0.0
    side: Hashable = None
    rank: tuple[int, bool] = (0, False)


@dataclass
class Scene:
    """What is known now. `line` by age; `came`: what arrived before now, up to some days back, by age."""

    free: int
    running: Sequence[Runs]
    line: Sequence[Waits]
    now: float
    habits: Habits
    came: Sequence[Waits] = ()
    known_since: float | None = None
    """How far back `came` is complete; None: nothing is known of who comes."""


def interval(scene: Scene, one: Waits, seed: int) -> tuple[float, float] | None:
    """Earliest and latest start of `one`, which stands in the line. None: it never fits."""
    starts = played(scene, one, seed)
    if not starts:
        return None
    low, high = narrowest(starts, SHARE)
    return max(scene.now, low - EARLIER * (high - low)), high + LATER * (high - low)


def narrowest(starts: Sequence[float], share: float) -> tuple[float, float]:
    """Of all intervals that hold this share of `starts`, which are in order: long waits are rare and far, short ones many and near."""
    count = math.ceil(share * len(starts))
    return min(zip(starts, starts[count - 1 :], strict=False), key=lambda ends: ends[1] - ends[0])


def played(scene: Scene, one: Waits, seed: int, play: type[Play] | None = None) -> list[float]:
    """The starts of `one` that the plays come to, in order."""
    draw = random.Random(seed)
    plays = max(FEWEST, min(PLAYS, WORK // (1 + len(scene.line) * (len(scene.line) + len(scene.running)))))
    return sorted(found for _ in range(plays) if (found := (play or Play)(scene, one, draw).start()) is not None)


@dataclass
class Play:
    """One play: how it might go."""

    scene: Scene
    one: Waits
    draw: random.Random
    using: dict[Hashable, int] = field(default_factory=lambda: defaultdict(int))

    def start(self) -> float | None:
        """When `one` starts."""
        self._begin()
        while True:
            if self._round():
                return self.clock
            if not self._forward():
                return None

    def _begin(self) -> None:
        scene = self.scene
        self.guess = self._guess()
        self.clock, self.free, self.waiting, self.moments = scene.now, scene.free, list(scene.line), 0
        told = sorted(scene.running, key=lambda one: one.end is None)  # those that tell their pace first
        self.ends = [(self._end(one), at, one.cores, one.side, max(scene.now, one.start + one.walltime)) for at, one in enumerate(told)]
        heapq.heapify(self.ends)
        for one in scene.running:
            self.using[one.side] += one.cores
        self.coming = self._arrivals()
        self.next = next(self.coming, None)

    def _guess(self) -> Guess:
        return Guess(self.scene.habits, self.draw)

    def _arrivals(self) -> Iterator[Waits]:
        return _arrivals(self.scene, self.draw)

    def _forward(self) -> bool:
        """To the next moment at which something ends or arrives; False if nothing will ever change."""
        if not self.ends:
            return False
        if self.next is not None and self.next.asked <= self.ends[0][0]:
            self.clock = self.next.asked
            insort(self.waiting, self.next, key=lambda one: one.asked)
            self.moments = 0
            self.next = next(self.coming, None)
            return True
        self.clock = self.ends[0][0]
        while self.ends and self.ends[0][0] <= self.clock:
            _, _, cores, side, _ = heapq.heappop(self.ends)
            self.free += cores
            self.using[side] -= cores
        return True

    def _round(self) -> bool:
        """What `decide` would start now; whether `one` is among it."""
        if not self.free:
            return False
        started: list[Waits] = []
        head, shadow, spare, free = False, self.clock, 0, self.free
        for work in self._order():
            if work.cores > free:
                if not head:
                    head, (shadow, spare) = True, self._kept_free(work.cores, free, started)
                continue
            if head and self.clock + work.walltime > shadow:
                if work.cores > spare:
                    continue
                spare -= work.cores
            started.append(work)
            free -= work.cores
            if work is self.one:
                return True
            if not free:
                break
        self._go(started)
        return False

    def _go(self, started: Sequence[Waits]) -> None:
        if not started:
            return
        gone = set(map(id, started))
        self.waiting = [work for work in self.waiting if id(work) not in gone]
        self.waiting_in_turn = [work for work in self.waiting_in_turn if id(work) not in gone]
        for work in started:
            self.free -= work.cores
            self.using[work.side] += work.cores
            end = self.clock + self.guess.share(work.likeness) * work.walltime
            heapq.heappush(self.ends, (end, id(work), work.cores, work.side, self.clock + work.walltime))

    def _order(self) -> list[Waits]:
        self.moments -= 1
        if self.moments <= 0:
            self.waiting_in_turn, self.moments = self._in_turn(), len(self.waiting) // ORDERED
        return self.waiting_in_turn

    def _in_turn(self) -> list[Waits]:
        """By fair shares, as fair.in_turn has it."""
        has: dict[Hashable, int] = defaultdict(int)
        keyed = []
        for at, work in enumerate(self.waiting):
            key = work.side, work.rank
            younger = AGE * (self.using[work.side] + has[key])
            keyed.append((work.rank, work.asked + (younger if younger < LONGEST else LONGEST), at))
            has[key] += work.cores
        keyed.sort()
        return [self.waiting[at] for _, _, at in keyed]

    def _kept_free(self, need: int, free: int, started: Sequence[Waits]) -> tuple[float, int]:
        """By the walltimes: when the head has its cores, and how many it leaves over."""
        until = [(wall, cores) for _, _, cores, _, wall in self.ends]
        until += [(self.clock + work.walltime, work.cores) for work in started]
        until.sort()
        for wall, cores in until:
            free += cores
            if free >= need:
                return max(wall, self.clock), free - need
        return self.clock, 0

    def _end(self, one: Runs) -> float:
        """At its own pace, else after a share that it has not outlived yet."""
        now, wall = self.scene.now, max(one.walltime, 1.0)
        ran, share = min(1.0, max(0.0, (now - one.start) / wall)), None
        if one.end is not None:
            end = one.end + (one.end - now) * PACE * (2 * self.draw.random() - 1)
            share = min(1.0, max(ran, (end - one.start) / wall))
        return max(now, one.start + self.guess.running(one.likeness, ran, share) * one.walltime)


# --- private ----------------------------------------------------------------------------------------------------------
def _arrivals(scene: Scene, draw: random.Random) -> Iterator[Waits]:
    """Who comes from now on: as on one of the days before, at about the same time of the day, again and again."""
    back = scene.now - scene.known_since if scene.known_since is not None else 0.0
    days = int(back // DAY)
    if days < 1 or not scene.came:
        return
    ahead = 0.0
    while True:
        shift = draw.randint(1, days) * DAY + draw.uniform(0, NEARLY)
        first = scene.now - shift
        begin, end = (bisect_right(scene.came, moment, key=attrgetter("asked")) for moment in (first, first + DAY))
        for at in range(begin, end):  # most plays are over before a day is
            work = scene.came[at]
            yield Waits(work.cores, work.walltime, work.likeness, work.asked + shift + ahead, work.side, work.rank)
        ahead += DAY
