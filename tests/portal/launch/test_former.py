"""`up` at another address says so to whoever has clusters that look for the old one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import factories
import pytest

from jobs import lifecycle
from jobs.models import Cluster
from portal.launch import former

OLD, NEW = "http://127.0.0.1:8000", "http://127.0.0.1:8001"
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
SAID = f"1 cluster looks for its portal at {OLD}, but it is at {NEW} now: start it there again, or they are given up as lost"


def later(minutes: int) -> datetime:
    return NOON + timedelta(minutes=minutes)


@pytest.fixture
def started(owner, wing):
    """Starts a cluster so many minutes after noon."""

    def start(minutes: int) -> Cluster:
        work = factories.job(owner, project=wing, status=lifecycle.RUNNING).workload
        known = {"backend": "fake", "coretype": work.coretype, "cores": 1, "nodes_wanted": 1, "price": 1}
        return Cluster.objects.create(workload=work, attempt=1, token=f"hr1-job-{work.public_id}-1", asked=later(minutes), **known)

    return start


@pytest.mark.django_db
def test_the_first_address_and_the_same_again_are_nothing_to_say(tmp_path, started):
    started(1)
    assert former.moved(tmp_path, OLD, NOON) == ""
    assert former.moved(tmp_path, OLD, later(2)) == ""


@pytest.mark.django_db
def test_another_address_is_said_while_clusters_are_up(tmp_path, started):
    former.moved(tmp_path, OLD, NOON)
    cluster = started(1)
    assert former.moved(tmp_path, NEW, later(2)) == SAID
    assert former.moved(tmp_path, NEW, later(3)) == SAID
    Cluster.objects.filter(pk=cluster.pk).update(released=later(4))
    assert former.moved(tmp_path, NEW, later(5)) == ""


@pytest.mark.django_db
def test_back_at_the_old_address_only_what_began_elsewhere_is_missed(tmp_path, started):
    former.moved(tmp_path, OLD, NOON)
    started(1)
    former.moved(tmp_path, NEW, later(2))
    assert former.moved(tmp_path, OLD, later(3)) == ""
    former.moved(tmp_path, NEW, later(4))
    started(5)
    assert former.moved(tmp_path, NEW, later(6)) == SAID


def test_an_address_for_agents_that_was_set_stays(settings):
    settings.AGENT_URL = ""
    assert former.address("0.0.0.0", 8123) == "http://127.0.0.1:8123"  # noqa: S104
    settings.AGENT_URL = "https://portal.example.org"
    assert former.address("0.0.0.0", 8123) == "https://portal.example.org"  # noqa: S104


@pytest.mark.django_db
def test_agents_on_this_machine_are_told_by_a_file(tmp_path, started):
    former.moved(tmp_path, OLD, NOON)
    started(1)
    Cluster.objects.update(backend="local")
    assert former.moved(tmp_path, NEW, later(2)) == ""
