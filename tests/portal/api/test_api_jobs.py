"""Jobs by the API: made, sent off, stopped, changed, found again."""

from __future__ import annotations

from decimal import Decimal

import factories
import pytest
import scenes

from jobs import lifecycle
from jobs.models import ApiToken, AuditEntry, Scope, Workload


def refusals(answer):
    """The body of a refusal, held to its shape."""
    found = answer.json()
    assert found
    assert all(isinstance(texts, list) and texts and all(isinstance(text, str) for text in texts) for texts in found.values()), found
    return found


def test_low_priority_is_economy_where_that_is_offered(me, wanted):
    assert not me.post("jobs/", {**wanted(), "isLowPriority": True}).json()["isLowPriority"]
    factories.coretype(code="cheap", economy_price=Decimal("0.04"))
    body = wanted(hardware={"coreType": "cheap"})
    made = me.post("jobs/", {**body, "billingPriorityValue": "ON_DEMAND"}).json()
    assert made["isLowPriority"]
    assert not me.post("jobs/", {**body, "billingPriorityValue": "INSTANT"}).json()["isLowPriority"]
    assert not me("PATCH", f"jobs/{made['id']}/", {"isLowPriority": False}).json()["isLowPriority"]
    assert {one["code"]: one["lowPriorityPrice"] for one in me.get("coretypes/").json()["results"]} == {"granite": 0.1, "cheap": 0.04}


def test_a_job_is_made_with_all_that_was_asked_for(me, wanted, owner, wing):
    file = me.upload("deck.inp", b"*NODE\n").json()
    body = wanted("beam 1", command="echo a\r\necho b", inputFiles=[{"id": file["id"]}], envVars={"A": "1"},
                  hardware={"coreType": {"code": "granite"}, "coresPerSlot": 16, "slots": 1, "walltime": 0.5})
    made = me.post("jobs/", {**body, "description": "Bends.", "isLowPriority": False, "unknown": 1})
    assert made.status_code == 201
    found = me.get(f"jobs/{made.json()['id']}/").json()
    assert (found["name"], found["description"], found["isLowPriority"], found["projectId"]) == ("beam 1", "Bends.", False, wing.code)
    one = found["jobanalyses"][0]
    assert one["command"] == "echo a\necho b"
    assert one["envVars"] == {"A": "1"}
    assert one["inputFiles"] == [{"id": file["id"], "name": "deck.inp", "decompress": False}]
    assert (one["hardware"]["coresPerSlot"], one["hardware"]["nodes"], one["hardware"]["walltime"]) == (16, 2, 0.5)
    assert found["jobStatus"] == {"content": "Pending"}


@pytest.mark.parametrize(("change", "field"), [
    ({"name": ""}, "name"), ({"name": " "}, "name"), ({"name": "a\nb"}, "name"), ({"name": "a\0b"}, "name"), ({"name": "x" * 10_000}, "name"),
    ({"name": None}, "name"), ({"name": "\ud800"}, "name"), ({"description": "\0"}, "description"), ({"projectId": "nobody"}, "projectId"),
    ({"projectId": "\0"}, "projectId"), ({"jobanalyses": []}, "jobanalyses"), ({"jobanalyses": 7}, "jobanalyses"),
])
def test_a_wrong_value_is_named(me, wanted, change, field):
    answer = me.post("jobs/", {**wanted(), **change})
    assert answer.status_code == 400
    assert field in refusals(answer)
    assert not Workload.objects.exists()


@pytest.mark.parametrize(("change", "field"), [
    ({"command": " \n"}, "command"), ({"command": "a\0"}, "command"), ({"command": "\udfff"}, "command"), ({"analysis": {"code": "nothing"}}, "analysis"),
    ({"analysis": {"code": "shell", "version": "9"}}, "analysis"), ({"hardware": {"coreType": "onyx"}}, "hardware.coreType"),
    ({"hardware": {"coresPerSlot": 10**7}}, "hardware"), ({"hardware": {"coresPerSlot": 10**40}}, "hardware.coresPerSlot"),
    ({"hardware": {"walltime": -1}}, "hardware.walltime"), ({"hardware": {"walltime": float("nan")}}, "hardware.walltime"),
    ({"hardware": {"walltime": float("inf")}}, "hardware.walltime"), ({"hardware": {"walltime": 1e308}}, "hardware.walltime"),
    ({"hardware": {"walltime": 1e-9}}, "hardware.walltime"), ({"hardware": {"slots": 0}}, "hardware.slots"),
    ({"inputFiles": [{"id": "aaaaaa"}]}, "inputFiles.0"), ({"inputFiles": [{"id": "\0"}]}, "inputFiles.0.id"),
    ({"envVars": {"A B": "1"}}, "envVars"), ({"envVars": {"HEADRACE_TOKEN": "1"}}, "envVars"), ({"envVars": {"A": "\0"}}, "envVars.A"),
])
def test_a_wrong_value_inside_is_named_with_its_place(me, wanted, change, field):
    answer = me.post("jobs/", wanted(**change))
    assert answer.status_code == 400
    assert f"jobanalyses.0.{field}" in ", ".join(refusals(answer))


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"7", b"\xff\xfe", b"[" * 100_000, b'{"name":' + b"1" * 5000 + b"}", b"name=beam", b'{"name": NaN}', b'{"\\ud800": 1}'])
def test_what_is_no_job_is_refused(me, body):
    answer = me("POST", "jobs/", body)
    assert answer.status_code == 400
    refusals(answer)
    form = me("POST", "jobs/", body, **{"Content-Type": "multipart/form-data"})
    assert form.status_code == 400
    refusals(form)


