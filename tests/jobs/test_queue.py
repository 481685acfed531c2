"""The queue: fair shares, economy work that gives way, what would start a job now, warnings, more time."""

from datetime import timedelta
from decimal import Decimal

import factories
import playing
import pytest

from jobs import gauging, lifecycle, requests, scheduling, walltimes
from jobs.models import Budget, Charge, Hold, Request, Workload
from jobs.scheduling import fair
from jobs.stages import queued as stage

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("cloud")]


def queued(clock, owner=None, **fields):
    work = factories.job(owner, **fields).workload
    assert work.submit(work.owner, clock())
    return Workload.objects.get(pk=work.pk)


def running(clock, owner=None, **fields):
    work = queued(clock, owner, **fields)
    playing.turn_all(clock, ("queued", "validating", "starting"))
    agents = playing.boot(Workload.objects.get(pk=work.pk), clock)
    playing.turn_all(clock, ("starting",))
    work.refresh_from_db()
    assert work.status == lifecycle.RUNNING
    return work, agents


@pytest.fixture
def granite(cloud, monkeypatch):
    """A pool of 16 cores, with an economy price."""
    monkeypatch.setattr(cloud, "pools", {"": 16})
    gauging.forget()
    return factories.coretype(cores=16, economy_price=Decimal("0.02"), walltime_max=7 * 86400)


# --- order ------------------------------------------------------------------------------------------------------------
def test_a_project_with_a_thousand_jobs_does_not_shut_out_the_first_of_another(clock, owner, stranger):
    many, one = factories.project(owner), factories.project(stranger)
    kind = factories.coretype()
    works = [
        Workload(pk=at, owner=owner, project=many, coretype=kind, cores=8, walltime=60, submitted=clock() + timedelta(seconds=at))
        for at in range(1000)
    ]
    late = Workload(pk=2000, owner=stranger, project=one, coretype=kind, cores=8, walltime=60, submitted=clock() + timedelta(seconds=1100))
    order = fair.in_turn([*works, late], {})
    assert 2 <= order.index(late) < 10
    assert [work.pk for work in order if work is not late] == list(range(1000))


def test_priority_goes_before_a_fair_share_and_age_wins_in_the_end(clock, owner, stranger):
    a, b = factories.project(owner), factories.project(stranger)
    kind = factories.coretype()
    high = Workload(pk=1, owner=owner, project=a, coretype=kind, walltime=60, priority=5, submitted=clock())
    old = Workload(pk=2, owner=owner, project=a, coretype=kind, walltime=60, submitted=clock() - fair.MOST - timedelta(seconds=1))
    new = Workload(pk=3, owner=stranger, project=b, coretype=kind, walltime=60, submitted=clock())
    assert fair.in_turn([high, old, new], {fair.side_of(old): 100_000}) == [high, old, new]
    young = Workload(pk=4, owner=owner, project=a, coretype=kind, walltime=60, submitted=clock() - timedelta(seconds=30))
    assert fair.in_turn([young, new], {fair.side_of(young): 1}) == [new, young]


# --- economy ----------------------------------------------------------------------------------------------------------
def test_economy_work_pays_its_own_price(clock, owner, wing, granite):
    budget = factories.budget(wing, 100)
    work, _ = running(clock, owner, project=wing, coretype=granite, cores=10, economy=True)
    budget.refresh_from_db()
    assert (work.cluster.price, budget.held) == (Decimal("0.02"), Decimal("0.2"))


def test_economy_work_gives_way_and_starts_again(clock, owner, wing, granite, cloud):
    budget = factories.budget(wing, 100)
    cheap, agents = running(clock, owner, project=wing, coretype=granite, cores=16, economy=True)
    clock.forward(100)
    urgent = queued(clock, owner, project=wing, coretype=granite, cores=8)
    playing.turn_all(clock, ("queued",))
    cheap.refresh_from_db()
    urgent.refresh_from_db()
    assert (cheap.status, cheap.again, cheap.restarts) == ("stopping", "uncounted", 1)
    assert urgent.gate_more == "Cores for it are being freed"
    playing.finish(agents[0], clock, signal=15)
    for _ in range(4):
        clock.forward(2)
        playing.turn_all(clock)
    cheap.refresh_from_db()
    urgent.refresh_from_db()
    assert urgent.status in ("starting", "validating")
    assert (cheap.status, cheap.attempt, cheap.tries, cheap.economy) == ("queued", 2, 0, True)
    spent = Charge.objects.filter(workload=cheap).values_list("price", flat=True)
    budget.refresh_from_db()
    assert set(spent) == {Decimal("0.02")}
    assert 0 < budget.spent < Decimal("0.02")  # 16 cores for about 100 seconds, nothing more
    assert cheap.events.filter(reason="interrupted").exists()


