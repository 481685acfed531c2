"""Every page of a job in every status: it renders, says what is true, and only to those who may see it."""

from __future__ import annotations

import re
from datetime import timedelta

import factories
import pytest
import scenes
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from jobs import lifecycle
from jobs.models import Cluster, Workload
from portal import fragments
from portal.presenters import stages, waiting
from portal.presenters.facts import Facts

PAGES = ["", "output/", "files/", "health/", "timeline/", "settings/"]
SEEN = ["", "output/", "files/", "health/", "health/data/", "timeline/", "settings/", "files/zip/", "files/0/", "files/0/view/"]
CHANGED = ["stop/", "delete/", "archive/", "submit/"]


def text_of(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def kinds(work: Workload) -> list[str]:
    return [str(kind) for _, kind in stages.standing(Facts(Workload.objects.get(pk=work.pk)))]


@pytest.mark.django_db
@pytest.mark.parametrize("tab", PAGES)
def test_page_renders_in_every_status(signed, jobs, tab):
    for name, work in jobs.items():
        answer = signed.get(f"/jobs/{work.public_id}/{tab}")
        assert answer.status_code == 200, name
        html = answer.content.decode()
        assert work.name in html
        assert "style=" not in html
        assert "<script>" not in html.replace("&lt;script&gt;", "")


@pytest.mark.django_db
def test_fragments_have_one_root_each_and_the_page_has_all_of_them(signed, jobs, owner):
    for work in jobs.values():
        html = signed.get(f"/jobs/{work.public_id}/").content.decode()
        pushed = fragments.render(work, owner, "status")
        ids = re.findall(r'id="(job-\w{6}-\w+)"[^>]*hx-swap-oob', pushed)
        assert len(ids) == len(fragments.JOB_PAGES["status"])
        assert all(f'id="{one}"' in html for one in ids)
        assert "csrfmiddlewaretoken" not in pushed


@pytest.mark.django_db
def test_stages_of_each_status(jobs):
    assert kinds(jobs["queued"]) == ["waiting", "not yet", "not yet", "not yet", "not yet"]
    assert kinds(jobs["starting"]) == ["passed", "passed", "working", "not yet", "not yet"]
    assert kinds(jobs["running"]) == ["passed", "passed", "passed", "working", "not yet"]
    assert kinds(jobs["completed"]) == ["passed"] * 5
    assert kinds(jobs["failed"]) == ["passed", "passed", "passed", "failed", "passed"]
    assert kinds(jobs["refused"]) == ["passed", "failed", "skipped", "skipped", "skipped"]
    assert kinds(jobs["stopped"]) == ["passed", "passed", "passed", "stopped", "passed"]
    assert kinds(jobs["draft"]) == ["not yet"] * 5


@pytest.mark.django_db
def test_input_refused_in_the_queue_has_the_cross_at_validating_and_queued_skipped(owner):
    work = scenes.job(owner, lifecycle.FAILED, end=lifecycle.QUEUED, reason="findings", failed=lifecycle.VALIDATING)
    assert kinds(work) == ["skipped", "failed", "skipped", "skipped", "skipped"]


@pytest.mark.django_db
def test_failure_is_explained_with_its_last_lines(signed, jobs):
    said = text_of(signed.get(f"/jobs/{jobs['failed'].public_id}/").content.decode())
    assert "Failed in Running Job" in said
    assert "used more memory than the cluster has" in said
    assert "coretype with more memory" in said
    assert "factoring 2,918,406 equations" in said


@pytest.mark.django_db
def test_all_findings_are_listed(signed, jobs):
    said = text_of(signed.get(f"/jobs/{jobs['refused'].public_id}/").content.decode())
    assert "did you mean deck.inp?" in said
    assert "byte-order mark" in said
    assert "deck.inp line 1" in said


@pytest.mark.django_db
def test_completed_says_that_exit_0_is_no_proof(signed, jobs):
    said = text_of(signed.get(f"/jobs/{jobs['completed'].public_id}/").content.decode())
    assert "Exit 0 is no proof of a good result" in said
    assert "Converged" in text_of(signed.get(f"/jobs/{jobs['converged'].public_id}/").content.decode())


@pytest.mark.django_db
def test_queued_says_which_gate_holds(signed, jobs):
    work = jobs["queued"]
    Workload.objects.filter(pk=work.pk).update(gate="capacity", gate_text="Needs 8 cores of Granite; 2 free; 1 job ahead", gate_since=timezone.now())
    said = text_of(signed.get(f"/jobs/{work.public_id}/").content.decode())
    assert "Needs 8 cores of Granite; 2 free; 1 job ahead" in said
    assert "Waiting for capacity" in said
    assert "/help/#stage-queued" in signed.get(f"/jobs/{work.public_id}/").content.decode()


@pytest.mark.django_db
def test_stopping_tells_step_by_step(jobs):
    work = Workload.objects.get(pk=jobs["stop asked"].pk)
    first = waiting.stopping(Facts(work))
    assert [step.word for step in first.steps] == ["Stop asked for", "Command ending", "Files to save", "Nodes to hand back"]
    assert first.steps[1].next == work.wished_at + timedelta(seconds=60)
    Cluster.objects.filter(workload=work).update(exited=timezone.now(), exit={"code": 143, "signal": 15})
    second = waiting.stopping(Facts(Workload.objects.get(pk=work.pk)))
    assert [step.word for step in second.steps] == ["Stop asked for", "Command ended", "Files being saved", "Nodes to hand back"]
    Cluster.objects.filter(workload=work).update(saved=timezone.now(), releasing=timezone.now())
    third = waiting.stopping(Facts(Workload.objects.get(pk=work.pk)))
    assert [step.word for step in third.steps] == ["Stop asked for", "Command ended", "Files saved", "Nodes being handed back"]


@pytest.mark.django_db
def test_nothing_is_called_ended_while_the_command_lives(jobs):
    work = jobs["stopping"]
    work.stop(work.owner)
    Cluster.objects.filter(workload=work).update(exited=None, exit={})
    says = {row.code: row.says.text for row in stages.rows(Facts(Workload.objects.get(pk=work.pk)))}
    assert says["running"] == "The command is being told to end"
    assert says["stopping"].startswith("The command is ending")


@pytest.mark.django_db
def test_node_not_heard_may_be_stuck(jobs):
    work = jobs["running"]
    scenes.beat(work, ago=120)
    row = next(row for row in stages.rows(Facts(work)) if row.current)
    assert (row.word, row.tone) == ("May be stuck", "look")
    assert "last heard" in row.says.more


@pytest.mark.django_db
def test_running_says_how_far_it_is_and_what_alarms(jobs):
    job = jobs["running"].job
    job.progress = {"attempt": 1, "text": "increment 14 of 40", "percent": 35.0}
    job.save()
    says = next(row for row in stages.rows(Facts(Workload.objects.get(pk=job.pk))) if row.current).says
    assert (says.text, says.bar) == ("increment 14 of 40", 35.0)
    job.progress |= {"alarm": {"message": "The residual grows.", "diverging": True}}
    job.save()
    row = next(row for row in stages.rows(Facts(Workload.objects.get(pk=job.pk))) if row.current)
    assert (row.says.text, row.word, row.tone) == ("The residual grows.", "Needs a look", "look")
    job.progress["attempt"] = 7
    job.save()
    assert next(row for row in stages.rows(Facts(Workload.objects.get(pk=job.pk))) if row.current).says.text == "The command runs"


@pytest.mark.django_db
def test_staging_shows_files_and_bytes(jobs):
    row = next(row for row in stages.rows(Facts(jobs["starting"])) if row.current)
    assert row.says.text == "1 of 1 node up, 1 of 3 files staged"
    assert row.says.more == "1.0 GiB of 4.0 GiB"
    assert row.says.bar == 25


@pytest.mark.django_db
def test_hostile_name_is_text_everywhere(signed, owner, wing):
    name = "x'; <script>alert(1)</script> {{7*7}} \U0001f680"
    work = scenes.job(owner, lifecycle.RUNNING, name, project=wing)
    scenes.log(work, "<img src=x onerror=alert(1)>\n</pre><script>alert(2)</script>\n")
    for page in ["/jobs/", *(f"/jobs/{work.public_id}/{page}" for page in [*PAGES, "stop/"])]:
        html = signed.get(page).content.decode()
        assert "<script>alert" not in html
        assert "<img src=x" not in html
        assert "&lt;script&gt;alert(1)&lt;/script&gt; {{7*7}}" in html


@pytest.mark.django_db
@pytest.mark.parametrize("tab", SEEN)
def test_who_sees_a_page(jobs, member, stranger, admin, as_user, tab):
    address = f"/jobs/{jobs['completed'].public_id}/{tab}"
    assert as_user(member).get(address).status_code == 200
    assert as_user(admin).get(address).status_code == 200
    assert as_user(stranger).get(address).status_code == 404
    assert Client().get(address)["Location"].startswith("/signin/")


@pytest.mark.django_db
@pytest.mark.parametrize("tab", CHANGED)
def test_who_changes_a_job(jobs, member, stranger, as_user, tab):
    address = f"/jobs/{jobs['completed'].public_id}/{tab}"
    assert as_user(member).post(address).status_code == 403
    assert as_user(stranger).post(address).status_code == 404
    assert Client().post(address)["Location"].startswith("/signin/")
    assert Workload.objects.filter(pk=jobs["completed"].pk, archived=False).exists()


@pytest.mark.django_db
@pytest.mark.parametrize("tab", ["submit/", "clone/", "resubmit/", "archive/"])
def test_a_get_changes_nothing(signed, jobs, tab):
    assert signed.get(f"/jobs/{jobs['completed'].public_id}/{tab}").status_code == 405


# --- the list ---------------------------------------------------------------------------------------------------------
@pytest.mark.django_db
def test_list_shows_filters_and_searches(signed, jobs):
    assert signed.get("/jobs/").content.decode().count('id="job-') >= 2 * len(jobs)
    only = signed.get("/jobs/?status=failed").content.decode()
    assert "beam-failed" in only
    assert "beam-completed" not in only
    assert "beam-converged" in signed.get("/jobs/?q=CONVERG").content.decode()
    assert "beam-failed" in signed.get(f"/jobs/?q={jobs['failed'].public_id}").content.decode()
    assert "No job is like that" in signed.get("/jobs/?q=nothing-like-it%00").content.decode()
    assert "beam-running" in signed.get("/jobs/?view=active").content.decode()
    assert "beam-failed" not in signed.get("/jobs/?view=active").content.decode()


@pytest.mark.django_db
def test_list_narrows_to_what_one_may_see_anyhow(jobs, as_user, owner, member, stranger, admin, wing):
    own = factories.job(stranger, name="of-a-stranger", project=wing).workload
    factories.job(stranger, name="stranger-alone")
    listed = lambda user, query: set(re.findall(r'id="job-(\w{6})-row"', as_user(user).get(f"/jobs/?{query}").content.decode()))  # noqa: E731
    of_the_project = {work.public_id for work in jobs.values()} | {own.public_id}
    assert listed(member, f"project={wing.code}") == listed(admin, f"project={wing.code}") == of_the_project
    assert listed(stranger, f"project={wing.code}") == {own.public_id}
    assert listed(stranger, f"view=mine&project={wing.code}") == {own.public_id}
    assert listed(member, "view=mine") == listed(member, f"view=mine&project={wing.code}") == listed(owner, "project=nothing") == set()
    assert len(listed(stranger, "view=mine")) == 2


@pytest.mark.django_db
def test_twice_as_many_rows_cost_no_further_question(signed, jobs, owner, wing, monkeypatch):
    monkeypatch.setattr("portal.views.jobs.PAGE", 100)

    def asked(query):
        with CaptureQueriesContext(connection) as caught:
            assert signed.get(f"/jobs/{query}").status_code == 200
        return len([one for one in caught if one["sql"].startswith("SELECT")])

    Workload.objects.filter(pk=jobs["queued"].pk).update(gate="limits", gate_text="At a limit")
    before = [asked(query) for query in ("", "?view=active", "?status=completed", "?q=beam")]
    again = scenes.all_of_them(owner, wing)
    Workload.objects.filter(pk=again["queued"].pk).update(gate="place", gate_text="Third in line")
    assert [asked(query) for query in ("", "?view=active", "?status=completed", "?q=beam")] == before
    assert max(before) <= 20


@pytest.mark.django_db
def test_list_pages_by_key_without_gap_or_double(signed, owner):
    kind = factories.coretype()
    names = [factories.job(owner, name=f"n{number:03}", coretype=kind).workload.public_id for number in range(60)]
    seen, address, pages = [], "/jobs/", 0
    while address:
        html = signed.get(address).content.decode()
        seen += re.findall(r'id="job-(\w{6})-row"', html)
        older = re.search(r'href="([^"]+)" rel="next"', html)
        address, pages = (f"/jobs/{older[1].replace('&amp;', '&')}" if older else ""), pages + 1
    assert seen == names[::-1]
    assert pages == 3
    newer = re.search(r'href="([^"]+)" rel="prev"', html)
    assert newer is not None
    back = signed.get(f"/jobs/{newer[1].replace('&amp;', '&')}").content.decode()
    assert re.findall(r'id="job-(\w{6})-row"', back) == names[::-1][25:50]


@pytest.mark.django_db
def test_first_visit_offers_the_sample(as_user, stranger):
    html = as_user(stranger).get("/jobs/").content.decode()
    assert "Use the plate sample" in html


@pytest.mark.django_db
def test_rows_are_rendered_for_those_who_may_see_them(jobs, stranger, member):
    ids = [jobs["running"].public_id, jobs["failed"].public_id]
    assert fragments.render_rows(ids, stranger) == ""
    assert fragments.render_rows(ids, member).count("hx-swap-oob") == 2


@pytest.mark.django_db
def test_counts_are_exact_up_to_a_limit_and_then_an_estimate(signed, owner, monkeypatch):
    from portal.views import counting

    kind = factories.coretype()
    for _ in range(4):
        factories.job(owner, coretype=kind)
    assert counting.counted(Workload.objects.visible_to(owner)) == "4"
    monkeypatch.setattr(counting, "EXACT", 3)
    assert counting.counted(Workload.objects.visible_to(owner)).startswith(("over 3", "about "))
