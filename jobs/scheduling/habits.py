"""How much of their walltime jobs really use: what the past says of jobs like this one.

One idea: people ask for more time than they use, each in their own way. The shares that were used are kept by ever wider
likeness (the same person, software and size; the person's software; the software; everything). A guess takes the closest
likeness of which something is known, and now and then a wider one: the less is known, the more often. Pure.
"""

from __future__ import annotations

import random
from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Hashable, Iterable

TRUST = 1.0
"""Past runs of a likeness at which it is drawn from as often as not."""
ALIKE = 0.12
"""Runs that are alike use about the same share: by so much of it more or less, where only one is known or none."""
KEPT = 200
"""Newest shares of a likeness."""

Likeness = tuple[Hashable, ...]
"""Keys of a job, the closest first."""


class Habits:
    """Used shares of walltimes, by likeness."""

    def __init__(self, past: Iterable[tuple[Likeness, float]] = ()) -> None:
        self.shares: dict[Hashable, list[float]] = defaultdict(list)
        self._order: dict[Hashable, list[float]] = defaultdict(list)
        for likeness, share in past:
            self.note(likeness, share)

    def note(self, likeness: Likeness, share: float) -> None:
        """One more run, newer than those before it."""
        share = min(1.0, max(0.001, share))
        for key in likeness:
            shares, order = self.shares[key], self._order[key]
            insort(shares, share)
            order.append(share)
            if len(order) > KEPT:
                shares.remove(order.pop(0))


class Guess:
    """One way in which it may go: runs that are alike take alike long in it.

    What runs now is guessed first and then counts as past for what comes after it: those that have ended already of a batch are
    the short ones, and to know only them would be to foretell too early.
    """

    def __init__(self, habits: Habits, draw: random.Random) -> None:
        self._shares, self._draw = habits.shares, draw
        self._running: dict[Hashable, list[float]] = defaultdict(list)
        self._usual: dict[Hashable, float] = {}

    def running(self, likeness: Likeness, ran: float, share: float | None = None) -> float:
        """The share at which a running job ends that has used `ran` already; `share`: if that is known."""
        if share is None:
            share = self.share(likeness, ran)
        if likeness:
            self._running[likeness[0]].append(share)
        return share

    def share(self, likeness: Likeness, ran: float = 0.0) -> float:
        """The share of its walltime at which a job ends, given that it is more than `ran`."""
        if not likeness:
            return ran + (1.0 - ran) * self._draw.random()
        if (found := self._known(likeness[0], ran)) is not None:
            return found
        usual = self._usual.get(likeness[0])
        if usual is None or usual <= ran:
            usual = self._usual[likeness[0]] = self._wider(likeness[1:], ran)
        return self._about(usual, ALIKE, ran)

    def _wider(self, likeness: Likeness, ran: float) -> float:
        for key in likeness:
            if (found := self._known(key, ran)) is not None:
                return found
        return ran + (1.0 - ran) * self._draw.random()

    def _known(self, key: Hashable, ran: float) -> float | None:
        """A share of this likeness that is more than `ran`; the fewer there are, the more often none."""
        shares, running = self._shares.get(key, ()), self._running.get(key, ())
        first = bisect_right(shares, ran) if shares else 0
        count = len(shares) - first
        known = count + len(running)
        at = int(self._draw.random() * (known + TRUST))
        share = shares[first + at] if at < count else running[at - count] if at < known else 0.0
        return self._about(share, ALIKE / known**0.5, ran) if share > ran else None

    def _about(self, share: float, spread: float, ran: float) -> float:
        """One more run like that; it can't have ended already."""
        found = min(1.0, share * (1 + self._draw.gauss(0, spread)))
        return found if found > ran else ran + (share - ran) * self._draw.random() if share > ran else min(1.0, ran * 1.01)


def likeness_of(owner: Hashable, software: Hashable, walltime: float, cores: int, coretype: Hashable) -> Likeness:
    return (("run", owner, software, walltime, cores), ("person", owner, software), ("software", software), ("coretype", coretype))
