"""`up` at another address says so to whoever has clusters that look for the old one."""

from __future__ import annotations

import factories
import pytest
from django.utils import timezone

from jobs import lifecycle
from jobs.models import Cluster
from portal.launch import former

OLD, NEW = "http://127.0.0.1:8000", "http://127.0.0.1:8001"


@pytest.fixture
def cluster(owner, wing):
    work = factories.job(owner, project=wing, status=lifecycle.RUNNING).workload
    token = "hr1-job-aBcDeF-1"
    return Cluster.objects.create(
        workload=work,
        attempt=1,
        token=token,
        backend="fake",
        coretype=work.coretype,
        cores=1,
        nodes_wanted=1,
        price=1,
        asked=timezone.now(),
    )


@pytest.mark.django_db
def test_the_first_address_and_the_same_again_are_nothing_to_say(tmp_path, cluster):
    assert former.moved(tmp_path, OLD) == ""
    assert former.moved(tmp_path, OLD) == ""


@pytest.mark.django_db
def test_another_address_is_said_while_clusters_are_up(tmp_path, cluster):
    former.moved(tmp_path, OLD)
    words = former.moved(tmp_path, NEW)
    assert words == f"1 cluster looks for its portal at {OLD}, but it is at {NEW} now: start it there again, or they are given up as lost"


@pytest.mark.django_db
def test_without_clusters_another_address_is_nobodys_concern(tmp_path, cluster):
    former.moved(tmp_path, OLD)
    Cluster.objects.update(released=timezone.now())
    assert former.moved(tmp_path, NEW) == ""


def test_an_address_for_agents_that_was_set_stays(settings):
    settings.AGENT_URL = ""
    assert former.address("0.0.0.0", 8123) == "http://127.0.0.1:8123"  # noqa: S104
    settings.AGENT_URL = "https://portal.example.org"
    assert former.address("0.0.0.0", 8123) == "https://portal.example.org"  # noqa: S104
