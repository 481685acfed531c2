"""Submit, stop, force stop, clone, resubmit, archive, delete: what they do, and that it is written down."""

from __future__ import annotations

import pytest
import scenes
from django.test import Client
from django.utils import timezone

from jobs import lifecycle, logs
from jobs.models import AuditEntry, Charge, Cluster, StoredFile, Workload


@pytest.mark.django_db
def test_stop_asks_then_stops(signed, jobs):
    work = jobs["running"]
    asked = signed.get(f"/jobs/{work.public_id}/stop/").content.decode()
    assert "All files of the job folder are saved" in asked
    assert Workload.objects.get(pk=work.pk).wish == "run"
    assert signed.post(f"/jobs/{work.public_id}/stop/")["Location"] == f"/jobs/{work.public_id}/"
    assert Workload.objects.get(pk=work.pk).wish == "stop"
    assert AuditEntry.objects.get().action == "stop"


@pytest.mark.django_db
def test_force_stop_names_what_would_be_lost(signed, jobs):
    work = jobs["running"]
    signed.post(f"/jobs/{work.public_id}/stop/")
    asked = signed.get(f"/jobs/{work.public_id}/stop/?force=1", headers={"HX-Request": "true"}).content.decode()
    assert "result.dat" in asked
    assert "4.0 MiB" in asked
    assert "deck.inp" not in asked
    assert "<html" not in asked
    signed.post(f"/jobs/{work.public_id}/stop/", {"force": "1"})
    assert Workload.objects.get(pk=work.pk).wish == "force stop"
    assert [entry.action for entry in AuditEntry.objects.order_by("pk")] == ["stop", "force stop"]


@pytest.mark.django_db
def test_stop_of_what_is_over_changes_nothing(signed, jobs):
    signed.post(f"/jobs/{jobs['completed'].public_id}/stop/")
    assert Workload.objects.get(pk=jobs["completed"].pk).wish == "run"
    assert not AuditEntry.objects.exists()


@pytest.mark.django_db
def test_forms_need_their_token(jobs, owner):
    client = Client(enforce_csrf_checks=True)
    client.force_login(owner)
    assert client.post(f"/jobs/{jobs['running'].public_id}/stop/").status_code == 403
    assert Workload.objects.get(pk=jobs["running"].pk).wish == "run"


@pytest.mark.django_db
def test_clone_opens_a_draft_in_the_form(as_user, member, jobs):
    browser = as_user(member)
    address = browser.post(f"/jobs/{jobs['failed'].public_id}/clone/")["Location"]
    draft = Workload.objects.latest("pk")
    assert address == f"/jobs/new/?draft={draft.public_id}"
    assert (draft.status, draft.owner, draft.job.commands) == (lifecycle.DRAFT, member, jobs["failed"].job.commands)
    html = browser.get(address).content.decode()
    assert "deck.inp" in html
    assert "python3 solve.py deck.inp | tee log" in html


@pytest.mark.django_db
def test_resubmit_twice_is_one_job(signed, jobs):
    work = jobs["failed"]
    first = signed.post(f"/jobs/{work.public_id}/resubmit/", {"key": "again-1"})["Location"]
    second = signed.post(f"/jobs/{work.public_id}/resubmit/", {"key": "again-1"})["Location"]
    assert first == second
    assert Workload.objects.latest("pk").status == lifecycle.QUEUED


@pytest.mark.django_db
def test_htmx_is_told_where_to_go(signed, jobs):
    answer = signed.post(f"/jobs/{jobs['failed'].public_id}/clone/", headers={"HX-Request": "true"})
    assert answer.status_code == 204
    assert answer["HX-Redirect"].startswith("/jobs/new/?draft=")


@pytest.mark.django_db
def test_archive_and_back(signed, jobs):
    work = jobs["completed"]
    signed.post(f"/jobs/{work.public_id}/archive/", {"archived": "1"})
    assert work.public_id not in signed.get("/jobs/").content.decode()
    assert work.public_id in signed.get("/jobs/?view=archived").content.decode()
    signed.post(f"/jobs/{work.public_id}/archive/", {"archived": "0"})
    assert work.public_id in signed.get("/jobs/").content.decode()


@pytest.mark.django_db
def test_delete_takes_outputs_and_logs_and_leaves_the_ledger(signed, jobs, money, folders):
    work = jobs["completed"]
    cluster = Cluster.objects.get(workload=work)
    Charge.objects.create(budget=money, workload=work, label=work.name, attempt=1, amount="0.01", cores=1, price="0.1",
                          start=cluster.up, end=cluster.released, made=cluster.released)
    asked = signed.get(f"/jobs/{work.public_id}/delete/").content.decode()
    assert "4 output files" in asked
    signed.post(f"/jobs/{work.public_id}/delete/")
    assert not Workload.objects.filter(pk=work.pk).exists()
    assert not logs.attempt_dir(work.public_id, 1).exists()
    assert not list((folders / "files" / "outputs").rglob("pack*"))
    assert Charge.objects.get().label == work.name
    assert AuditEntry.objects.get().action == "delete"


@pytest.mark.django_db
def test_a_delete_tells_only_of_inputs_that_are_still_in_my_files(signed, owner, jobs):
    work = jobs["completed"]
    work.job.inputs.all().delete()
    address, uses = f"/jobs/{work.public_id}/delete/", [work.job.inputs.create(file=scenes.file(owner, name, b"x"), name=name) for name in "ab"]
    assert "Its 2 input files stay in My files." in signed.get(address).content.decode()
    StoredFile.objects.filter(pk=uses[0].file.pk).update(deleted=timezone.now())
    assert "Its 1 input file stays in My files." in signed.get(address).content.decode()
    work.job.inputs.all().delete()
    assert "My files." not in signed.get(address).content.decode()


@pytest.mark.django_db
def test_what_runs_is_not_deleted(signed, jobs):
    signed.post(f"/jobs/{jobs['running'].public_id}/delete/")
    assert Workload.objects.filter(pk=jobs["running"].pk).exists()


@pytest.mark.django_db
def test_submit_of_a_draft(signed, owner, wing):
    draft = scenes.job(owner, lifecycle.DRAFT, project=wing)
    signed.post(f"/jobs/{draft.public_id}/submit/")
    signed.post(f"/jobs/{draft.public_id}/submit/")
    assert Workload.objects.get(pk=draft.pk).status == lifecycle.QUEUED
    assert AuditEntry.objects.filter(action="submit").count() == 1