def test_two_inputs_of_one_name_and_a_foreign_file(me, calls, wanted, stranger):
    ids = [me.upload("a.inp", data).json()["id"] for data in (b"1", b"2")]
    assert "Two inputs" in str(me.post("jobs/", wanted(inputFiles=[{"id": one} for one in ids])).json())
    foreign = calls(stranger).upload("b.inp", b"3").json()["id"]
    assert me.post("jobs/", wanted(inputFiles=[{"id": foreign}])).status_code == 400


def test_submitting_twice_runs_once(me, wanted):
    job = me.post("jobs/", wanted()).json()["id"]
    first, second = me.post(f"jobs/{job}/submit/"), me.post(f"jobs/{job}/submit/")
    assert (first.status_code, second.status_code) == (200, 200)
    assert first.json() == {"id": job, "status": "Queued"}
    events = Workload.objects.get(public_id=job).events
    assert events.filter(after=lifecycle.QUEUED).count() == 1
    assert AuditEntry.objects.filter(action="submit").count() == 1


def test_what_is_over_is_neither_submitted_nor_stopped_again(me, jobs):
    for name in ("completed", "failed", "stopped"):
        for verb in ("submit", "stop"):
            answer = me.post(f"jobs/{jobs[name].public_id}/{verb}/")
            assert answer.status_code == 409
            refusals(answer)
    assert me.post(f"jobs/{jobs['draft'].public_id}/stop/").status_code == 409


def test_stop_is_a_wish_and_force_an_extra(me, jobs):
    job = jobs["running"]
    assert me.post(f"jobs/{job.public_id}/stop/").json()["wish"] == "stop"
    assert me.post(f"jobs/{job.public_id}/stop/").status_code == 202
    assert me.post(f"jobs/{job.public_id}/stop/", {"force": True}).json()["wish"] == "force stop"
    job.refresh_from_db()
    assert job.wish == lifecycle.Wish.FORCE_STOP
    assert me.post(f"jobs/{jobs['starting'].public_id}/runs/1/stop/").status_code == 200


def test_who_may_what(me, calls, jobs, stranger, member, owner, admin):
    job = jobs["running"].public_id
    lesser = {"stranger": calls(stranger), "member": calls(member), "read": calls(owner, Scope.READ), "bad": calls(owner)}
    lesser["bad"].text = "hr_nothing"
    codes = {name: (one.get(f"jobs/{job}/").status_code, one.post(f"jobs/{job}/stop/").status_code) for name, one in lesser.items()}
    assert codes == {"stranger": (404, 404), "member": (200, 403), "read": (200, 403), "bad": (401, 401)}
    assert calls(admin, Scope.RUN).get(f"jobs/{job}/").status_code == 404, "a token that does not carry the admin's rights"
    assert calls(admin, Scope.RUN).get("jobs/").json()["count"] == 0
    assert calls(admin, Scope.ADMIN).get(f"jobs/{job}/").status_code == 200
    assert calls(admin, Scope.RUN).get("installation/").status_code == 403
    assert calls(admin, Scope.ADMIN).get("installation/").status_code == 200


@pytest.mark.parametrize("header", ["", "Token", "Token ", "Basic abc", "Token \xe9\xff", "Bearer x", "hr_something"])
def test_a_bad_header_is_401_and_says_how(owner, header):
    from django.test import Client

    client = Client()
    client.force_login(owner)
    answer = client.get("/api/v2/", headers={"Authorization": header})
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == "Token"
    refusals(answer)


