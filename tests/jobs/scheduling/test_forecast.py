"""When a job starts: habits, pace, fair shares and the rules of the queue in the plays; what the pages are told."""

import random
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import factories
import pytest

from jobs import scheduling
from jobs.capacity import Room
from jobs.models import Coretype, Workload
from jobs.scheduling import forecast
from jobs.scheduling.fair import in_turn
from jobs.scheduling.forecast import Runs, Scene, Waits
from jobs.scheduling.habits import Guess, Habits, likeness_of
from jobs.scheduling.line import Line, Living

ALIKE = likeness_of(1, 1, 3600, 8, 1)


def known(*shares):
    return Habits((ALIKE, share) for share in shares)


def foretold(running, line, one, habits, free=0, now=0.0, **more):
    return forecast.interval(Scene(free, running, line, now, habits, **more), one, 1)


# --- habits -----------------------------------------------------------------------------------------------------------
def test_what_is_known_of_its_like_is_drawn_most_often():
    guesses = [Guess(known(*[0.5] * 40), random.Random(seed)).share(ALIKE) for seed in range(100)]
    assert sum(0.48 < one < 0.52 for one in guesses) > 90


def test_a_run_never_ends_before_now():
    for seed in range(50):
        assert Guess(known(0.1, 0.2, 0.9), random.Random(seed)).share(ALIKE, ran=0.5) >= 0.5
        assert Guess(Habits(), random.Random(seed)).share(ALIKE, ran=0.99) >= 0.99


def test_of_what_nothing_is_known_runs_that_are_alike_take_alike_long_in_one_guess():
    apart, alike = [], []
    for seed in range(200):
        guess = Guess(Habits(), random.Random(seed))
        first, second, other = (guess.share(likeness_of(who, 1, 3600, 8, 1)) for who in (1, 1, 2))
        alike.append(abs(first - second))
        apart.append(abs(first - other))
    assert sum(alike) < sum(apart) / 2


def test_a_wider_likeness_is_asked_where_the_closest_is_unknown():
    habits = Habits((likeness_of(1, 1, 7200, 16, 1), 0.25) for _ in range(50))
    guesses = [Guess(habits, random.Random(seed)).share(ALIKE) for seed in range(100)]
    assert 0.2 < sorted(guesses)[50] < 0.3


def test_what_runs_long_tells_of_those_that_wait():
    """Of a batch only the short ones have ended: the one that still runs counts too."""
    guess = Guess(known(0.1), random.Random(1))
    assert guess.running(ALIKE, ran=0.7) >= 0.7
    assert any(guess.share(ALIKE) >= 0.7 for _ in range(20))


def test_old_shares_are_forgotten():
    habits = known(*[0.9] * 200, *[0.1] * 200)
    assert set(habits.shares[ALIKE[0]]) == {0.1}


# --- the plays --------------------------------------------------------------------------------------------------------
def test_the_interval_narrows_with_what_is_known():
    one = Waits(8, 3600.0, ALIKE)
    runs = [Runs(8, 0.0, 3600.0, ALIKE)]
    wide = foretold(runs, [one], one, Habits(), now=60.0)
    narrow = foretold(runs, [one], one, known(*[0.5] * 60), now=60.0)
    paced = foretold([Runs(8, 0.0, 3600.0, ALIKE, end=1000.0)], [one], one, Habits(), now=60.0)
    assert wide[0] < 1800 < wide[1] <= 3600 * (1 + forecast.LATER)
    assert narrow[1] - narrow[0] < (wide[1] - wide[0]) / 2
    assert 860 < paced[0] <= paced[1] < 1160
    assert foretold(runs, [one], one, Habits(), now=60.0) == wide


def test_of_all_intervals_that_hold_enough_it_is_the_narrowest():
    assert forecast.narrowest([0.0, 50.0, 60.0, 61.0, 62.0, 90.0], 0.5) == (60.0, 62.0)
    assert forecast.narrowest([1.0, 2.0], 0.9) == (1.0, 2.0)
    assert forecast.narrowest([5.0], 0.9) == (5.0, 5.0)


def test_what_fits_starts_now_and_what_never_fits_is_not_foretold():
    one = Waits(8, 3600.0, ALIKE)
    assert foretold([], [one], one, Habits(), free=8, now=60.0) == (60.0, 60.0)
    assert foretold([], [one], one, Habits(), free=4) is None


def test_who_comes_as_on_the_day_before_goes_ahead_of_a_side_that_has_much():
    one = Waits(8, 3600.0, ALIKE, asked=86_400.0, side="greedy")
    runs = [Runs(8, 86_000.0, 3600.0, ALIKE, side="greedy"), Runs(8, 86_000.0, 10_000.0, ALIKE, side="greedy")]
    came = [Waits(8, 7200.0, ALIKE, asked=60.0 * minute, side="modest") for minute in range(1, 60)]
    sure = known(*[1.0] * 400)
    alone = foretold(runs, [one], one, sure, now=86_400.0)
    among = foretold(runs, [one], one, sure, now=86_400.0, came=came, known_since=0.0)
    assert among[1] > alone[1] + 1800


