"""When a queued job will start: an interval that holds the true start in 9 of 10 cases.

One idea: people ask for more time than they use, and by how much is known from the past of the coretype. The line before
the job is played through many times, each job taking a share of its walltime drawn from that past; the interval is what
most of these plays agree on. Pure, and the same answer for the same job: the draw is seeded. Times are unix seconds.
"""

from __future__ import annotations

import heapq
import random
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

PLAYS = 60
LOW, HIGH = 0.02, 0.98
"""Shares of the plays that lie before and behind; wider than 90 % because the future brings jobs that nobody knows yet."""
UNKNOWN = tuple(step / 20 for step in range(1, 21))
"""Where nothing is known of the past, any share of the walltime is as likely as any other."""
ENOUGH = 10


@dataclass(frozen=True)
class Runs:
    """What holds cores now, since `start`, for at most `walltime` seconds."""

    cores: int
    start: float
    walltime: float


@dataclass(frozen=True)
class Waits:
    """What stands in line."""

    cores: int
    walltime: float


def interval(
    free: int, running: Sequence[Runs], line: Sequence[Waits], now: float, past: Sequence[float], seed: int
) -> tuple[float, float] | None:
    """Earliest and latest start of the last one in `line`. `past`: used shares of walltimes. None: it never fits."""
    shares = sorted(min(1.0, max(0.001, share)) for share in past) if len(past) >= ENOUGH else list(UNKNOWN)
    draw = random.Random(seed)
    starts = sorted(found for _ in range(PLAYS) if (found := _play(free, running, line, now, shares, draw)) is not None)
    if not starts:
        return None
    return starts[int(LOW * (len(starts) - 1))], starts[round(HIGH * (len(starts) - 1))]


def _play(
    free: int, running: Sequence[Runs], line: Sequence[Waits], now: float, shares: Sequence[float], draw: random.Random
) -> float | None:
    """When the last of `line` starts in one play."""
    ends = [(_end(one, now, shares, draw), one.cores) for one in running]
    heapq.heapify(ends)
    clock = now
    for work in line:
        while free < work.cores and ends:
            end, cores = heapq.heappop(ends)
            clock, free = max(clock, end), free + cores
        if free < work.cores:
            return None
        free -= work.cores
        heapq.heappush(ends, (clock + work.walltime * shares[draw.randrange(len(shares))], work.cores))
    return clock


def _end(one: Runs, now: float, shares: Sequence[float], draw: random.Random) -> float:
    """A share that it has not outlived yet; past all of them, its walltime."""
    first = bisect_right(shares, (now - one.start) / max(one.walltime, 1.0))
    share = shares[draw.randrange(first, len(shares))] if first < len(shares) else 1.0
    return max(now, one.start + share * one.walltime)