def test_the_last_time_it_starts_on_demand_and_is_left_alone(clock, owner, wing, granite):
    factories.budget(wing, 100)
    cheap, agents = running(clock, owner, project=wing, coretype=granite, cores=16, economy=True)
    Workload.objects.filter(pk=cheap.pk).update(restarts=4)
    urgent = queued(clock, owner, project=wing, coretype=granite, cores=8)
    playing.turn_all(clock, ("queued",))
    cheap.refresh_from_db()
    assert (cheap.status, cheap.restarts, cheap.economy) == ("stopping", 5, False)
    urgent.stop(owner)
    playing.finish(agents[0], clock, signal=15)
    for _ in range(6):
        clock.forward(2)
        playing.turn_all(clock)
    cheap.refresh_from_db()
    assert cheap.status == "starting"
    assert cheap.cluster.price == granite.price


def test_economy_work_is_not_interrupted_for_nothing(clock, owner, wing, granite):
    running(clock, owner, project=wing, coretype=granite, cores=10)
    cheap, _ = running(clock, owner, project=wing, coretype=granite, cores=4, economy=True)
    queued(clock, owner, project=wing, coretype=granite, cores=8)
    queued(clock, owner, project=wing, coretype=granite, cores=4, economy=True)
    playing.turn_all(clock, ("queued",))
    cheap.refresh_from_db()
    assert cheap.status == "running"


# --- offers -----------------------------------------------------------------------------------------------------------
def test_fewer_cores_and_another_coretype_are_offered_and_do_start_it(clock, owner, wing, granite, cloud):
    running(clock, owner, project=wing, coretype=granite, cores=8)
    work = queued(clock, owner, project=wing, coretype=granite, cores=16)
    playing.turn_all(clock, ("queued",))
    work.refresh_from_db()
    found = scheduling.offers(work, clock())
    assert [one.sentence for one in found] == ["8 instead of 16 cores: they are free now"]
    assert work.ask_for(owner, clock(), **found[0].fields)
    playing.turn_all(clock, ("queued",))
    work.refresh_from_db()
    assert work.status == "validating"
    assert not work.ask_for(owner, clock(), cores=1)


def test_who_is_not_the_first_in_line_is_offered_no_cores(clock, owner, wing, granite):
    running(clock, owner, project=wing, coretype=granite, cores=8)
    queued(clock, owner, project=wing, coretype=granite, cores=16)
    clock.forward(1)
    second = queued(clock, owner, project=wing, coretype=granite, cores=16)
    playing.turn_all(clock, ("queued",))
    second.refresh_from_db()
    assert scheduling.offers(second, clock()) == []


def test_another_project_s_money_is_offered(clock, owner, wing, granite):
    factories.budget(wing, 0)
    rich = factories.project(owner, name="Rib")
    factories.budget(rich, 120)
    work = queued(clock, owner, project=wing, coretype=granite, cores=8)
    playing.turn_all(clock, ("queued",))
    work.refresh_from_db()
    found = scheduling.offers(work, clock())
    assert ("Project Rib has €120.00 left", {"project_id": rich.pk}) in [(one.sentence, one.fields) for one in found]


# --- the end of the walltime ------------------------------------------------------------------------------------------
def test_warnings_come_once_30_and_5_minutes_before_the_end(clock, owner, granite):
    work, _ = running(clock, owner, coretype=granite, cores=8, walltime=7200)
    assert walltimes.warn(clock.forward(5000)) == 0
    assert (walltimes.warn(clock.forward(500)), walltimes.warn(clock.forward(1))) == (1, 0)
    assert (walltimes.warn(clock.forward(1420)), walltimes.warn(clock.forward(1))) == (1, 0)
    texts = list(work.events.filter(reason="walltime-soon").values_list("detail", flat=True))
    assert [text.split(" left")[0] for text in texts] == ["28 min", "5 min"]


def test_a_short_walltime_is_no_news_before_its_second_half(clock, owner, granite):
    work, _ = running(clock, owner, coretype=granite, cores=8, walltime=600)
    assert (walltimes.warn(clock.forward(200)), walltimes.warn(clock.forward(110))) == (0, 1)
    assert walltimes.warn(clock.forward(100)) == 0
    assert [text.split(" left")[0] for text in work.events.filter(reason="walltime-soon").values_list("detail", flat=True)] == ["5 min"]


