"""Cores in use over the last day: what the clusters' own times say, to the second, and nothing else."""

from datetime import UTC, datetime, timedelta

import factories
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs import occupied
from jobs.models import Cluster

NOW = datetime(2026, 9, 17, 10, 7, 30, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def at(hour, minute, day=17):
    return datetime(2026, 9, day, hour, minute, tzinfo=UTC)


def told(*stays):
    """Steps in which something was in use, by their begin."""
    return {step.at: round(step.cores, 6) for step in occupied.steps(stays, NOW) if step.cores}


def test_a_day_of_whole_quarters_and_the_running_one():
    steps = occupied.steps([], NOW)
    assert (steps[0].at, steps[-1].at, len(steps)) == (at(10, 15, 16), at(10, 0), 96)
    assert {step.cores for step in steps} == {0}
    assert occupied.steps([], at(10, 0))[-1].at == at(9, 45)


def test_a_part_of_a_quarter_counts_as_a_part():
    assert told((at(9, 20), at(9, 50), 8)) == {at(9, 15): round(8 * 10 / 15, 6), at(9, 30): 8, at(9, 45): round(8 * 5 / 15, 6)}


def test_what_is_still_up_counts_up_to_now_and_the_running_quarter_is_not_yet_whole():
    assert told((at(10, 0), None, 4), (at(10, 5), None, 6)) == {at(10, 0): 4 + 6 * 2.5 / 7.5}


def test_what_was_before_the_day_is_not_in_it():
    assert told((at(8, 0, 15), at(10, 15, 16), 8)) == {}
    assert told((at(8, 0, 15), at(10, 30, 16), 8)) == {at(10, 15, 16): 8}


@given(st.lists(st.tuples(st.integers(0, 90_000), st.integers(1, 90_000), st.integers(1, 64)), max_size=20))
def test_no_core_second_is_lost_or_doubled(stays):
    first = occupied.steps([], NOW)[0].at
    given_ = [(NOW - timedelta(seconds=back), NOW - timedelta(seconds=back) + timedelta(seconds=length), cores) for back, length, cores in stays]
    whole = sum(cores * max(0.0, (min(end, NOW) - max(up, first)).total_seconds()) for up, end, cores in given_)
    steps = occupied.steps(given_, NOW)
    held = sum(step.cores * (min(step.at + occupied.STEP, NOW) - step.at).total_seconds() for step in steps)
    assert held == pytest.approx(whole)


@pytest.mark.django_db
def test_rows_of_clusters_that_were_up(owner):
    kind = factories.coretype()
    times = [(None, None), (NOW - 30 * MINUTE, None), (NOW - 3000 * MINUTE, NOW - 2000 * MINUTE), (NOW - 2000 * MINUTE, NOW - 60 * MINUTE)]
    for up, released in times:
        work = factories.job(owner, coretype=kind, nodes=2, cores=8).workload
        fields = {"token": work.public_id, "backend": kind.backend, "nodes_wanted": 2, "cores": 8, "price": 1, "asked": NOW}
        Cluster.objects.create(workload=work, attempt=1, coretype=kind, up=up, released=released, **fields)
    cores = [step.cores for step in occupied.last_day(NOW)]
    assert (cores[0], cores[-1], max(cores)) == (16, 16, 16)
    assert cores[-4] == 0  # nothing was up between 9:15 and 9:30
