"""Idempotency-Key: what is sent twice is done once, also when both come at the same moment."""

from __future__ import annotations

import threading

import pytest
from django.db import connection

from jobs.models import Once, Workload


def test_a_repeat_gets_the_same_job(me, wanted):
    first, second = (me.post("jobs/", wanted(), Idempotency_Key="abc") for _ in range(2))
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json()["id"] == second.json()["id"]
    assert Workload.objects.count() == 1
    assert me.post("jobs/", wanted(), Idempotency_Key="abd").json()["id"] != first.json()["id"]


def test_the_same_key_with_another_body_is_refused(me, wanted):
    me.post("jobs/", wanted("one"), Idempotency_Key="abc")
    answer = me.post("jobs/", wanted("two"), Idempotency_Key="abc")
    assert answer.status_code == 422
    assert "another body" in answer.json()["detail"][0]
    assert Workload.objects.count() == 1


def test_long_keys_that_begin_alike_are_two(me, wanted):
    for end in "ab":
        assert me.post("jobs/", wanted(), Idempotency_Key="x" * 200 + end).status_code == 201
    assert Workload.objects.count() == 2
    assert me.post("jobs/", wanted(), Idempotency_Key="x" * 256).status_code == 400


def test_what_was_refused_keeps_no_key(me, wanted):
    assert me.post("jobs/", wanted(""), Idempotency_Key="abc").status_code == 400
    assert me.post("jobs/", wanted("beam"), Idempotency_Key="abc").status_code == 201


def test_keys_of_two_people_have_nothing_to_do_with_each_other(me, calls, member, wanted):
    ids = {caller.post("jobs/", wanted(), Idempotency_Key="abc").json()["id"] for caller in (me, calls(member))}
    assert len(ids) == 2


def test_a_repeated_submit_is_answered_after_the_end_too(me, wanted):
    job = me.post("jobs/", wanted()).json()["id"]
    assert me.post(f"jobs/{job}/submit/", Idempotency_Key="s").status_code == 200
    Workload.objects.filter(public_id=job).update(status="completed", outcome="completed")
    assert me.post(f"jobs/{job}/submit/", Idempotency_Key="s").status_code == 200
    assert me.post(f"jobs/{job}/submit/", Idempotency_Key="other").status_code == 409
    assert Workload.objects.get().events.count() == 1


@pytest.mark.django_db(transaction=True)
def test_at_the_same_moment(calls, owner, wanted):
    caller, body, answers = calls(owner), wanted(), []
    gate = threading.Barrier(4)

    def ask():
        gate.wait()
        answers.append(caller.post("jobs/", body, Idempotency_Key="abc"))
        answers.append(caller.post(f"jobs/{answers[-1].json()['id']}/submit/", Idempotency_Key="def"))
        connection.close()

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(answer.status_code for answer in answers) == [200] * 4 + [201] * 4
    assert Workload.objects.count() == 1
    assert Workload.objects.get().events.filter(after="queued").count() == 1
    assert Once.objects.count() == 2
