"""This, else that: a job that names several kinds of hardware starts on the first that can start now."""

from decimal import Decimal

import factories
import playing
import pytest
from django.db.models import ProtectedError

from jobs.models import Budget, Choice, Cluster, Hold, Limit, Workload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("cloud")]


def test_the_first_choice_is_taken_when_it_is_free(owner, queued, turn, granite, basalt):
    work = queued(owner, [(granite, 1, 16), (basalt, 1, 8)])
    turn(work)
    assert (work.status, work.coretype, work.cores, work.choice) == ("validating", granite, 16, 0)
    assert work.events.get(after="validating").detail == "Granite 1 \u00d7 16, choice 1 of 2"


def test_the_second_is_taken_while_the_first_is_full_with_its_own_price(clock, owner, wing, queued, running, turn, granite, basalt):
    budget = factories.budget(wing, 100)
    running(owner, coretype=granite, cores=8, project=wing)
    before = Budget.objects.get(pk=budget.pk).held
    work = queued(owner, [(granite, 1, 16), (basalt, 1, 8)], project=wing)
    turn(work)
    assert (work.status, work.coretype, work.nodes, work.cores, work.choice) == ("validating", basalt, 1, 8, 1)
    assert Hold.objects.get(workload=work).amount == Decimal("2.4")
    assert Budget.objects.get(pk=budget.pk).held - before == Decimal("2.4")
    assert work.events.get(after="validating").detail == (
        "Basalt 1 \u00d7 8, choice 2 of 2. Granite: Needs 16 cores of Granite; 8 free; next in line"
    )
    playing.turn_all(clock, ("validating", "starting"))
    cluster = Cluster.objects.get(workload=work)
    assert (cluster.coretype, cluster.cores, cluster.price) == (basalt, 8, Decimal("0.3"))


def test_a_budget_that_cannot_pay_the_first_may_pay_the_second(owner, wing, queued, turn, granite, basalt):
    factories.budget(wing, "1.0")
    work = queued(owner, [(granite, 1, 16), (granite, 1, 8)], project=wing)
    turn(work)
    assert (work.status, work.cores, work.choice) == ("validating", 8, 1)
    assert Hold.objects.get(workload=work).amount == Decimal("0.8")


def test_a_limit_on_the_first_leads_to_the_second(owner, queued, running, turn, granite, basalt):
    Limit.objects.create(coretype=granite, most_jobs=1)
    running(owner, coretype=granite, cores=1)
    work = queued(owner, [(granite, 1, 8), (basalt, 1, 8)])
    turn(work)
    assert (work.status, work.coretype) == ("validating", basalt)


def test_while_none_is_free_it_says_why_for_each_and_stands_in_the_line_of_the_first(owner, queued, running, turn, granite, basalt):
    running(owner, coretype=granite, cores=16)
    running(owner, coretype=basalt, cores=8)
    work = queued(owner, [(granite, 1, 16), (basalt, 1, 8)])
    small = queued(owner, coretype=granite, cores=1, walltime=7 * 86400)
    turn(work, small)
    assert (work.status, work.coretype, work.choice, work.gate) == ("queued", granite, 0, "capacity")
    assert work.gate_text == "Needs 16 cores of Granite; 0 free; next in line"
    assert [(one["name"], one["code"], one["sentence"]) for one in work.gate_else] == [
        ("Granite 1 \u00d7 16", "capacity", "Needs 16 cores of Granite; 0 free; next in line"),
        ("Basalt 1 \u00d7 8", "capacity", "Needs 8 cores of Basalt; 0 free; next in line"),
    ]
    assert small.gate_text.endswith("1 ahead")


def test_cores_are_kept_free_in_the_line_of_the_first_only(owner, queued, running, turn, granite, basalt):
    running(owner, coretype=granite, cores=8)
    running(owner, coretype=basalt, cores=4)
    big = queued(owner, [(granite, 1, 16), (basalt, 1, 8)])
    here = queued(owner, coretype=granite, cores=8, walltime=7 * 86400)
    there = queued(owner, coretype=basalt, cores=4)
    turn(big, here, there)
    assert (big.status, here.status, here.gate, there.status) == ("queued", "queued", "place", "validating")