@pytest.mark.parametrize("seed", range(25))
def test_a_play_follows_the_rules_of_the_real_queue(seed):
    """With every run taking its whole walltime, nothing is left to chance: the play and `decide` must agree to the second."""
    draw = random.Random(seed)
    begin = datetime(2026, 9, 14, tzinfo=UTC)
    kind = Coretype(pk=1, name="Basalt", cores=64, max_nodes=8, price=Decimal(1), active=True)
    works = [
        Workload(pk=at, owner_id=at % 3, coretype=kind, cores=draw.choice([4, 8, 16, 32]), walltime=draw.choice([600, 1800, 3600, 7200]),
                 priority=draw.choice([0, 0, 0, 1]), submitted=begin + timedelta(seconds=at), made=begin)
        for at in range(30)
    ]  # fmt: skip
    real = played(works, begin, 64)
    now = (begin + timedelta(seconds=100)).timestamp()
    line = [Waits(work.cores, work.walltime, (), work.submitted.timestamp(), ("owner", work.owner_id), (-work.priority, False)) for work in works]

    class Whole:
        def share(self, likeness, ran=0.0):
            return 1.0

    for at in range(0, 30, 3):
        play = forecast.Play(Scene(64, [], line, now, Habits()), line[at], random.Random(1))
        play._begin()
        play.guess = Whole()
        while not play._round():
            assert play._forward()
        assert play.clock == real[at], f"seed {seed}, job {at}"


def played(works, begin, cores):
    """When the real `decide` starts each, if each takes its whole walltime."""

    class Rich:
        left = {}

        def short(self, work):
            return None

        def hold(self, work, now):
            pass

    now, running, waiting, starts = begin + timedelta(seconds=100), [], list(works), {}
    while waiting:
        using = {}
        for _, work in running:
            using["owner", work.owner_id] = using.get(("owner", work.owner_id), 0) + work.cores
        living = Living([(end, work.cores) for end, work in running])
        line = Line(Room(("x", ""), cores, sum(using.values())), lambda living=living: living)
        order = in_turn(sorted(waiting, key=lambda work: (-work.priority, work.submitted)), using)
        for work in scheduling.decide(order, lambda _: ("x", ""), {("x", ""): line}, Rich(), now).start:
            starts[work.pk] = now.timestamp()
            running.append((now + timedelta(seconds=work.walltime), work))
            waiting.remove(work)
        if running:
            now = min(end for end, _ in running)
            running = [(end, work) for end, work in running if end > now]
    return starts


# --- what pages are told ----------------------------------------------------------------------------------------------
pages = pytest.mark.usefixtures("cloud")


@pages
@pytest.mark.django_db
def test_a_queued_job_has_an_interval_and_one_without_money_none(clock, owner, wing, queued, running, turn, granite):
    running(owner, project=wing, coretype=granite, cores=16, walltime=3600)
    work = queued(owner, project=wing, coretype=granite, cores=16)
    turn(work)
    earliest, latest = scheduling.expected_start(work, clock())
    assert clock() <= earliest < latest <= clock() + timedelta(seconds=3600 * (1 + forecast.LATER))
    factories.budget(wing, 0)
    turn(work)
    assert scheduling.expected_start(work, clock()) == (None, None)


@pages
@pytest.mark.django_db
def test_it_is_told_by_the_pace_of_what_runs(clock, owner, queued, running, turn, granite):
    busy, _ = running(owner, coretype=granite, cores=16, walltime=36_000)
    work = queued(owner, coretype=granite, cores=16)
    turn(work)
    told = clock().timestamp()
    busy.job.progress = {"attempt": 1, "percent": 60.0, "first": [10.0, told - 500], "at": told}
    busy.job.save(update_fields=["progress"])
    earliest, latest = scheduling.expected_start(work, clock())
    assert clock() + timedelta(seconds=320) < earliest <= latest < clock() + timedelta(seconds=500)


@pages
@pytest.mark.django_db
def test_the_first_of_several_choices_counts(clock, owner, queued, running, turn, granite, basalt):
    running(owner, coretype=granite, cores=16, walltime=36_000)
    running(owner, coretype=basalt, cores=8, walltime=600)
    work = queued(owner, [(granite, 1, 16), (basalt, 1, 8)])
    turn(work)
    assert scheduling.expected_start(work, clock())[1] <= clock() + timedelta(seconds=600 * (1 + forecast.LATER))
