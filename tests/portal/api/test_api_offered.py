"""What one may use: coretypes of groups, coretypes for some software, and their limits, as the form has them."""

from __future__ import annotations

import factories
import pytest
from django.contrib.auth.models import Group

from jobs.models import Scope, Software

COMPUTES = "jobanalyses.0.hardware.coreType"


@pytest.fixture
def closed(kind, owner):
    """A coretype of a group that the owner is not in, cheaper than all others."""
    made = factories.coretype(code="closed", name="Closed", price="0.001")
    made.groups.add(Group.objects.create(name="few"))
    return made


def test_a_coretype_of_others_is_refused_in_the_words_of_the_form(me, calls, owner, admin, closed, wanted):
    body = wanted(hardware={"coreType": "closed", "coresPerSlot": 1, "walltime": 1})
    answer = me.post("jobs/", body)
    assert answer.status_code == 400
    assert answer.json() == {COMPUTES: [closed.refuses(owner, Software.objects.get())]}
    assert "not offered to you" in answer.json()[COMPUTES][0]
    assert "closed" not in me.post("jobs/", wanted(hardware={"coreType": "none"})).json()[COMPUTES][0]
    assert me.post("jobs/", wanted(hardware={})).json()["jobanalyses"][0]["hardware"]["coreType"] == "granite", "the cheapest of one's own"
    assert {one["code"] for one in me.get("coretypes/").json()["results"]} == {"granite"}
    assert "closed" not in me.get("analyses/").json()["results"][0]["versions"][0]["allowedCoreTypes"]
    assert {one["coreType"] for one in me.get("billing/computeprices/").json()} == {"granite"}
    assert calls(admin, Scope.ADMIN).post("jobs/", body).status_code == 201
    assert calls(admin, Scope.RUN).post("jobs/", body).status_code == 400, "a token without the admin's rights"
    owner.groups.add(Group.objects.get())
    assert me.post("jobs/", body).status_code == 201


def test_a_coretype_for_other_software_is_refused(me, owner, kind, wanted):
    other = factories.software("lammps").software
    kind.software.add(other)
    said = me.post("jobs/", wanted()).json()
    assert said == {COMPUTES: [kind.refuses(owner, Software.objects.get(code="shell"))]}
    assert me.post("jobs/", wanted(hardware={})).json() == {COMPUTES: ["No hardware is offered to you for Shell."]}
    assert me.get("analyses/?page_size=10").json()["results"][0]["versions"][0]["allowedCoreTypes"] in ([], ["granite"])
    found = {one["code"]: one["versions"][0]["allowedCoreTypes"] for one in me.get("analyses/").json()["results"]}
    assert found == {"shell": [], "lammps": ["granite"]}


def test_a_draft_whose_hardware_was_closed_meanwhile_is_not_submitted(me, owner, kind, wanted):
    job = me.post("jobs/", wanted()).json()["id"]
    kind.groups.add(Group.objects.create(name="few"))
    answer = me.post(f"jobs/{job}/submit/")
    assert (answer.status_code, answer.json()) == (400, {COMPUTES: [kind.refuses(owner, Software.objects.get())]})
    assert me("PATCH", f"jobs/{job}/", {"jobanalyses": wanted()["jobanalyses"]}).status_code == 400


@pytest.mark.parametrize(
    ("hardware", "field", "text"),
    [({"coresPerSlot": 33}, "jobanalyses.0.hardware", "Granite has at most 4 nodes for a job."), ({"coresPerSlot": 9, "nodes": 1}, "jobanalyses.0.hardware", "A node of Granite has 8 cores."),
     ({"walltime": 1000}, "jobanalyses.0.hardware.walltime", "At most 7 days on Granite."), ({"walltime": 0.001}, "jobanalyses.0.hardware.walltime", "In hours, at least 1 minute.")],
)  # fmt: skip
def test_limits_of_a_coretype_are_said_as_the_form_says_them(me, wanted, hardware, field, text):
    assert me.post("jobs/", wanted(hardware={"coreType": "granite", **hardware})).json() == {field: [text]}
