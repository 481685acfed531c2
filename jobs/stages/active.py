"""Active: somebody works in the session. Ends with a wish, the session's own end, a rule, the money, or a lost node.

Whatever ends it without a wish to stop leads to Suspended if a copy of the home is there or still to come: nobody loses
work for want of money, hardware or attention.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from ..endings import in_words
from ..idleness import judge, rule_of
from ..lives import end_by_rule, facts_of
from .base import Facts, Step, end, give_up, stopped_reason, suspend, wait
from .running import EARLY, OVERDUE, silence, why_it_vanished
from .warning import warn_of_end, warn_of_idleness

SLOW = 20e6
"""Bytes a second with which a home is saved at the least."""
MOST_SAVING = 1200.0
"""Seconds; a hold reaches half an hour ahead."""
UNSAVED_PAUSE = timedelta(minutes=15)
"""After a home could not be saved, rules leave the session alone for so long; people may try at once."""


def decide(facts: Facts, now: datetime) -> Step:
    """What people want comes first, then what the agent reported, then what the backend says, then limits and rules."""
    cluster = facts.cluster
    if cluster is None:
        return give_up(facts, "node-lost", "The cluster's record is gone.")
    if facts.stops:
        return end(facts, stopped_reason(facts))
    if facts.suspends:
        return suspend(facts, "wish")
    if cluster.exited is not None:
        return _ended(facts)
    if cluster.absent >= 2:
        return give_up(facts, *why_it_vanished(cluster))
    if cluster.broken:
        return give_up(facts, "node-lost", cluster.broken)
    return _limits(facts, now) or _rules(facts, now) or wait(facts)


def _ended(facts: Facts) -> Step:
    """The session is over without anybody's wish."""
    cluster = facts.cluster
    assert cluster is not None
    words, why = in_words(cluster.exit), cluster.exit.get("why")
    if why == "lost":
        return suspend(facts, "node-lost", str(cluster.exit.get("note") or "The agent lost the session."))  # it still saves the home
    if why == "outside":
        return suspend(facts, *why_it_vanished(cluster)) if cluster.trouble else suspend(facts, "cancelled-outside", words)
    if why == "walltime":
        return suspend(facts, "walltime")
    if why == "unpaid":
        return suspend(facts, "budget-used-up")
    if cluster.ready is None:
        return give_up(facts, *_never_there(facts, words))
    return suspend(facts, "session-ended", words)


def _never_there(facts: Facts, words: str) -> tuple[str, str]:
    text = f"The session ended before it could be used. {words} Its output says more."
    return ("exit-code" if facts.home is None else "session-broken"), text


def _limits(facts: Facts, now: datetime) -> Step | None:
    cluster = facts.cluster
    assert cluster is not None
    if cluster.paid_until and now > cluster.paid_until - _saving_time(facts):
        return suspend(facts, "budget-used-up", "A strict budget could not pay for more time.")
    if cluster.walltime_until and now > cluster.walltime_until + timedelta(seconds=OVERDUE):
        return suspend(facts, "walltime")
    silent = silence(facts, now)
    if silent is not None and silent > facts.silent_limit:
        return give_up(facts, "node-lost", f"Its node has not been heard for {silent / 60:.0f} minutes.")
    return None


def _saving_time(facts: Facts) -> timedelta:
    """What saving may take, by the size of the last copy: it is to be paid too."""
    size = facts.home.size if facts.home else 0
    return timedelta(seconds=min(MOST_SAVING, EARLY + size / SLOW))


def _rules(facts: Facts, now: datetime) -> Step | None:
    """What its kind's rules say: the longest life, then idleness; a warning first."""
    cluster, station = facts.cluster, facts.work.workstation
    assert cluster is not None
    if cluster.unsaved_at and now < cluster.unsaved_at + UNSAVED_PAUSE:
        return None
    found = end_by_rule(station.kind, facts_of(station, None), now)
    if found and found[0].warn:
        return Step(facts, act=warn_of_end)
    if found and now >= found[0].at:
        return end(facts, "stopped-by-rule", f"It reached {found[1]}.")
    idle = judge(facts.seen, rule_of(station), now) if facts.seen else None
    if idle and idle.warn:
        return Step(facts, act=warn_of_idleness)
    if idle and idle.is_over(now):
        return suspend(facts, "idle", f"Nothing was done in it since {idle.idle_since:%Y-%m-%d %H:%M} UTC.")
    return None
