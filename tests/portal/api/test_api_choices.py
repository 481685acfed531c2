"""Alternatives of hardware over the API: asked for, refused by name, shown, and why each waits."""

from __future__ import annotations

import factories
import playing
import pytest

from jobs.models import Limit, Workload

WHERE = "jobanalyses.0.hardware.alternatives"


@pytest.fixture
def basalt(kind):
    return factories.coretype(code="basalt", name="Basalt", cores=4, max_nodes=2, price="0.3", walltime_max=3 * 3600)


def hardware(*alternatives, **more):
    return {"coreType": "granite", "coresPerSlot": 8, "walltime": 1, "alternatives": list(alternatives), **more}


def test_they_are_kept_in_order_and_shown(me, basalt, wanted):
    body = wanted(hardware=hardware({"coreType": "basalt"}, {"coreType": {"code": "granite"}, "cores": 2}))
    shown = me.post("jobs/", body).json()
    work = Workload.objects.get(public_id=shown["id"])
    assert [(one.coretype.code, one.nodes, one.cores) for one in work.choices.all()] == [("granite", 1, 8), ("basalt", 2, 4), ("granite", 1, 2)]
    found = shown["jobanalyses"][0]["hardware"]
    assert (found["coreType"], found["choice"]) == ("granite", 0)
    assert found["alternatives"] == [{"coreType": "basalt", "cores": 8, "nodes": 2}, {"coreType": "granite", "cores": 2, "nodes": 1}]
    assert me.post(f"jobs/{work.public_id}/clone/").json()["jobanalyses"][0]["hardware"]["alternatives"] == found["alternatives"]


def test_a_job_without_any_has_none(me, kind, wanted):
    assert me.post("jobs/", wanted(hardware={"coreType": "granite"})).json()["jobanalyses"][0]["hardware"]["alternatives"] == []


@pytest.mark.parametrize(
    ("one", "place", "words"),
    [
        ({"coreType": "basalt", "cores": 9}, f"{WHERE}.0", "at most 2 nodes"),
        ({"coreType": "basalt", "cores": 8, "nodes": 1}, f"{WHERE}.0", "has 4 cores"),
        ({"coreType": "none"}, f"{WHERE}.0.coreType", "no coretype none"),
        ({"coreType": "granite"}, WHERE, "the same"),
        ({"coreType": 5}, f"{WHERE}.0.coreType", "valid string"),
        ({"coreType": {}}, f"{WHERE}.0.coreType.code", "required"),
    ],
)
def test_what_cannot_be_is_named(me, basalt, wanted, one, place, words):
    answer = me.post("jobs/", wanted(hardware=hardware(one)))
    assert answer.status_code == 400
    assert words in answer.json()[place][0]
    assert not Workload.objects.exists()


def test_a_walltime_must_fit_all(me, basalt, wanted):
    answer = me.post("jobs/", wanted(hardware=hardware({"coreType": "basalt"}, walltime=4)))
    assert "At most 3 h on Basalt." in answer.json()[f"{WHERE}.0.coreType"]


def test_a_limit_that_never_lets_it_start(me, kind, wanted):
    Limit.objects.create(most_cores=4)
    answer = me.post("jobs/", wanted(hardware={"coreType": "granite", "coresPerSlot": 8}))
    assert "At most 4 cores at once" in answer.json()["jobanalyses.0.hardware"][0]


def test_a_draft_gets_others(me, basalt, wanted):
    made = me.post("jobs/", wanted(hardware=hardware({"coreType": "basalt"}))).json()
    body = wanted(hardware=hardware({"coreType": "granite", "cores": 4}))
    me("PATCH", f"jobs/{made['id']}/", {"jobanalyses": body["jobanalyses"]})
    found = me.get(f"jobs/{made['id']}/").json()["jobanalyses"][0]["hardware"]["alternatives"]
    assert found == [{"coreType": "granite", "cores": 4, "nodes": 1}]


def test_why_each_waits(me, clock, cloud, monkeypatch, owner, basalt, wanted):
    monkeypatch.setattr(cloud, "pools", {"granite": 8, "basalt": 8})
    works = [me.post("jobs/", wanted(hardware=hardware({"coreType": "basalt"}))).json()["id"] for _ in range(3)]
    for public_id in works:
        me.post(f"jobs/{public_id}/submit/")
        playing.turn_all(clock, ("queued",))
    gates = me.get(f"jobs/{works[2]}/gates/").json()
    held = next(one for one in gates if one["holds"])
    assert [(one["hardware"], one["gate"]) for one in held["choices"]] == [("Granite 1 \u00d7 8", "capacity"), ("Basalt 2 \u00d7 4", "capacity")]
    assert [one["choices"] for one in gates if not one["holds"]] == [[], [], [], []]
    taken = me.get(f"jobs/{works[1]}/").json()["jobanalyses"][0]["hardware"]
    assert (taken["coreType"], taken["choice"], taken["alternatives"]) == ("basalt", 1, [{"coreType": "granite", "cores": 8, "nodes": 1}])
