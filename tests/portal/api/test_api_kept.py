"""What polling clients ask again: two queries while nothing has changed, and never an answer that is older than the job."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from jobs import lifecycle
from jobs.models import Workload
from portal.api.v2.kept import Kept


def test_polls_cost_two_queries_while_nothing_changes(me, jobs):
    path = f"jobs/{jobs['running'].public_id}/statuses/"
    first = me.get(path)
    with CaptureQueriesContext(connection) as asked:
        again = me.get(path)
    assert again.json() == first.json()
    assert again["Content-Type"] == first["Content-Type"] == "application/json; charset=utf-8"
    assert len([one for one in asked if one["sql"].startswith("SELECT")]) == 2


def test_a_change_shows_at_once(me, jobs, owner):
    work = jobs["running"]
    path = f"jobs/{work.public_id}/statuses/"
    assert me.get(path).json()["results"][0]["status"] == "Executing"
    work.stop(owner)
    assert me.get(path).json()["results"][0]["status"] == "Stopping"
    work.stop(owner, force=True)
    assert me.get(path).json()["results"][0]["status"] == "Force Stop"


def test_what_is_kept_is_shown_to_nobody_who_may_not_see_it(me, calls, stranger, member, jobs):
    path = f"jobs/{jobs['running'].public_id}/statuses/"
    assert me.get(path).status_code == 200
    assert calls(stranger).get(path).status_code == 404
    assert calls(member).get(path).status_code == 200
    Workload.objects.filter(pk=jobs["running"].pk).update(project=None)
    assert calls(member).get(path).status_code == 404


def test_create_and_submit_in_few_queries(me, wanted):
    with CaptureQueriesContext(connection) as asked:
        job = me.post("jobs/", wanted()).json()["id"]
        assert me.post(f"jobs/{job}/submit/").status_code == 200
    assert Workload.objects.get(public_id=job).status == lifecycle.QUEUED
    told = [one["sql"].split()[0] for one in asked]
    assert len([word for word in told if word in ("SELECT", "INSERT", "UPDATE", "DELETE")]) <= 20


def test_the_least_recently_asked_for_is_dropped():
    kept, made = Kept(most=2), []

    def make(name):
        def build():
            made.append(name)
            return name.encode()

        return build

    for name in "abacab":
        assert kept.get(name, make(name)) == name.encode()
    assert made == ["a", "b", "c", "b"]


def test_what_fails_to_be_made_is_not_kept():
    kept = Kept()
    with pytest.raises(ZeroDivisionError):
        kept.get("x", lambda: b"" if 1 / 0 else b"")
    assert kept.get("x", lambda: b"now") == b"now"