def test_economy_work_is_not_interrupted_for_a_job_that_starts_elsewhere(owner, queued, running, turn, granite, basalt):
    cheap, _ = running(owner, coretype=granite, cores=16, economy=True)
    work = queued(owner, [(granite, 1, 16), (basalt, 1, 8)])
    turn(work, cheap)
    assert (work.status, work.coretype, cheap.status) == ("validating", basalt, "running")


def test_a_withdrawn_first_choice_leaves_the_others(owner, queued, running, turn, granite, basalt):
    running(owner, coretype=basalt, cores=8)
    work = queued(owner, [(granite, 1, 16), (basalt, 1, 8)])
    granite.active = False
    granite.save()
    turn(work)
    assert (work.status, work.gate, work.gate_text) == ("queued", "capacity", "Needs 8 cores of Basalt; 0 free; next in line")
    assert work.gate_else[0]["never"]
    basalt.active = False
    basalt.save()
    turn(work)
    assert (work.status, work.reason) == ("failed", "never-starts")


def test_what_the_backend_had_nothing_for_is_passed_over(clock, owner, queued, turn, granite, basalt, cloud):
    cloud.misbehave(create="no capacity", times=1)
    work = queued(owner, [(granite, 1, 8), (basalt, 1, 8)])
    playing.turn_all(clock)
    playing.turn_all(clock, ("stopping",))
    turn(work)
    assert (work.attempt, work.status, work.coretype) == (2, "validating", basalt)


def test_an_interrupted_job_asks_for_its_first_choice_again(clock, owner, queued, running, turn, granite, basalt):
    basalt.economy_price = Decimal("0.05")
    basalt.save()
    full, agents = running(owner, coretype=granite, cores=16)
    cheap, cheap_agents = running(owner, [(granite, 1, 16), (basalt, 1, 8)], economy=True)
    assert cheap.coretype == basalt
    queued(owner, coretype=basalt, cores=8)
    turn(cheap)
    assert cheap.status == "stopping"
    playing.finish(cheap_agents[0], clock, signal=15)
    for _ in range(3):
        clock.forward(2)
        playing.turn_all(clock)
    cheap.refresh_from_db()
    assert (cheap.status, cheap.attempt, cheap.coretype, cheap.cores, cheap.choice) == ("queued", 2, granite, 16, 0)
    assert Cluster.objects.filter(workload=cheap).values_list("coretype", flat=True).get() == basalt.pk


def test_a_clone_asks_for_the_same_choices(owner, queued, running, granite, basalt):
    running(owner, coretype=granite, cores=16)
    work, _ = running(owner, [(granite, 1, 16), (basalt, 1, 8)])
    assert work.coretype == basalt
    copy = work.clone(owner)
    assert (copy.coretype, copy.cores) == (granite, 16)
    assert [(one.coretype, one.nodes, one.cores) for one in copy.choices.all()] == [(granite, 1, 16), (basalt, 1, 8)]


def test_one_choice_is_none(owner, granite):
    work = factories.job(owner, coretype=granite).workload
    work.accept([(granite, 1, 1)])
    assert not Choice.objects.exists()


def test_a_coretype_that_is_somebody_s_other_choice_is_kept(owner, queued, granite, basalt):
    queued(owner, [(granite, 1, 16), (basalt, 1, 8)])
    with pytest.raises(ProtectedError):
        basalt.delete()


def test_a_choice_of_less_of_the_same(owner, queued, running, turn, granite):
    running(owner, coretype=granite, cores=8)
    work = queued(owner, [(granite, 1, 16), (granite, 1, 8)])
    turn(work)
    assert (work.status, work.cores) == ("validating", 8)
    assert Workload.objects.get(pk=work.pk).choice == 1
