"""Rules that end a workstation: suspended for too long, the longest life. Existing ones get the full time from the switch."""

from datetime import UTC, datetime, timedelta

import factories
import pytest
from django.utils import timezone

from jobs.foretold import Told
from jobs.lives import Facts, end_by_rule
from jobs.models import WorkstationKind
from jobs.models.workstation_kind import stricter

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def kind(**fields) -> WorkstationKind:
    return WorkstationKind(**{"suspended_days": 30, "suspended_rule": NOW - 300 * DAY, "suspended_warnings": [7, 3, 1], **fields})


def end(rules, now=NOW, **facts):
    found = end_by_rule(rules, Facts(**{"begun": NOW - 90 * DAY, "suspended": None, **facts}), now)
    return found and found[0]


def test_without_rules_nothing_ends():
    assert end(kind(suspended_days=0), suspended=NOW - 900 * DAY) is None
    assert end(kind()) is None


def test_suspended_too_long():
    told = Told(1 * 86400, NOW - DAY)
    assert end(kind(), suspended=NOW - 30 * DAY, told=told).at == NOW
    assert end(kind(), suspended=NOW - 10 * DAY).at == NOW + 20 * DAY


@pytest.mark.parametrize(("days", "told", "warn"), [(20, 0, 0), (23, 0, 7), (24, 7, 0), (27, 7, 3), (29, 3, 1), (29, 1, 0)])
def test_several_warnings(days, told, warn):
    note = Told(told * 86400, NOW - DAY) if told else Told()
    assert end(kind(), suspended=NOW - days * DAY, told=note).warn == warn * 86400


def test_switching_the_rule_on_gives_existing_ones_the_full_time():
    found = end(kind(suspended_rule=NOW), suspended=NOW - 400 * DAY)
    assert (found.at, found.warn) == (NOW + 30 * DAY, 0)


def test_nobody_is_ended_unwarned():
    found = end(kind(), suspended=NOW - 400 * DAY)
    assert (found.at, found.warn) == (NOW + DAY, DAY.total_seconds())


def test_the_longest_life_counts_from_the_first_start():
    rules = kind(suspended_days=0, max_life=100 * 86400, life_rule=NOW - 300 * DAY)
    assert end(rules).at == NOW + 10 * DAY
    assert end(rules, begun=None) is None
    rules.life_rule = NOW - DAY
    assert end(rules).at == NOW + 99 * DAY


def test_a_short_life_is_not_made_longer_by_warnings_of_days():
    assert end(kind(suspended_days=0, max_life=3600, life_rule=NOW - 300 * DAY), begun=NOW).at == NOW + timedelta(hours=1)


def test_the_nearer_rule_counts():
    rules = kind(max_life=100 * 86400, life_rule=NOW - 300 * DAY)
    assert end(rules, suspended=NOW - DAY).at == NOW + 10 * DAY
    assert end(rules, suspended=NOW - 25 * DAY).at == NOW + 5 * DAY


@pytest.mark.parametrize(
    ("before", "after", "is_so"), [(0, 30, True), (30, 10, True), (10, 30, False), (30, 0, False), (30, 30, False), (0, 0, False)]
)
def test_what_makes_a_rule_stricter(before, after, is_so):
    assert stricter(before, after) is is_so


def test_the_moment_of_the_switch_is_kept(db):
    rules = factories.workstation().kind
    assert rules.suspended_rule is None
    rules.suspended_days = 30
    rules.save()
    first = rules.suspended_rule
    assert abs(first - timezone.now()) < timedelta(minutes=1)
    rules.suspended_days = 60
    rules.save()
    assert WorkstationKind.objects.get().suspended_rule == first
    rules.suspended_days = 20
    rules.save()
    assert WorkstationKind.objects.get().suspended_rule > first
