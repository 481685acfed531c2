"""Stories of money and of what a second click does: races for one hour, prices that change, waiting for money, deleting what runs."""

from __future__ import annotations

import threading

import pytest

from tests.e2e.promises import budgets_agree, nothing_left
from tests.e2e.real_portal import Work, until

PRICE = 0.05


def in_parallel(call, count):
    """What each of `count` calls at once returned."""
    found = []
    threads = [threading.Thread(target=lambda: found.append(call())) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    return found


@pytest.mark.parametrize("round", range(2))
def test_ten_submits_at_once_against_money_for_one_start_one(portal, round):
    poor = portal.person(f"poor{round}")
    portal.run(f"Budget.objects.filter(name='poor{round}').update(amount='0.08')")
    drafts = [poor.draft("sleep 10", f"one of ten {number}") for number in range(10)]
    waiting = iter(list(drafts))
    answers = in_parallel(lambda: poor.api.post(f"/jobs/{next(waiting)}/submit/").status_code, 10)
    assert answers == [200] * 10
    works = [Work(poor, draft) for draft in drafts]
    until(lambda: len(_left_queue(works)) == 1 and _waiting_for_money(works) == 9)
    assert float(poor.api.get("/budgets/").json()["results"][0]["left"]) >= 0
    for work in works:
        gates = work.person.api.get(f"/jobs/{work.id}/gates/").json()
        assert work in _left_queue(works) or [gate["gate"] for gate in gates if gate["holds"]] == ["budget"]
    (started,) = _left_queue(works)
    for work in works:
        if work is not started:  # the money of the one that runs would go to the next
            assert work.stop() == 202
            assert work.ends()["headraceStatus"] == "Stopped"
    assert started.ends()["headraceStatus"] == "Completed"
    assert _left_queue(works) == [started]
    nothing_left(works)
    budgets_agree(portal)


def _left_queue(works):
    return [work for work in works if any(after == "validating" for _, after, *_ in work.events)]


def _waiting_for_money(works):
    return sum(work.portal.value("select gate from jobs_workload where id = ?", work.key) == "budget" for work in works)


def test_a_job_without_money_waits_and_starts_by_itself_when_money_comes(portal):
    poor = portal.person("waiter")
    portal.run("Budget.objects.filter(name='waiter').update(amount='0.01')")
    work = poor.submit("echo paid", "waits for money")
    until(lambda: work.look()["waitsFor"] and "0.05" in work.look()["waitsFor"])
    assert work.status == "Queued"
    until(lambda: work.portal.value("select gate from jobs_workload where id = ?", work.key) == "budget")
    portal.run("b = Budget.objects.get(name='waiter'); b.amount = 10; b.save()")
    assert work.ends()["headraceStatus"] == "Completed"
    nothing_left([work])


def test_a_price_that_changes_while_a_job_runs_is_not_the_jobs_price(portal, engineer):
    portal.run(
        "local = Coretype.objects.get(code='local')\n"
        "dear = Coretype.objects.create(code='dear', name='Dear', region=local.region, backend='local', cores=2, memory=1 << 32, price=2)"
    )
    before = engineer.submit("echo started; sleep 3", "old price", core="dear")
    before.says(b"started")
    portal.run("dear.price = 20; dear.save()")
    after = engineer.submit("true", "new price", core="dear")
    for work, price in ((before, 2), (after, 20)):
        assert work.ends()["headraceStatus"] == "Completed"
        charges = work.portal.rows("select price, amount from jobs_charge where workload_id = ?", work.key)
        assert {charge[0] for charge in charges} == {price * 1_000_000}
    assert float(before.look()["cost"]) == sum(c for _, c in portal.rows("select price, amount from jobs_charge where workload_id = ?", before.key)) / 1e6
    nothing_left([before, after])


def test_the_same_submit_twice_is_one_job_if_it_says_so(engineer):
    body = {"name": "twice", "jobanalyses": [{"analysis": {"code": "shell"}, "command": "echo once", "hardware": {"coresPerSlot": 1}}]}
    keyed = in_parallel(lambda: engineer.api.post("/jobs/", json=body, headers={"Idempotency-Key": "k-1"}).json()["id"], 5)
    assert len(set(keyed)) == 1
    plain = in_parallel(lambda: engineer.api.post("/jobs/", json=body).json()["id"], 2)
    assert len(set(plain)) == 2
    work = Work(engineer, keyed[0])
    codes = in_parallel(lambda: engineer.api.post(f"/jobs/{work.id}/submit/").status_code, 5)
    assert set(codes) <= {200, 409}
    assert 200 in codes
    assert work.ends()["headraceStatus"] == "Completed"
    assert work.log() == b"once\n"
    assert sum(after == "queued" for before, after, *_ in work.events if before != after) == 1
    nothing_left([work])


def test_what_runs_or_is_used_cannot_be_deleted(portal, engineer):
    file = engineer.upload("used.txt", b"used")
    work = engineer.submit("echo on; sleep 1000", "runs", inputs=[file])
    work.says(b"on")
    assert engineer.api.delete(f"/jobs/{work.id}/").status_code == 409
    assert engineer.api.delete(f"/files/{file}/").status_code == 409
    for what in ("Project.objects.get(code='wing')", "User.objects.get(username='engineer')", "Coretype.objects.get(code='local')", "Budget.objects.get(project__code='wing')"):
        refusal = portal.run(f"from django.db.models import ProtectedError\ntry:\n    {what}.delete()\nexcept ProtectedError as error: print('protected')")
        assert refusal == "protected", what
    assert work.status == "Running Job"
    work.stop()
    assert work.ends()["headraceStatus"] == "Stopped"
    spent = portal.value("select sum(amount) from jobs_charge where workload_id = ?", work.key)
    nothing_left([work])
    assert spent > 0
    charges = portal.value("select count(*) from jobs_charge")
    assert engineer.api.delete(f"/jobs/{work.id}/").status_code == 204
    assert engineer.api.get(f"/jobs/{work.id}/").status_code == 404
    assert portal.value("select count(*) from jobs_charge") == charges
    assert engineer.api.delete(f"/files/{file}/").status_code == 204


def test_a_job_that_never_had_a_machine_is_charged_nothing(engineer):
    broken = engineer.submit("cat not-there.inp", "findings")
    assert broken.ends()["failedStage"] == "Validating Input"
    blocker = engineer.submit("echo on; sleep 1000", "takes all", hardware={"coresPerSlot": 8})
    blocker.says(b"on")
    waits = engineer.submit("true", "waits for cores")
    until(lambda: waits.look()["waitsFor"])
    waits.stop()
    assert waits.ends()["headraceStatus"] == "Stopped"
    blocker.stop()
    blocker.ends()
    for work in (broken, waits):
        assert work.look()["cost"] in ("0", "0.000000")
        assert work.portal.value("select count(*) from jobs_charge where workload_id = ?", work.key) == 0
    nothing_left([broken, waits, blocker])
