"""When a workstation counts as idle, by facts alone: signs of work, the rule, what was warned of."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.foretold import Told
from jobs.idleness import Rule, Seen, judge, signs_in

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
RULE = Rule(2 * HOUR, (15 * MINUTE, 5 * MINUTE))


def seen(**fields) -> Seen:
    return Seen(**{"begun": NOW - 10 * HOUR, "heard": NOW, **fields})


@pytest.mark.parametrize(
    ("beat", "signs"),
    [
        ({}, set()),
        ({"busy": 0.02, "cpu": 1.9}, set()),  # the X server draws a clock
        ({"busy": 0.9}, {"processor"}),
        ({"cpu": 0.2}, set()),
        ({"cpu": 0.5}, {"processor"}),
        ({"busy": 0.0, "gpu": 0.4}, {"graphics"}),
        ({"busy": 0.0, "programs": ["ccx"]}, {"solver"}),
        ({"busy": 0.0, "input_at": 990.0, "clock": 1000.0}, {"input"}),
        ({"busy": True, "gpu": "much", "input_at": None, "programs": []}, set()),
    ],
)
def test_signs_of_work_in_a_beat(beat, signs):
    assert set(signs_in(beat, 5000.0)) == signs


def test_a_wrong_clock_of_the_node_does_not_matter():
    assert signs_in({"input_at": 990.0, "clock": 1000.0}, 5000.0) == {"input": 4990.0}
    assert signs_in({"input_at": 1500.0, "clock": 1000.0}, 5000.0) == {"input": 5000.0}


@pytest.mark.parametrize("sign", ["input", "processor", "graphics", "solver"])
def test_any_sign_of_work_keeps_it(sign):
    assert judge(seen(signs={sign: NOW}), RULE, NOW).suspends_at == NOW + 2 * HOUR


def test_an_open_tab_over_a_still_desktop_is_idle():
    found = judge(seen(signs={"input": NOW - 3 * HOUR}, told=Told(300, NOW - HOUR)), RULE, NOW)
    assert found.idle_since == NOW - 3 * HOUR
    assert found.is_over(NOW)


def test_a_computing_desktop_with_nobody_watching_is_not():
    assert not judge(seen(signs={"input": NOW - 9 * HOUR, "processor": NOW - MINUTE}), RULE, NOW).is_over(NOW)


def test_nobody_can_say_without_beats():
    assert judge(seen(heard=None), RULE, NOW).suspends_at is None
    assert judge(seen(heard=NOW - HOUR), RULE, NOW).suspends_at is None


def test_the_time_without_the_portal_counts_for_nobody():
    found = judge(seen(signs={"input": NOW - 9 * HOUR}, away_until=NOW - 10 * MINUTE), RULE, NOW)
    assert found.suspends_at == NOW - 10 * MINUTE + 2 * HOUR


def test_a_rule_that_is_off_suspends_nothing():
    assert judge(seen(), Rule(timedelta()), NOW).suspends_at is None


def test_kept_on_until_a_time():
    found = judge(seen(keep_until=NOW + 5 * HOUR), RULE, NOW)
    assert (found.suspends_at, found.warn) == (NOW + 5 * HOUR, 0)


def test_who_says_that_it_is_in_use_begins_anew():
    assert judge(seen(stayed=NOW - MINUTE), RULE, NOW).suspends_at == NOW - MINUTE + 2 * HOUR


@pytest.mark.parametrize(
    ("quiet", "told", "warn"),
    [
        (100, Told(), 0),
        (105, Told(), 900),
        (106, Told(900, NOW - MINUTE), 0),
        (115, Told(900, NOW - 10 * MINUTE), 300),
        (116, Told(300, NOW - MINUTE), 0),
        (116, Told(), 300),
        (106, Told(300, NOW - 5 * HOUR), 900),
    ],
    ids=["not yet", "first", "told", "second", "told twice", "late: the nearest alone", "of an earlier time: void"],
)
def test_warnings_come_once_each(quiet, told, warn):
    assert judge(seen(signs={"input": NOW - quiet * MINUTE}, told=told), RULE, NOW).warn == warn


def test_nobody_is_suspended_unwarned():
    found = judge(seen(signs={"input": NOW - 9 * HOUR}), RULE, NOW)
    assert (found.warn, found.suspends_at) == (300, NOW + 5 * MINUTE)
    later = judge(seen(heard=NOW + 5 * MINUTE, signs={"input": NOW - 9 * HOUR}, told=Told(300, NOW)), RULE, NOW + 5 * MINUTE)
    assert later.is_over(NOW + 5 * MINUTE)


minutes = st.integers(0, 600)


@given(quiet=minutes, told=st.none() | minutes, ahead=st.sampled_from([0, 300, 900]), keep=st.none() | minutes)
def test_the_last_warning_always_leaves_its_full_time(quiet, told, ahead, keep):
    note = Told() if told is None else Told(ahead, NOW - told * MINUTE)
    facts = seen(signs={"input": NOW - quiet * MINUTE}, told=note, keep_until=keep and NOW + keep * MINUTE)
    found = judge(facts, RULE, NOW)
    if found.is_over(NOW):
        assert told is not None and 5 <= told <= quiet
        assert quiet >= 120
        assert not keep
