"""The queue's workloads are made past Model.__init__: they must be the models that the ORM would have made."""

import gc

import factories
import pytest

from jobs import scheduling
from jobs.models import Workload

pytestmark = pytest.mark.django_db


@pytest.fixture
def line(clock, owner, wing):
    works = [factories.job(owner, project=project, detail=f"job {at}").workload for at, project in enumerate((wing, None))]
    for work in works:
        work.submit(owner, clock())
    return scheduling.waiting_line()


def test_they_have_what_the_orm_would_give_them(line):
    for work in line:
        same = Workload.objects.get(pk=work.pk)
        assert work == same
        assert {name: getattr(work, name) for name in vars(same) if name != "_state"} == {name: value for name, value in vars(same).items() if name != "_state"}
        assert (work._state.adding, work._state.db) == (False, "default")


def test_seldom_columns_and_relations_are_fetched_when_asked_for(line, django_assert_num_queries, wing):
    with django_assert_num_queries(0):
        assert [work.coretype.pk for work in line] == [work.coretype_id for work in line]
    with django_assert_num_queries(1):
        assert line[0].detail.startswith("job")
    assert {work.project for work in line} == {wing, None}


def test_the_collector_of_garbage_is_on_again(line):
    assert gc.isenabled()