def test_a_token_ends_and_says_when_it_was_used(owner, calls):
    from datetime import timedelta

    from django.utils import timezone

    caller = calls(owner)
    assert caller.get("").status_code == 200
    token = ApiToken.objects.get()
    assert token.last_used
    assert token.last_from == "127.0.0.1"
    ApiToken.objects.update(expires=timezone.now() - timedelta(seconds=1))
    assert caller.get("").status_code == 401
    ApiToken.objects.update(expires=None)
    owner.is_active = False
    owner.save()
    assert caller.get("").status_code == 401


def test_a_browser_needs_its_csrf_token(owner, jobs):
    from django.test import Client

    client = Client(enforce_csrf_checks=True)
    client.force_login(owner)
    assert client.get("/api/v2/jobs/").status_code == 200
    assert client.post(f"/api/v2/jobs/{jobs['running'].public_id}/stop/").status_code == 403


def test_lists_are_filtered_by_the_words_of_the_statuses(me, jobs):
    def names(query):
        return {job["name"] for job in me.get(f"jobs/?page_size=100&{query}").json()["results"]}

    for word in ("PENDING", "QUEUED", "STARTED", "VALIDATED", "EXECUTING", "STOPPING", "FORCE_STOP", "COMPLETED", "WAITING_FOR_CLUSTER"):
        found = me.get(f"jobs/?page_size=100&job_status={word}").json()["results"]
        assert all(job["jobStatus"]["content"].upper().replace(" ", "_") == word for job in found), word
        assert {job["id"] for job in found} == {job["id"] for job in me.get("jobs/?page_size=100").json()["results"]
                                                if job["jobStatus"]["content"].upper().replace(" ", "_") == word}
    assert names("state=completed") == {"beam-completed", "beam-converged", "beam-failed", "beam-refused", "beam-stopped"}
    assert names("state=completed") | names("state=not_completed") == names("")
    assert names("search=CONV") == {"beam-converged"}
    assert me.get("jobs/?state=other").status_code == me.get("jobs/?job_status=other").status_code == 400


def test_lists_page_by_key_in_both_directions(me, owner, kind):
    made = [factories.job(owner, name=f"job {number}", coretype=kind).workload.public_id for number in range(7)][::-1]
    first = me.get("jobs/?page_size=3").json()
    assert (first["count"], first["previous"]) == (7, None)
    seen, page = [job["id"] for job in first["results"]], first
    while page["next"]:
        page = me.get(page["next"].partition("/api/v2/")[2]).json()
        seen += [job["id"] for job in page["results"]]
    assert seen == made
    back = me.get(page["previous"].partition("/api/v2/")[2]).json()
    assert [job["id"] for job in back["results"]] == made[3:6]
    assert [job["id"] for job in me.get("jobs/?page_size=3&page=3").json()["results"]] == made[6:]
    assert me.get("jobs/?page=99").json()["results"] == []
    for wrong in ("page_size=0", "page_size=x", "page=-1", "after=" + "9" * 40):
        refusals(me.get(f"jobs/?{wrong}"))


def test_a_list_costs_as_many_queries_for_fifty_jobs_as_for_two(me, owner, wing, kind, django_assert_max_num_queries):
    for number in range(50):
        scenes.job(owner, lifecycle.RUNNING, f"job {number}", project=wing, coretype=kind)
    me.get("jobs/")
    with django_assert_max_num_queries(6):
        assert len(me.get("jobs/?page_size=50").json()["results"]) == 50


def test_counts_beyond_ten_thousand_are_an_estimate(me, owner, kind, monkeypatch):
    from portal.api.v2 import paging

    monkeypatch.setattr(paging, "EXACT", 4)
    for number in range(12):
        factories.job(owner, name=f"job {number}", coretype=kind)
    assert me.get("jobs/").json()["count"] == 12


def test_a_draft_changes_and_a_job_keeps_what_it_ran_with(me, wanted, jobs, owner):
    job = me.post("jobs/", wanted()).json()["id"]
    other = factories.project(owner, name="Tail")
    changed = me("PATCH", f"jobs/{job}/", {"name": "new", "projectId": other.code, "description": "d", "jobanalyses": wanted(command="false")["jobanalyses"]})
    assert changed.status_code == 200
    assert (changed.json()["name"], changed.json()["projectId"], changed.json()["jobanalyses"][0]["command"]) == ("new", other.code, "false")
    over = jobs["completed"].public_id
    assert me("PATCH", f"jobs/{over}/", {"name": "renamed"}).json()["name"] == "renamed"
    assert me("PATCH", f"jobs/{over}/", {"projectId": other.code}).status_code == 409
    assert me("PATCH", f"jobs/{over}/", wanted(command="other")).status_code == 409
    assert me("PUT", f"jobs/{over}/", me.get(f"jobs/{over}/").json()).status_code == 200, "what was read can be written back"


