"""What the home of a workstation means for a decision: saved or not, how old the copy is, and what happens if it can't be saved."""

from __future__ import annotations

from datetime import datetime, timedelta

from .. import lifecycle
from ..lifecycle import Wish
from ..models import HomeCopy
from .base import Facts, Step

LAST_MOMENT = timedelta(seconds=5)
"""Before the paid time is over: from then on a session that can't be saved is given back all the same."""


def could_not_save(facts: Facts, now: datetime) -> bool:
    """Whether the agent said, in answer to what is wanted now, that there is no room; the session goes on."""
    work, cluster = facts.work, facts.cluster
    if cluster is None or cluster.unsaved_at is None or cluster.exited is not None or facts.forced:
        return False
    if cluster.paid_until and now > cluster.paid_until - LAST_MOMENT:
        return False
    wished = work.wished_at if work.wish != Wish.RUN else None
    if cluster.unsaved_at < min(work.since, wished or work.since):
        return False
    return work.reason != "budget-used-up"


def back_to_active(facts: Facts) -> Step:
    """The wish was answered, so it is over; whoever still wants it, wishes again."""
    detail = f"It could not be saved, so it goes on: {facts.cluster.unsaved if facts.cluster else ''}"
    fields = dict.fromkeys(("reason", "outcome", "failed_stage", "again"), "") | {"detail": detail[:2000], "wish": Wish.RUN}
    return Step(facts, lifecycle.ACTIVE, "unsaved", detail, fields)


def sentences(*parts: str) -> str:
    """Texts of different makers one after the other, each with its full stop."""
    return " ".join(part if part.endswith((".", "!", "?")) else f"{part}." for part in map(str.strip, parts) if part)


def home_in_words(facts: Facts) -> str:
    """What a resume will find."""
    copy, cluster = facts.home, facts.cluster
    if copy is None or copy.whole is None:
        return "There is no copy of its home."
    if cluster is None or cluster.went is None or (cluster.released and cluster.released < facts.work.since):
        return f"Its home is kept as it was at {copy.made:%Y-%m-%d %H:%M} UTC."
    if copy.attempt == cluster.attempt and copy.why != HomeCopy.Why.PERIODIC:
        return sentences(f"Home saved: {copy.files} {'file' if copy.files == 1 else 'files'}, {_size(copy.size)}", lacks(copy))
    last = cluster.exited or facts.heard or cluster.released or facts.work.since
    age = max(0, round((last - copy.made).total_seconds() / 60))
    return f"The last copy of its home is from {copy.made:%Y-%m-%d %H:%M} UTC, {f'{age} min' if age else 'less than a minute'} before that."


def lacks(copy: HomeCopy) -> str:
    """What a failing disk kept out of it; empty if nothing."""
    if not copy.unread:
        return ""
    files = "1 file or folder" if copy.unread == 1 else f"{copy.unread} files or folders"
    return f"{files} could not be read from the disk of its node and {'is' if copy.unread == 1 else 'are'} not in it."


def _size(size: int) -> str:
    for name, unit in (("GiB", 1 << 30), ("MiB", 1 << 20)):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size / 1024:.0f} KiB"
