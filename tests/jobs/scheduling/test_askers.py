"""The queue goes through plain values: they must say what the models say, and lead to what the models would lead to."""

import gc
import random
from dataclasses import MISSING, fields
from datetime import timedelta
from decimal import Decimal
from functools import cache

import factories
import pytest

from jobs import capacity, ledger, lifecycle, scheduling
from jobs.models import Asker, Budget, Choice, Cluster, Coretype, Limit, Workload
from jobs.scheduling.fair import AGE_A_CORE, MOST, side_of
from jobs.scheduling.loading import using

pytestmark = pytest.mark.django_db

READ = [one.name for one in fields(Asker) if one.default is MISSING and one.name != "others"]
FIGURES = {"fake": {"k0": capacity.Figures(60), "k1": capacity.Figures(150), "": capacity.Figures(40)}}


@pytest.fixture
def crowd(clock, owner, member, stranger, wing):
    """Work of all sorts: queued with and without choices, on demand and economy, running, tried before; money and limits."""

    def make(seed):
        draw, now = random.Random(seed), clock()
        kinds = [factories.coretype(code=f"k{at}", cores=16, max_nodes=4, price=Decimal("0.05"), economy_price=Decimal("0.02")) for at in range(3)]
        Budget.objects.create(name="All", amount=Decimal(draw.choice([5, 1000])))
        Limit.objects.create(**draw.choice([{"most_cores": 90}, {"per": "project", "most_jobs": 20}, {"member": owner, "most_jobs": 4}]))

        def work(status):
            return Workload(
                owner=draw.choice([owner, member, stranger]), project=draw.choice([None, wing]), coretype=draw.choice(kinds), nodes=draw.choice([1, 1, 2]),
                cores=draw.choice([1, 4, 8, 16]), walltime=draw.choice([600, 3600, 86_400]), priority=draw.choice([0, 0, 1]), economy=draw.random() < 0.3,
                status=status, since=now - timedelta(seconds=draw.randint(0, 900)), submitted=now - timedelta(seconds=draw.randint(0, 9000)),
                not_before=draw.choice([None, None, now + timedelta(seconds=60)]), attempt=draw.choice([1, 2]), name=f"job {draw.random()}",
            )  # fmt: skip

        queued = Workload.objects.bulk_create(work(lifecycle.QUEUED) for _ in range(60))
        busy = Workload.objects.bulk_create(work(draw.choice([lifecycle.RUNNING, lifecycle.STOPPING])) for _ in range(10))
        told = {"backend": "fake", "nodes_wanted": 1, "cores": 8, "price": 1, "asked": now}
        until = now + timedelta(hours=1)
        Cluster.objects.bulk_create(Cluster(workload=one, attempt=1, token=f"t{one.pk}", coretype=kinds[0], walltime_until=until, **told) for one in busy[::2])
        Cluster.objects.bulk_create(Cluster(workload=one, attempt=1, token=f"t{one.pk}", coretype=kinds[1], released=now, **told) for one in queued[::2])
        rows = [Choice(workload=one, place=at, coretype=draw.choice(kinds), cores=draw.choice([4, 16])) for one in queued[::4] for at in (0, 1)]
        Choice.objects.bulk_create(rows)

    return make


def slowly():
    """The queue made out of models, one by one, ordered as the rules say it."""
    found = []
    for work in Workload.objects.filter(status=lifecycle.QUEUED):
        asker = Asker(**{name: getattr(work, name) for name in READ}, others="[]", total_cores=work.total_cores, coretype=work.coretype, project=work.project)
        if choices := list(work.choices.all()):
            asker.acceptable = choices
            asker.take(choices[0])
        found.append(asker)
    first = sorted(found, key=lambda work: (-work.priority, work.economy, work.asked, work.pk))
    taken = using()

    def place(work):
        before = first[: first.index(work)]
        cores = taken.get(side_of(work), 0) + sum(one.total_cores for one in before if (side_of(one), one.priority) == (side_of(work), work.priority))
        return -work.priority, work.economy, work.asked + min(MOST, AGE_A_CORE * cores), work.pk

    return sorted(found, key=place)


def decided(queue, now):
    scheduling.note_tried(queue, now)
    lines, purse = scheduling.lines_of(scheduling.kinds_of(queue), FIGURES), ledger.Purse(queue, now)
    decision = scheduling.decide(queue, cache(lambda kind: capacity.pool_of(kind, FIGURES)), lines, purse, now, limits=scheduling.limits_now())
    started = [(work.pk, work.coretype, work.nodes, work.cores, work.choice) for work in decision.start]
    return started, decision.waits, decision.refused, decision.interrupt, purse.left


@pytest.mark.parametrize("seed", range(6))
def test_they_are_the_models_and_lead_to_the_same(clock, crowd, seed):
    crowd(seed)
    quick, slow = scheduling.waiting_line(), slowly()
    assert [work.pk for work in quick] == [work.pk for work in slow]
    for one, other in zip(quick, slow, strict=True):
        for field in fields(Asker):
            assert getattr(one, field.name) == getattr(other, field.name), field.name
    found = decided(quick, clock())
    assert found == decided(slow, clock())
    assert len(found[1]) > 10


def test_what_somebody_was_told_of_other_choices_is_read_as_it_was_written(owner, queued):
    work = queued(owner)
    told = [{"name": "Granite 1 \u00d7 16", "code": "capacity", "sentence": 'Needs "16"', "never": False}]
    Workload.objects.filter(pk=work.pk).update(gate_else=told)
    (asker,) = scheduling.waiting_line()
    assert asker.gate_else == told
    asker.gate_else = []
    assert asker.gate_else == []


def test_a_long_queue_takes_no_more_queries(clock, owner, wing, django_assert_max_num_queries):
    kind = Coretype.objects.first() or factories.coretype()
    told = {"owner": owner, "coretype": kind, "walltime": 60, "submitted": clock(), "status": lifecycle.QUEUED}
    Workload.objects.bulk_create(Workload(project=project, **told) for project in (wing, None) * 50)
    with django_assert_max_num_queries(6):
        queue = scheduling.waiting_line()
        assert {work.project for work in queue} == {wing, None}
        assert {work.coretype for work in queue} == {kind}
    assert len(queue) == 100
    assert gc.isenabled()
