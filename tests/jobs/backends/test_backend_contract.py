"""What jobs/backends/base.py promises, held against every backend."""

import contextlib
import threading

import pytest
from backend_clouds import ended_with, eventually, in_child

from jobs.backends.base import WAITS, NoCapacity, Refused, State


def state(backend, token):
    return backend.describe([token])[token].state


def frees(backend, cores):
    """Whether so many are free, as soon as the other side has them counted."""
    return eventually(lambda: backend.capacity()[""].free == cores)


def test_what_nobody_asked_for_is_absent(cloud):
    assert cloud.backend().describe(["hrtest-job-nobody-1"])["hrtest-job-nobody-1"].state is State.ABSENT


def test_a_cluster_comes_up_and_is_seen_by_everybody(cloud, spec, token):
    cloud.backend().create(token, spec())
    assert eventually(lambda: state(cloud.backend(), token) is State.UP)
    assert token in cloud.backend().tokens()


def test_every_token_asked_for_is_answered(cloud, spec, token):
    backend = cloud.backend()
    backend.create(token, spec())
    assert set(backend.describe([token, "hrtest-job-nobody-1"])) == {token, "hrtest-job-nobody-1"}
    assert backend.describe([]) == {}


def test_the_same_create_twice_makes_one_cluster(cloud, spec, token):
    backend = cloud.backend()
    for _ in range(3):
        backend.create(token, spec(cores=3))
    assert list(backend.tokens()) == [token]
    assert frees(backend, 5)


def test_two_creates_at_once_make_one_cluster(cloud, spec, token):
    at_once(cloud, [lambda: cloud.backend().create(token, spec(cores=3))] * 4)
    assert list(cloud.backend().tokens()) == [token]
    assert frees(cloud.backend(), 5)


def test_creates_at_once_never_take_more_than_there_is(cloud, spec, token):
    does_not_queue(cloud)

    def ask(name):
        with contextlib.suppress(NoCapacity):
            cloud.backend().create(name, spec(cores=3))

    at_once(cloud, [lambda name=f"{token}{i}": ask(name) for i in range(4)])
    assert len(list(cloud.backend().tokens())) == 2
    assert frees(cloud.backend(), 2)


def test_destroy_takes_it_away_and_may_be_repeated(cloud, spec, token):
    backend = cloud.backend()
    backend.create(token, spec())
    assert eventually(lambda: backend.destroy(token))
    assert state(backend, token) is State.ABSENT
    assert token not in backend.tokens()
    assert backend.destroy(token)
    assert frees(backend, 8)


def test_destroy_of_what_never_was_is_done_at_once(cloud):
    assert cloud.backend().destroy("hrtest-job-nobody-1")
    assert list(cloud.backend().tokens()) == []


def test_two_destroys_at_once_leave_nothing(cloud, spec, token):
    cloud.backend().create(token, spec(nodes=2))
    at_once(cloud, [lambda: eventually(lambda: cloud.backend().destroy(token))] * 3)
    assert list(cloud.backend().tokens()) == []
    assert state(cloud.backend(), token) is State.ABSENT


def test_destroy_while_creating_leaves_nothing_once_create_is_over(cloud, spec, token):
    at_once(cloud, [lambda: cloud.backend().create(token, spec(nodes=3)), lambda: cloud.backend().destroy(token)])
    assert eventually(lambda: cloud.backend().destroy(token))
    assert list(cloud.backend().tokens()) == []


def test_others_stay_when_one_is_destroyed(cloud, spec, token):
    backend = cloud.backend()
    backend.create(token, spec())
    backend.create(f"{token}1", spec())
    assert eventually(lambda: backend.destroy(token))
    assert list(backend.tokens()) == [f"{token}1"]
    assert eventually(lambda: state(backend, f"{token}1") is State.UP)


def test_more_than_there_will_ever_be_is_refused(cloud, spec, token):
    with pytest.raises(Refused, match="9 cores asked for"):
        cloud.backend().create(token, spec(nodes=3, cores=3))
    assert list(cloud.backend().tokens()) == []


def test_more_than_is_free_now_may_be_asked_again(cloud, spec, token):
    does_not_queue(cloud)
    backend = cloud.backend()
    backend.create(token, spec(cores=6))
    with pytest.raises(NoCapacity, match="2 free"):
        backend.create(f"{token}1", spec(cores=3))
    assert eventually(lambda: backend.destroy(token))
    backend.create(f"{token}1", spec(cores=3))
    assert list(backend.tokens()) == [f"{token}1"]


def test_what_queues_takes_more_than_is_free_and_says_that_it_waits(cloud, spec, token):
    backend = cloud.backend()
    if not backend.capacity()[""].queues_itself:
        pytest.skip("a backend without a queue of its own")
    for number in range(4):
        backend.create(f"{token}{number}", spec(cores=3))
    states = lambda: [told.state for told in backend.describe([f"{token}{number}" for number in range(4)]).values()]  # noqa: E731
    assert eventually(lambda: State.UP in states())
    waiting = [told for told in backend.describe([f"{token}{number}" for number in range(4)]).values() if told.state is State.PENDING]
    assert waiting
    assert all(told.why.startswith(WAITS) for told in waiting)


def test_capacity_counts_what_is_taken(cloud, spec, token):
    backend = cloud.backend()
    backend.create(token, spec(nodes=2, cores=2))
    assert frees(backend, 4)
    assert backend.capacity()[""].total == 8


def test_it_says_in_one_line_what_it_is(cloud):
    line = cloud.backend().about()
    assert cloud.backend().name in line
    assert "\n" not in line


def test_the_secret_is_not_in_what_is_printed(spec):
    assert "not-to-be-seen" not in repr(spec())


def does_not_queue(cloud):
    if cloud.backend().capacity()[""].queues_itself:
        pytest.skip("a backend with a queue of its own takes more than is free")


def at_once(cloud, acts):
    """Each in a process of its own where processes share the cloud, else in a thread."""
    if cloud.shared:
        assert [ended_with(pid) for pid in [in_child(act) for act in acts]] == [0] * len(acts)
        return
    threads = [threading.Thread(target=act) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
