"""Killed hard before every single act: what is left can be finished, told apart and removed without a trace."""

from functools import partial

import pytest
from backend_clouds import agents, destroy, die_before, eventually, leftovers

from jobs.backends.base import State


def points(act, limit=400):
    """One after the other, the numbers of the acts before which a process can die."""
    for number in range(limit):
        if not die_before(number, partial(act, number)):
            return
        yield number
    pytest.fail("it never comes to its end")


@pytest.fixture
def backend(local):
    backend = local()
    backend.about()  # the machine is tried once, in the parent
    return backend


def test_killed_anywhere_in_create_it_can_be_created_again(backend, spec, token, tell):
    survived = 0
    for number in points(lambda number: backend.create(f"{token}{number}", spec(nodes=2))):
        name = f"{token}{number}"
        assert backend.describe([name])[name].state in (State.ABSENT, State.PENDING, State.UP)
        backend.create(name, spec(nodes=2))
        assert backend.describe([name])[name].state is State.UP
        assert eventually(lambda name=name: len(agents(backend, name)) == 2)
        assert destroy(backend, name)
        assert leftovers(backend, name) == []
        survived += 1
    tell(f"{survived} points of death in create of the local backend")
    assert survived > 30
    assert destroy(backend, f"{token}{survived}")


def test_killed_anywhere_in_create_it_is_found_and_removed(backend, spec, token):
    for number in points(lambda number: backend.create(f"{token}{number}", spec(nodes=2))):
        name = f"{token}{number}"
        traces = [trace for trace in leftovers(backend, name) if ".locks" not in trace]
        assert not traces or name in backend.tokens()
        assert destroy(backend, name)
        assert leftovers(backend, name) == []
        assert backend.describe([name])[name].state is State.ABSENT
    assert backend.capacity()[""].free == backend.capacity()[""].total - 2  # the last one was not killed
    for name in backend.tokens():
        assert destroy(backend, name)


def test_killed_anywhere_in_destroy_it_can_be_destroyed_again(backend, spec, token, tell):
    name, survived, number = token, 0, 0
    backend.create(name, spec(nodes=2))
    while die_before(number, lambda: backend.destroy(name)):
        traces = [trace for trace in leftovers(backend, name) if ".locks" not in trace]
        assert not traces or name in backend.tokens()
        assert destroy(backend, name)
        assert leftovers(backend, name) == []
        number, survived = number + 1, survived + 1
        backend.create(name, spec(nodes=2))
    tell(f"{survived} points of death in destroy of the local backend")
    assert survived > 10
    assert destroy(backend, name)