def test_deleting_what_runs_is_refused_and_what_is_over_goes(me, jobs):
    for status in (lifecycle.QUEUED, lifecycle.RUNNING, lifecycle.STOPPING):
        answer = me("DELETE", f"jobs/{jobs[status].public_id}/")
        assert answer.status_code == 409
        assert jobs[status].row.label in str(refusals(answer))
    for name in ("completed", "draft"):
        assert me("DELETE", f"jobs/{jobs[name].public_id}/").status_code == 204
        assert me.get(f"jobs/{jobs[name].public_id}/").status_code == 404


def test_inputs_go_along_when_that_is_asked_for(me, wanted):
    keep, go = (me.upload(name, b"x").json()["id"] for name in ("keep", "go"))
    one = me.post("jobs/", wanted(inputFiles=[{"id": keep}, {"id": go}])).json()["id"]
    me.post("jobs/", wanted(inputFiles=[{"id": keep}]))
    assert me("DELETE", f"files/{go}/").status_code == 409
    assert one in str(me("DELETE", f"files/{go}/").json())
    assert me("DELETE", f"jobs/{one}/?deleteInputFiles=true").status_code == 204
    assert [me.get(f"files/{key}/").status_code for key in (keep, go)] == [200, 404]


def test_tags_and_own_fields(me, calls, wanted, member):
    job = me.post("jobs/", wanted()).json()["id"]
    assert me.post(f"jobs/{job}/tags/", {"name": " Wing Study "}).json() == {"name": "Wing Study", "normalizedName": "wing study"}
    assert me.post(f"jobs/{job}/tags/", {"name": "wing study"}).json()["name"] == "Wing Study"
    assert me.get(f"jobs/{job}/tags/").json()["count"] == 1
    assert [one["id"] for one in me.get("jobs/?tag=WING%20STUDY").json()["results"]] == [job]
    for wrong in ({}, {"name": ""}, {"name": " "}, {"name": "\0"}, {"name": "x" * 81}):
        refusals(me.post(f"jobs/{job}/tags/", wrong))
    assert calls(member).post(f"jobs/{job}/tags/", {"name": "x"}).status_code == 403
    assert me("DELETE", f"jobs/{job}/tags/Wing%20study/").status_code == 204
    assert me("DELETE", f"jobs/{job}/tags/?name=nothing").status_code == 404
    set_ = me.post(f"jobs/{job}/custom-fields/", {"angle": 3.5, "who": "Ann", "ok": True})
    assert set_.json()["angle"] == {"meta": {"type": "number"}, "value": 3.5}
    assert set(me.post(f"jobs/{job}/custom-fields/", {"who": None}).json()) == {"angle", "ok"}
    for wrong in ({"a": "\0"}, {"a\0": "x"}, {"a": float("nan")}, {"a": [1]}, {"": 1}, [1]):
        refusals(me.post(f"jobs/{job}/custom-fields/", wrong))


def test_sharing_says_who_sees_it(me, jobs, member, stranger):
    job = jobs["running"].public_id
    assert me.post(f"jobs/{job}/share/", {"email": "member", "message": "look"}).json() == {"recipient": "member", "supportDesk": False}
    assert "add them" in str(refusals(me.post(f"jobs/{job}/share/", {"email": "stranger"})))


def test_addresses_that_are_not_there(me, jobs):
    job = jobs["running"].public_id
    for path in ("nothing/", "jobs", f"jobs/{job}", f"jobs/{job}/nothing/", f"jobs/{job}%00/", "jobs/aaaaaa/", f"jobs/{job}/runs/2/", "files/%00/", "files/aaaaaa-1-0/"):
        answer = me.get(path)
        assert answer.status_code == 404, path
        refusals(answer)
    answer = me("DELETE", "jobs/")
    assert answer.status_code == 405
    refusals(answer)
    assert me.get("jobs/?search=%00").status_code == 400


def test_a_clone_is_a_new_draft(me, calls, jobs, member):
    made = me.post(f"jobs/{jobs['completed'].public_id}/clone/")
    assert made.status_code == 201
    assert made.json()["headraceStatus"] == "Draft"
    assert calls(member).post(f"jobs/{jobs['completed'].public_id}/clone/").status_code == 201, "members look and clone"
