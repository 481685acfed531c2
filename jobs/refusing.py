"""Why a verb of a workstation makes no sense now, in words; empty where it does. Pure: status, wish and facts in, words out.

Every status has an answer for every verb; a test goes through all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from . import lifecycle
from .lifecycle import Wish

OVER = "It is over."
NO_SUSPEND: Mapping[str, str] = {
    lifecycle.DRAFT: "It was not started yet.",
    lifecycle.SUSPENDING: "It is being suspended already.",
    lifecycle.SUSPENDED: "It is suspended already.",
    lifecycle.STOPPING: "It is stopping; that cannot become a suspend any more.",
    **dict.fromkeys(lifecycle.REST_CODES, OVER),
}
NO_RESUME: Mapping[str, str] = {
    lifecycle.DRAFT: "It was not started yet: start it.",
    lifecycle.QUEUED: "It is on its way already.",
    lifecycle.VALIDATING: "It is on its way already.",
    lifecycle.STARTING: "It is on its way already.",
    lifecycle.ACTIVE: "It is active.",
    lifecycle.SUSPENDING: "It is still being suspended: its home is saved first. Resume it as soon as it is suspended.",
    lifecycle.STOPPING: "It is stopping for good; its home is kept.",
    **dict.fromkeys(lifecycle.REST_CODES, OVER),
}
STOPS = (Wish.STOP, Wish.FORCE_STOP)


def suspend(status: str, wish: str, has_home: bool) -> str:
    """`has_home`: a whole copy of its home is kept, so that one that is not active loses nothing."""
    if status in NO_SUSPEND:
        return NO_SUSPEND[status]
    if wish in STOPS:
        return "It is stopping already."
    if wish == Wish.SUSPEND:
        return "It is being suspended already."
    if status != lifecycle.ACTIVE and not has_home:
        return "It has no home yet that could be kept: stop it, or wait until it is active."
    return ""


def resume(status: str, wish: str, has_home: bool) -> str:
    """Without a copy of its home there is nothing to go on with."""
    if status in NO_RESUME:
        return NO_RESUME[status]
    if wish in STOPS:
        return "It is being ended."
    return "" if has_home else "There is no copy of its home."


def stop(status: str, wish: str, force: bool) -> str:
    """A stop may become a force stop, never the other way round."""
    if status == lifecycle.DRAFT:
        return "It was not started: delete it instead."
    if status in lifecycle.REST_CODES:
        return OVER
    if wish == Wish.FORCE_STOP or (wish == Wish.STOP and not force):
        return "It is stopping already."
    return ""


def keep(status: str, until: datetime | None, now: datetime, limit: timedelta) -> str:
    """`until` None takes it back; at most `limit` from now."""
    if status not in (lifecycle.QUEUED, lifecycle.VALIDATING, lifecycle.STARTING, lifecycle.ACTIVE):
        return "Only one that is active, or on its way there, can be kept on."
    if until is None:
        return ""
    if until <= now:
        return "That time has passed."
    if until > now + limit:
        return f"At most {limit.total_seconds() / 3600:g} hours from now: until {now + limit:%Y-%m-%d %H:%M} UTC."
    return ""
