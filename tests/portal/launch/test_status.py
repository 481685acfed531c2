"""`manage.py status` and /health/: what is said, and when it counts as healthy."""

from __future__ import annotations

import json
import os
from datetime import timedelta
from decimal import Decimal

import factories
import pytest
from django.core.management import call_command
from django.db import DatabaseError
from django.utils import timezone

from jobs import lifecycle
from jobs.models import Cluster, Hold, Stray, Turn, Workload
from portal.launch import record
from portal.standing import standing

from .conftest import manage

pytestmark = pytest.mark.django_db
FIELDS = {"healthy", "reasons", "version", "processes", "sweep_age", "workloads", "clusters_up", "unknown_machines", "holds"}


def swept(ago: float = 1.0) -> None:
    Turn.objects.update_or_create(name="sweep", defaults={"last": timezone.now() - timedelta(seconds=ago)})


@pytest.fixture
def running(tmp_path):
    """The data folder of an `up` that is this very process."""
    (tmp_path / "run").mkdir()
    record.write(tmp_path / "run", [record.Entry("up", os.getpid(), 1_700_000_000.0, record.start_time(os.getpid()))])
    return tmp_path


def test_healthy_when_somebody_sweeps(running):
    swept()
    found = standing(timezone.now(), running)
    assert (found.healthy, found.reasons) == (True, [])
    assert found.processes == [{"name": "up", "pid": os.getpid(), "since": "2023-11-14T22:13:20+00:00"}]
    assert found.as_dict().keys() == FIELDS


def test_not_healthy_when_nobody_sweeps(running):
    assert standing(timezone.now(), running).reasons == ["nobody has looked after the workloads yet"]
    swept(ago=45)
    assert standing(timezone.now(), running).reasons == ["nobody has looked after the workloads for 45 s"]


def test_a_number_that_went_to_another_process_is_not_ours(running):
    swept()
    entries = [*record.read(running / "run"), record.Entry("web", os.getpid(), 1.0, 1)]
    record.write(running / "run", entries)
    found = standing(timezone.now(), running)
    assert found.reasons == ["web is dead"]
    assert [each["name"] for each in found.processes] == ["up"]


def test_not_running_is_said(tmp_path):
    swept()
    assert standing(timezone.now(), tmp_path).reasons == ["it is not running; start it with `manage.py up`"]


def test_counts_by_the_words_that_people_see(running, owner):
    work = factories.job(owner).workload
    for status in (lifecycle.RUNNING, lifecycle.COMPLETED, lifecycle.COMPLETED):
        Workload.objects.filter(pk=factories.job(owner).workload.pk).update(status=status)
    budget = factories.budget()
    now = timezone.now()
    Hold.objects.create(budget=budget, workload=work, attempt=1, amount=Decimal("1.25"), made=now)
    Hold.objects.create(budget=budget, workload=work, attempt=2, amount=Decimal(3), made=now, released=now)
    Stray.objects.create(backend="fake", token="x", first_seen=now, last_seen=now)
    Cluster.objects.create(workload=work, attempt=1, token="t", secret_hash="", backend="fake", coretype=work.coretype, nodes_wanted=1,
                           cores=1, price=0, asked=now, up=now)
    found = standing(now, running)
    assert found.workloads == {"draft": 1, "running job": 1, "completed": 2}
    assert (found.clusters_up, found.unknown_machines, Decimal(found.holds)) == (1, 1, Decimal("1.25"))


def test_health_answers_anybody(client):
    assert client.get("/health/").status_code == 503
    swept()
    answer = client.get("/health/")
    assert answer.status_code == 200
    assert answer.json().keys() == {"healthy", "version", "reasons", "sweep_age", "active"}


def test_health_says_so_when_the_database_is_away(client, monkeypatch):
    from django.db import OperationalError

    from portal import standing as module

    def away(now):
        raise OperationalError("no such host db.internal")

    monkeypatch.setattr(module, "sweep_age", away)
    answer = client.get("/health/")
    assert (answer.status_code, answer.json()["reasons"]) == (503, ["the database does not answer"])
    assert "db.internal" not in answer.text


def test_a_folder_that_is_not_there_stays_not_there(tmp_path):
    done = manage(tmp_path / "none", "status", "--data", str(tmp_path / "none"), "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["healthy"] is False
    assert not (tmp_path / "none").exists()


def test_a_database_that_is_not_the_portals_is_named_with_the_way_out(monkeypatch, capsys, settings):
    def empty(*_):
        raise DatabaseError("no such table: jobs_turn")

    monkeypatch.setattr("portal.management.commands.status.standing", empty)
    with pytest.raises(SystemExit):
        call_command("status")
    said = capsys.readouterr().out
    assert f"data folder {settings.DATA_DIR}; --data names another" in said and "no such table" in said


def test_workstations_are_counted_by_their_statuses(running):
    swept()
    for status in (lifecycle.ACTIVE, lifecycle.SUSPENDED, lifecycle.SUSPENDED):
        factories.workstation(status=status)
    assert standing(timezone.now(), running).workloads == {"active": 1, "suspended": 2}
