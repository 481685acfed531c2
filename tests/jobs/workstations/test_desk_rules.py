"""Rules at work in the engine: idle and its warnings, the money, the longest session and life, suspended for too long."""

from datetime import timedelta
from decimal import Decimal

import desks
import factories
import playing
import pytest
from django.core import mail

from jobs import gateway, idleness, lifecycle, logs, rounds
from jobs.models import Charge, Cluster, Outage, WorkNotice

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("cloud")]
DAY = 86400


@pytest.fixture
def station(owner, wing):
    owner.email = "owner@example.org"
    owner.save()
    return factories.workstation(owner, project=wing, coretype=factories.coretype(price=Decimal("3.6"), disk_price=Decimal(36)))


@pytest.fixture
def purse(wing):
    return factories.budget(wing, 100_000)


@pytest.fixture
def desk(station, purse, clock):
    return desks.start(station, clock)


def status(station) -> str:
    station.workload.refresh_from_db()
    station.refresh_from_db()
    return station.workload.status


def rules(station, **fields):
    for name, value in fields.items():
        setattr(station.kind, name, value)
    station.kind.save()


def reasons(station) -> list[str]:
    return [event.reason for event in station.workload.events.all() if event.reason in ("idle-soon", "end-soon", "idle", "unsaved")]


def passes(clock, desk, minutes, **figures):
    """Time with a beat each minute, and what the periodic turns do."""
    for _ in range(minutes):
        clock.forward(60)
        later(clock, desk, **figures)


def later(clock, desk, **figures):
    desk.beat(**figures)
    meter(clock)
    desks.turn(clock)


def meter(clock):
    playing.rounds_again()
    rounds.meter(clock())


# --- idle -------------------------------------------------------------------------------------------------------------
def test_an_idle_one_is_warned_of_twice_and_then_suspended(station, desk, clock):
    rules(station, idle_after=3600)
    passes(clock, desk, 44)
    assert (status(station), reasons(station)) == ("active", [])
    passes(clock, desk, 2)
    assert reasons(station) == ["idle-soon"]
    passes(clock, desk, 10)
    assert reasons(station) == ["idle-soon", "idle-soon"]
    passes(clock, desk, 5)
    assert (status(station), station.workload.reason) == ("suspending", "idle")
    assert desk.wish == "suspend"
    assert desk.obey() == "saved"
    desks.turn(clock)
    assert status(station) == "suspended"
    assert "Nothing was done in it since" in station.workload.detail


@pytest.mark.parametrize("work", [{"busy": 1.5}, {"gpu": 0.7}, {"programs": ["simpleFoam"]}], ids=["processor", "graphics", "solver"])
def test_a_computing_desktop_with_nobody_watching_goes_on(station, desk, clock, work):
    rules(station, idle_after=600, idle_warnings=[60])
    passes(clock, desk, 30, **work)
    assert (status(station), reasons(station)) == ("active", [])
    passes(clock, desk, 11)
    assert status(station) == "suspending"


def test_an_open_tab_is_no_work_but_a_key_is(station, desk, clock):
    rules(station, idle_after=600, idle_warnings=[60])
    passes(clock, desk, 8)
    logs.touched(logs.attempt_dir(desk.agent.public_id, 1), at=clock().timestamp())  # what the relay does for a key
    passes(clock, desk, 8)
    assert (status(station), reasons(station)) == ("active", [])
    passes(clock, desk, 3)
    assert status(station) == "suspending"


def test_setting_up_is_not_idling(station, purse, clock, owner):
    rules(station, idle_after=600, idle_warnings=[60])
    assert station.workload.submit(owner, clock())
    desks.turn(clock)
    station.workload.refresh_from_db()
    desk = desks.Desk(station.workload, clock).boot(ready=False)
    passes(clock, desk, 25)
    assert (status(station), reasons(station)) == ("active", [])
    assert {one.words for one in idleness.evidence(station, clock())} == {"never, for 0 min"}
    gateway.ready(desk.agent, {"service": "terminal"}, clock())
    passes(clock, desk, 8)
    assert (status(station), reasons(station)) == ("active", [])
    passes(clock, desk, 3)
    assert status(station) == "suspending"