def test_a_longer_walltime_is_asked_of_the_backend_and_told_to_the_agents(clock, owner, granite, cloud):
    work, _ = running(clock, owner, coretype=granite, cores=8, walltime=3600)
    cluster = work.cluster
    until = cluster.walltime_until + timedelta(hours=1)
    Request.ask(Request.Kind.EXTEND, cluster, owner, until)
    assert Request.ask(Request.Kind.EXTEND, cluster, owner, until).pk == Request.objects.get().pk
    assert requests.carry_out(clock()) == 1
    work.refresh_from_db()
    assert (work.cluster.walltime_until, work.walltime, work.cluster.orders) == (until, 7200, cluster.orders + 1)
    assert ("extend", (cluster.token, until)) in cloud.calls
    assert work.events.filter(reason="longer-walltime", by=owner).exists()


def test_more_time_for_what_is_over_changes_nothing(clock, owner, granite):
    work, agents = running(clock, owner, coretype=granite, cores=8)
    Request.ask(Request.Kind.EXTEND, work.cluster, owner, work.cluster.walltime_until + timedelta(hours=1))
    playing.finish(agents[0], clock)
    assert requests.carry_out(clock()) == 1
    assert "over or stopping" in Request.objects.get().answer


@pytest.mark.parametrize("who", ["owner", "member", "stranger"])
def test_the_pages_of_a_waiting_and_a_running_job(client, clock, request, owner, wing, granite, who):
    user = request.getfixturevalue(who)
    runs, _ = running(clock, owner, project=wing, coretype=granite, cores=8)
    waits = queued(clock, owner, project=wing, coretype=granite, cores=16)
    playing.turn_all(clock, ("queued",))
    client.force_login(user)
    offer = {"offer": "8 instead of 16 cores: they are free now"}
    allowed = who == "owner"
    client.get(f"/jobs/{waits.public_id}/")  # asks for the check of what could be offered
    playing.turn_all(clock, ("queued",))
    page = client.get(f"/jobs/{waits.public_id}/")
    assert (offer["offer"] in page.content.decode()) == allowed
    answers = client.post(f"/jobs/{waits.public_id}/offer/", offer), client.post(f"/jobs/{runs.public_id}/extend/", {"more": "30 min"})
    waits.refresh_from_db()
    assert {answer.status_code for answer in answers} == ({302} if allowed else {403} if who == "member" else {404})
    assert (waits.cores, Request.objects.count()) == ((8, 1) if allowed else (16, 0))


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("soon", "no length of time"),
        ("-1 h", "negative"),
        ("300 d", "At most"),
        ("2 h", "has not enough left: that takes \u20ac1.60, and the \u20ac0.40 free pay 30 min"),
    ],
)
def test_more_time_that_cannot_be_is_said(client, clock, owner, wing, granite, more, words):
    budget = factories.budget(wing, "1.2")
    runs, _ = running(clock, owner, project=wing, coretype=granite, cores=8)
    assert Budget.objects.get(pk=budget.pk).left < 1
    client.force_login(owner)
    answer = client.post(f"/jobs/{runs.public_id}/extend/", {"more": more})
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not Request.objects.exists()


def test_a_coretype_without_economy_price_says_so(clock, owner):
    work = queued(clock, owner, coretype=factories.coretype(), economy=True)
    playing.turn_all(clock, ("queued",))
    work.refresh_from_db()
    assert (work.status, "no economy price" in work.detail) == ("failed", True)


# --- what changes while it is decided about ----------------------------------------------------------------------------
def test_what_asks_for_other_hardware_meanwhile_starts_with_the_money_for_that(clock, owner, monkeypatch):
    project = factories.project(owner)
    factories.budget(project)
    work = queued(clock, owner, project=project, cores=1)
    decide = scheduling.decide

    def decided(*given, **named):
        found = decide(*given, **named)
        monkeypatch.setattr(scheduling, "decide", decide)
        Workload.objects.filter(pk=work.pk).update(cores=2)
        return found

    monkeypatch.setattr(scheduling, "decide", decided)
    assert stage.turn(clock()) == 0, "nothing of that pass counts"
    assert not Hold.objects.exists() and Budget.objects.get().held == 0
    assert stage.turn(clock()) == 1
    work.refresh_from_db()
    assert Hold.objects.get().amount == Budget.objects.get().held == work.price * work.total_cores
