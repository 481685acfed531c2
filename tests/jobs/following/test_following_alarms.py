"""The alarm at the first NaN, the rule that ends such a job, and what explodes while it is read."""

import playing
import pytest

from jobs import following, gateway, judging
from jobs.apart import Children

PIPE = ("openfoam-nan-in-pipe", "openfoam", "blockMesh > log.blockMesh && icoFoam 2>&1 | tee log.icoFoam")


def diverging(start, rule: bool):
    run = start(*PIPE)
    run.job.__class__.objects.filter(pk=run.work.pk).update(stop_when_diverging=rule)
    run.write("stdout", run.recorded("log.icoFoam"))
    assert run.follow() == 1
    return run


def test_a_nan_raises_the_alarm_once(start):
    run = diverging(start, rule=False)
    alarm = run.progress["alarm"]
    assert alarm["diverging"]
    assert alarm["line"] > 0
    run.write("stdout", b"Time = 99\n\n")
    run.follow()
    events = run.work.events.filter(reason="alarm")
    assert events.count() == 1
    assert alarm["message"] in events.get().detail


def test_without_the_rule_it_goes_on(start):
    run = diverging(start, rule=False)
    playing.turn_all(run.clock)
    run.work.refresh_from_db()
    assert run.work.status == "running"


def test_with_the_rule_it_is_stopped_and_says_where_and_what_is_kept(start):
    run = diverging(start, rule=True)
    version = gateway.orders(run.agents[0], run.clock())["version"]
    playing.turn_all(run.clock, ("running",))
    run.work.refresh_from_db()
    orders = gateway.orders(run.agents[0], run.clock())
    assert (run.work.status, run.work.wish, orders["wish"]) == ("stopping", "run", "stop")
    assert orders["version"] > version
    gateway.exited(run.agents[0], {"code": 143, "why": "wish", "clock": run.clock().timestamp()}, run.clock())
    gateway.done(run.agents[0], {"files": 3, "bytes": 100}, run.clock())
    playing.turn_all(run.clock)
    run.work.refresh_from_db()
    assert (run.work.status, run.work.outcome, run.work.reason) == ("stopped", "stopped", "stopped-by-rule")
    assert run.work.detail.startswith("It diverged at ")
    assert run.work.detail.endswith(" 3 files saved.")
    assert run.job.verdict == "diverged"


def test_a_person_who_stops_first_is_the_reason(start):
    run = diverging(start, rule=True)
    assert run.work.stop(run.work.owner, now=run.clock())
    run.to_the_end(code=143, why="wish")
    assert run.work.reason == "stopped"


@pytest.fixture
def narrow(monkeypatch):
    """Children that have no room for anything."""
    tight = Children(1, 4 << 20)
    monkeypatch.setattr(following, "children", tight)
    monkeypatch.setattr(judging, "children", tight)
    yield
    tight.end()


def test_what_explodes_is_said_and_harms_nothing(start, narrow):
    run = start("calculix-plastic-bar", "calculix", "ccx -i bar > bar.log")
    run.write("bar.sta", run.recorded("bar.sta"))
    assert run.follow() == 1
    assert run.progress["trouble"]
    run.write("stdout", run.recorded("bar.log"))
    work = run.to_the_end(code=0)
    assert work.status == "completed"
    assert (run.job.verdict, run.job.verdict_detail["reason"].split(".")[0]) == ("unknown", "The result could not be judged")


def test_a_verdict_comes_from_what_is_stored(start):
    run = start("calculix-plastic-bar", "calculix", "ccx -i bar")
    run.write("stdout", run.recorded("bar.log"))
    run.to_the_end(code=0)
    assert run.job.verdict in ("converged", "finished", "incomplete")
    assert run.job.verdict_detail["reason"]