def test_what_is_never_ready_is_idle_after_an_hour(station, purse, clock, owner):
    rules(station, idle_after=600, idle_warnings=[60])
    assert station.workload.submit(owner, clock())
    desks.turn(clock)
    station.workload.refresh_from_db()
    desk = desks.Desk(station.workload, clock).boot(ready=False)
    passes(clock, desk, 68)
    assert status(station) == "active"
    passes(clock, desk, 4)
    assert status(station) == "suspending"


def test_who_is_told_can_stay(station, desk, clock, owner):
    rules(station, idle_after=600, idle_warnings=[120])
    passes(clock, desk, 9)
    assert reasons(station) == ["idle-soon"]
    assert station.stay(owner, clock()) == ""
    passes(clock, desk, 7)
    assert (status(station), reasons(station)) == ("active", ["idle-soon"])
    assert station.keep(owner, clock() + timedelta(hours=2), clock()) == ""
    passes(clock, desk, 60)
    assert status(station) == "active"


def test_the_portals_own_absence_makes_nobody_idle(station, desk, clock):
    rules(station, idle_after=600, idle_warnings=[60])
    passes(clock, desk, 5)
    gone = clock()
    clock.forward(3600)
    Outage.objects.create(start=gone, end=clock())
    later(clock, desk)
    passes(clock, desk, 8)
    assert (status(station), reasons(station)) == ("active", [])


def test_without_beats_nobody_is_idle(station, desk, clock):
    rules(station, idle_after=300, idle_warnings=[])
    clock.forward(600)
    desks.turn(clock)
    assert status(station) == "active"


def test_what_cannot_be_saved_is_left_alone_for_a_while(station, desk, clock):
    rules(station, idle_after=300, idle_warnings=[], home_limit=1 << 20)
    desk.files["big"] = bytes(2 << 20)
    passes(clock, desk, 6)
    assert status(station) == "suspending"
    assert desk.obey() == "unsaved"
    passes(clock, desk, 5)
    assert (status(station), reasons(station)) == ("active", ["idle", "unsaved"])
    assert desk.wish == "run"
    passes(clock, desk, 15)
    assert status(station) == "suspending"


# --- mail -------------------------------------------------------------------------------------------------------------
def test_the_owner_gets_a_mail_once(station, desk, clock, settings):
    settings.EMAIL_HOST = "mail.example.org"
    rules(station, idle_after=600, idle_warnings=[120])
    passes(clock, desk, 9)
    for _ in range(2):
        meter(clock)
    assert [(one.to, "is suspended in 2 min" in one.subject) for one in mail.outbox] == [(["owner@example.org"], True)]
    assert f"/workstations/{station.workload.public_id}/" in mail.outbox[0].body
    assert WorkNotice.objects.get().mailed is not None


# --- time and money ---------------------------------------------------------------------------------------------------
def test_the_longest_session_ends_suspended(station, desk, clock):
    gateway.exited(desk.agent, {"signal": 15, "code": None, "why": "walltime", "clock": clock().timestamp()}, clock())
    desks.turn(clock)
    assert (status(station), station.workload.reason) == ("suspending", "walltime")
    assert desk.copy("stop") == ""
    gateway.done(desk.agent, {}, clock())
    desks.turn(clock)
    assert status(station) == "suspended"


def test_a_strict_budget_that_is_used_up_suspends_in_time(station, wing, clock, owner):
    purse = factories.budget(wing, Decimal("4"))
    desk = desks.start(station, clock)
    rules(station, idle_after=0)
    for _ in range(70):
        passes(clock, desk, 1)
        if status(station) != "active":
            break
    assert (status(station), station.workload.reason) == ("suspending", "budget-used-up")
    assert clock() < Cluster.objects.get().paid_until
    assert desk.obey() == "saved"
    desks.turn(clock)
    assert status(station) == "suspended"
    clock.forward(30 * DAY)
    meter(clock)
    purse.refresh_from_db()
    assert purse.spent <= purse.amount
    assert station.resume(owner, clock()) == ""
    desks.turn(clock)
    assert (status(station), station.workload.gate) == ("queued", "budget")


