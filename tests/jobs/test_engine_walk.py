"""A job's way through the stages on the fake backend, turned by hand."""

from decimal import Decimal

import factories
import playing
import pytest
from playing import submit

from jobs import lifecycle
from jobs.models import Charge, Workload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("cloud")]


def test_a_job_goes_through_five_stages(clock, cloud):
    work = submit(clock)
    assert playing.walk(work, clock) == ["queued", "validating", "starting", "running", "stopping", "completed"]
    assert (work.outcome, work.reason, work.failed_stage) == ("completed", "exit-0", "")
    assert list(cloud.tokens()) == []


def test_a_failed_command_has_its_x_at_running(clock):
    work = submit(clock)
    playing.walk(work, clock, code=3)
    assert (work.status, work.reason, work.failed_stage) == ("failed", "exit-code", lifecycle.RUNNING)
    assert "3" in work.detail


@pytest.mark.parametrize("before", ["queued", "validating", "starting", "running"])
def test_stop_in_every_stage_ends_stopped(clock, cloud, before, wing, owner):
    budget = factories.budget(wing, 100)
    work = submit(clock, owner=owner, project=wing)
    order = ["queued", "validating", "starting", "running"]
    agents = []
    for code in order[: order.index(before)]:
        playing.turn_all(clock, (code,))
        if code == "validating":
            playing.turn_all(clock, ("starting",))
            agents = playing.boot(Workload.objects.get(pk=work.pk), clock) if before == "running" else []
    work.refresh_from_db()
    assert work.status == before
    assert work.stop(owner, now=clock())
    playing.turn_all(clock)
    if agents:
        work.refresh_from_db()
        assert work.status == "stopping"
        playing.finish(agents[0], clock, signal=15, code=None)
    playing.turn_all(clock)
    work.refresh_from_db()
    assert (work.status, work.reason) == ("stopped", "stopped")
    assert list(cloud.tokens()) == []
    budget.refresh_from_db()
    assert budget.held == 0


def test_money_is_charged_by_the_second_and_holds_are_freed(clock, wing, owner):
    budget = factories.budget(wing, 100)
    kind = factories.coretype(price=Decimal("3.6"))
    work = submit(clock, owner=owner, project=wing, coretype=kind, cores=2)
    playing.walk(work, clock)
    cluster = work.clusters.get()
    seconds = -(-(cluster.released - cluster.up).total_seconds() // 1)
    budget.refresh_from_db()
    assert budget.spent == Decimal(2 * seconds) * Decimal("0.001")
    assert budget.held == 0
    assert sum(charge.amount for charge in Charge.objects.all()) == budget.spent


def test_without_money_it_waits_and_says_so(clock, wing, owner):
    budget = factories.budget(wing, "0.50")
    work = submit(clock, owner=owner, project=wing, cores=8)
    playing.turn_all(clock)
    work.refresh_from_db()
    assert (work.status, work.gate) == ("queued", "budget")
    assert "0.80" in work.gate_text
    assert "0.50" in work.gate_text
    budget.amount = 10
    budget.save()
    playing.turn_all(clock)
    work.refresh_from_db()
    assert work.status != "queued"
