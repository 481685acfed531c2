"""The fake cloud misbehaves as it is told, and shows what it was asked."""

import pytest
from backend_clouds import ended_with, in_child

from jobs.backends.base import NoCapacity, Refused, State, TryAgain
from jobs.backends.fake import Fake

TOKEN = "hrtest-job-aBcDeF-1"


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def state(cloud, token=TOKEN):
    return cloud.describe([token])[token].state


def test_booting_takes_its_time_and_says_until_when(spec, clock):
    cloud = Fake("fake", clock=clock, boot=30)
    cloud.create(TOKEN, spec())
    described = cloud.describe([TOKEN])[TOKEN]
    assert (described.state, described.why, described.eta.timestamp()) == (State.PENDING, "booting", 1030)
    clock.now += 30
    assert state(cloud) is State.UP


def test_the_agent_is_played_once_when_the_cluster_is_up(spec, clock):
    up = []
    cloud = Fake("fake", clock=clock, boot=5, on_up=lambda token, spec: up.append((token, spec.nodes)))
    cloud.create(TOKEN, spec(nodes=2))
    cloud.describe([TOKEN])
    assert up == []
    clock.now += 5
    cloud.describe([TOKEN])
    cloud.describe([TOKEN])
    assert up == [(TOKEN, 2)]


def test_without_a_boot_the_agent_is_played_at_once(spec):
    up = []
    Fake("fake", on_up=lambda token, spec: up.append(token)).create(TOKEN, spec())
    assert up == [TOKEN]


@pytest.mark.parametrize(("word", "error"), [("try again", TryAgain), ("no capacity", NoCapacity), ("refused", Refused)])
def test_create_fails_as_often_as_told(spec, word, error):
    cloud = Fake("fake", create=word, times=2)
    for _ in range(2):
        with pytest.raises(error):
            cloud.create(TOKEN, spec())
        assert list(cloud.tokens()) == []
    cloud.create(TOKEN, spec())
    assert list(cloud.tokens()) == [TOKEN]


def test_a_create_that_timed_out_after_it_was_accepted_has_made_one_cluster(spec):
    cloud = Fake("fake", create="try again", times=1, accepted=True)
    with pytest.raises(TryAgain):
        cloud.create(TOKEN, spec())
    cloud.create(TOKEN, spec())
    assert list(cloud.tokens()) == [TOKEN]


def test_what_cannot_be_asked_is_unknown_and_never_absent(spec):
    cloud = Fake("fake")
    cloud.create(TOKEN, spec())
    cloud.misbehave(down=True)
    assert state(cloud) is State.UNKNOWN
    assert cloud.capacity()[""].free is None
    for call in (lambda: cloud.destroy(TOKEN), lambda: cloud.tokens(), lambda: cloud.create(TOKEN, spec())):
        with pytest.raises(TryAgain):
            call()
    cloud.misbehave()
    assert state(cloud) is State.UP


def test_describe_is_unknown_for_a_while(spec):
    cloud = Fake("fake", unknown=2)
    cloud.create(TOKEN, spec())
    assert [state(cloud) for _ in range(3)] == [State.UNKNOWN, State.UNKNOWN, State.UP]


def test_a_list_that_lags_does_not_show_a_new_cluster_yet(spec, clock):
    cloud = Fake("fake", clock=clock, lag=10)
    cloud.create(TOKEN, spec())
    assert state(cloud) is State.ABSENT
    clock.now += 10
    assert state(cloud) is State.UP


def test_destroy_is_confirmed_late(spec):
    cloud = Fake("fake", destroys=2)
    cloud.create(TOKEN, spec())
    assert [cloud.destroy(TOKEN) for _ in range(4)] == [False, False, True, True]


def test_clusters_vanish_break_and_appear(spec):
    cloud = Fake("fake")
    for token in ("a", "b"):
        cloud.create(token, spec())
    cloud.vanish("a")
    cloud.fail("b", "disk error")
    cloud.plant("c", spec())
    assert state(cloud, "a") is State.ABSENT
    assert (state(cloud, "b"), cloud.describe(["b"])["b"].why) == (State.FAILED, "disk error")
    assert sorted(cloud.tokens()) == ["b", "c"]


def test_a_boot_may_fail(spec):
    cloud = Fake("fake", fails="image not found")
    cloud.create(TOKEN, spec())
    assert cloud.describe([TOKEN])[TOKEN].why == "image not found"
    assert state(cloud) is State.FAILED


def test_capacity_by_coretype(spec):
    cloud = Fake("fake", pools={"small": 4, "big": 100})
    cloud.create(TOKEN, spec(coretype="small", cores=3))
    assert {name: capacity.free for name, capacity in cloud.capacity().items()} == {"small": 1, "big": 100}
    with pytest.raises(Refused, match="no hardware 'huge'"):
        cloud.create("b", spec(coretype="huge"))


def test_a_batch_system_takes_more_than_is_free(spec):
    cloud = Fake("fake", cores=4, queues_itself=True, limit=10)
    for token in ("a", "b"):
        cloud.create(token, spec(cores=4))
    assert (cloud.capacity()[""].free, cloud.capacity()[""].queues_itself, cloud.capacity()[""].limit) == (0, True, 10)


def test_capacity_may_be_told_or_unknown():
    assert Fake("fake", cores=4, free=1).capacity()[""].free == 1
    assert Fake("fake", cores=4, unsized=True).capacity()[""].total is None


def test_calls_are_kept(spec):
    cloud = Fake("fake")
    cloud.create(TOKEN, spec())
    cloud.describe([TOKEN])
    cloud.destroy(TOKEN)
    assert list(cloud.calls) == [("create", TOKEN), ("describe", (TOKEN,)), ("destroy", TOKEN)]


def test_faults_reach_other_processes_by_the_folder(spec, place):
    folder = str(place / "fake")
    assert ended_with(in_child(lambda: Fake("fake", folder=folder).misbehave(down=True))) == 0
    assert state(Fake("fake", folder=folder)) is State.UNKNOWN


def test_an_unknown_fault_is_an_error():
    with pytest.raises(TypeError):
        Fake("fake", colour="red")