def test_the_longest_life_ends_it_with_its_home(station, desk, clock):
    rules(station, idle_after=0, max_life=20 * DAY, suspended_warnings=[7, 1])
    type(station.kind).objects.update(life_rule=clock() - timedelta(days=1))
    Cluster.objects.update(walltime_until=clock() + timedelta(days=90))
    clock.forward(14 * DAY)
    later(clock, desk)
    assert reasons(station) == ["end-soon"]
    clock.forward(5 * DAY)
    later(clock, desk)
    assert reasons(station) == ["end-soon", "end-soon"]
    clock.forward(1 * DAY)
    later(clock, desk)
    assert status(station) == "stopping"
    assert desk.obey() == "saved"
    desks.turn(clock)
    assert (status(station), station.workload.reason) == ("stopped", "stopped-by-rule")
    assert "20 days" in station.workload.detail and "Home saved" in station.workload.detail


# --- suspended --------------------------------------------------------------------------------------------------------
def test_a_long_suspended_one_is_ended_after_warnings(station, desk, clock):
    desks.suspend(station, desk, clock)
    clock.forward(100 * DAY)
    desks.turn(clock)
    assert (status(station), reasons(station)) == ("suspended", [])
    rules(station, suspended_days=30)
    type(station.kind).objects.update(suspended_rule=clock())
    ends = []
    for day in range(1, 40):
        clock.forward(DAY)
        desks.turn(clock)
        if status(station) != "suspended":
            ends.append(day)
            break
    assert (ends, reasons(station)) == ([30], ["end-soon"] * 3)
    assert (station.workload.status, station.workload.reason) == ("stopped", "stopped-by-rule")
    assert station.home is not None


def test_disk_is_paid_by_the_second_from_the_release_to_the_next_start(station, desk, clock, owner, purse):
    desk.files = {"mesh": bytes(1 << 20)}
    desks.suspend(station, desk, clock)
    purse.refresh_from_db()
    compute, size = purse.spent, station.home.size
    begun = Cluster.objects.get().released
    for _ in range(20):
        clock.forward(97)
        meter(clock)
    assert station.resume(owner, clock()) == ""
    clock.forward(31)
    desks.start(station, clock)
    up = Cluster.objects.order_by("-pk").first().up
    clock.forward(500)
    meter(clock)
    seconds = -(-(up - begun).total_seconds() // 1)
    paid = sum(charge.amount for charge in Charge.objects.filter(kind="disk"))
    assert paid == (Decimal(36) * size / (1 << 30) * int(seconds) / 3600).quantize(Decimal("0.000001"))
    purse.refresh_from_db()
    assert purse.spent == compute + paid + sum(charge.amount for charge in Charge.objects.filter(kind="use", attempt=2))


def test_a_cancelled_resume_goes_on_paying_for_the_disk(station, desk, clock, owner):
    desks.suspend(station, desk, clock)
    for _ in range(2):
        assert station.resume(owner, clock()) == ""
        assert station.suspend(owner, clock()) == ""
        desks.turn(clock)
        assert status(station) == "suspended"
        clock.forward(1000)
    assert station.workload.disk_uses.filter(settled__isnull=True).count() == station.workload.disk_uses.count() == 1
    assert station.stop(owner, now=clock()) == ""
    desks.turn(clock)
    meter(clock)
    use = station.workload.disk_uses.get()
    station.workload.refresh_from_db()
    assert (use.settled is not None, use.charged_until) == (True, station.workload.since)
    assert station.workload.status == lifecycle.STOPPED
