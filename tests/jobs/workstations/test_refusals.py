"""Every verb in every status: done, or refused with a reason in words."""

from datetime import UTC, datetime, timedelta

import pytest

from jobs import lifecycle, refusing
from jobs.backends.base import CAUSES
from jobs.lifecycle import Wish

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
STATUSES = list(lifecycle.WORKSTATION)


def allowed(verb) -> set[str]:
    answers = {status: verb(status) for status in STATUSES}
    assert all(words == "" or words.endswith(".") or words[-1].isalpha() for words in answers.values())
    return {status for status, words in answers.items() if not words}


def test_suspend():
    with_home = {"queued", "validating", "starting", "active"}
    assert allowed(lambda status: refusing.suspend(status, Wish.RUN, True)) == with_home
    assert allowed(lambda status: refusing.suspend(status, Wish.RUN, False)) == {"active"}
    for wish in (Wish.SUSPEND, Wish.STOP, Wish.FORCE_STOP):
        assert allowed(lambda status, wish=wish: refusing.suspend(status, wish, True)) == set()


def test_resume():
    assert allowed(lambda status: refusing.resume(status, Wish.SUSPEND, True)) == {"suspended"}
    assert allowed(lambda status: refusing.resume(status, Wish.RUN, True)) == {"suspended"}
    assert allowed(lambda status: refusing.resume(status, Wish.STOP, True)) == set()
    assert allowed(lambda status: refusing.resume(status, Wish.RUN, False)) == set()


def test_stop_and_force_stop():
    living = {"queued", "validating", "starting", "active", "suspending", "suspended", "stopping"}
    for wish in (Wish.RUN, Wish.SUSPEND):
        assert allowed(lambda status, wish=wish: refusing.stop(status, wish, False)) == living
    assert allowed(lambda status: refusing.stop(status, Wish.STOP, False)) == set()
    assert allowed(lambda status: refusing.stop(status, Wish.STOP, True)) == living
    assert allowed(lambda status: refusing.stop(status, Wish.FORCE_STOP, True)) == set()


@pytest.mark.parametrize(("hours", "words"), [(1, ""), (24, ""), (25, "At most 24 hours"), (-1, "passed"), (None, "")])
def test_keep_within_its_limit(hours, words):
    until = None if hours is None else NOW + timedelta(hours=hours)
    answer = refusing.keep("active", until, NOW, timedelta(days=1))
    assert words in answer and bool(words) == bool(answer)
    assert refusing.keep("suspended", until, NOW, timedelta(days=1)) != ""


def test_whatever_takes_a_cluster_away_is_a_reason_to_suspend():
    assert set(CAUSES.values()) <= set(lifecycle.SUSPENSIONS)
    assert all(len(code) <= 24 for code in lifecycle.SUSPENSIONS)
