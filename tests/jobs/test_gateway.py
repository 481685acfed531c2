"""Reports of agents become facts; the command is handed out once."""

import factories
import playing
import pytest

from jobs import backends, gateway, tokens
from jobs.models import Cluster, Workload

pytestmark = pytest.mark.django_db


@pytest.fixture
def clock():
    return playing.Clock()


@pytest.fixture
def work(clock) -> Workload:
    backends.get("fake").misbehave()
    job = factories.job(nodes=2)
    job.workload.submit(job.workload.owner, clock())
    playing.turn_all(clock, ("queued", "validating", "starting"))
    job.workload.refresh_from_db()
    return job.workload


def greet(agent, clock, nonce="n", **more):
    return gateway.hello(agent, {"nonce": nonce, "hostname": f"h{agent.node}", "clock": clock().timestamp(), **more}, clock())


def test_only_the_secret_opens_the_door(work):
    cluster = work.cluster
    secret = tokens.secret_of(cluster.token)
    assert gateway.identify(cluster.token, 1, secret).workload_id == work.pk
    for token, node, word in [
        (cluster.token, 0, "wrong"),
        ("hr-no-such-1", 0, secret),
        (cluster.token, 2, secret),
        (cluster.token, -1, secret),
    ]:
        with pytest.raises(gateway.Unknown):
            gateway.identify(token, node, word)
    assert secret not in repr(Cluster.objects.values().get(pk=cluster.pk))


def test_after_release_everything_is_gone(work, clock):
    cluster = work.cluster
    Cluster.objects.filter(pk=cluster.pk).update(releasing=clock())
    with pytest.raises(gateway.Gone):
        gateway.identify(cluster.token, 0, tokens.secret_of(cluster.token))


def test_billing_starts_at_the_first_hello(work, clock):
    head, other = playing.callers(work)
    greet(other, clock)
    first = clock()
    clock.forward(30)
    greet(head, clock)
    assert work.cluster.up == first
    assert [node.index for node in work.cluster.nodes.all()] == [0, 1]


def test_a_second_agent_cannot_take_a_nodes_place(work, clock):
    head, _ = playing.callers(work)
    assert greet(head, clock)["spec"]["commands"] == ["true"]
    assert greet(head, clock)["spec"]["commands"] == ["true"]
    with pytest.raises(gateway.Gone):
        greet(head, clock, nonce="other")


def test_go_waits_for_all_nodes_and_the_inputs_and_is_given_once(work, clock):
    head, other = playing.callers(work)
    greet(head, clock)
    assert gateway.go(head, "n", clock()) == {"go": False, "wait": "1 of 2 nodes up"}
    greet(other, clock)
    assert gateway.go(head, "n", clock())["wait"] == "inputs are not staged"
    gateway.staged(head, {"files": 0, "bytes": 0}, clock())
    assert gateway.go(head, "n", clock()) == {"go": True, "hosts": ["h0", "h1"]}
    assert gateway.go(head, "n", clock())["go"]
    for asker, nonce in [(head, "another"), (other, "n")]:
        with pytest.raises(gateway.Gone):
            gateway.go(asker, nonce, clock())
    cluster = work.cluster
    assert (cluster.walltime_until - cluster.went).total_seconds() == work.walltime


def test_go_is_refused_after_a_stop(work, clock):
    agents = playing.callers(work)
    for agent in agents:
        greet(agent, clock)
    gateway.staged(agents[0], {"files": 0, "bytes": 0}, clock())
    work.stop(work.owner, now=clock())
    assert not gateway.go(agents[0], "n", clock())["go"]
    assert gateway.orders(agents[0], clock())["wish"] == "stop"


def test_facts_are_written_once(work, clock):
    agents = playing.boot(work, clock)
    gateway.exited(agents[0], {"code": 3, "clock": clock().timestamp()}, clock())
    first = work.cluster.exited
    clock.forward(50)
    gateway.exited(agents[0], {"code": 0, "clock": clock().timestamp()}, clock())
    assert (work.cluster.exit["code"], work.cluster.exited) == (3, first)


def test_the_end_is_the_nodes_moment_on_our_clock(work, clock):
    """The node's clock is an hour ahead, and the report comes ten minutes late."""
    head, other = playing.callers(work)
    greet(other, clock)
    gateway.hello(head, {"nonce": "n0", "hostname": "h", "clock": clock().timestamp() + 3600}, clock())
    gateway.staged(head, {"files": 0, "bytes": 0}, clock())
    gateway.go(head, "n0", clock())
    ended = clock.forward(20)
    late = clock.forward(600)
    gateway.exited(head, {"code": 0, "clock": ended.timestamp() + 3600}, late)
    assert abs((work.cluster.exited - ended).total_seconds()) < 0.01


@pytest.mark.parametrize("clock_value", [None, "soon", float("inf"), 1e300, -5.0, float("nan")])
def test_an_impossible_clock_is_not_believed(work, clock, clock_value):
    agents = playing.boot(work, clock)
    gateway.exited(agents[0], {"code": 0, "clock": clock_value}, clock.forward(10))
    cluster = work.cluster
    assert cluster.up <= cluster.exited <= clock()


def test_words_from_nodes_are_fit_for_the_database(work, clock):
    agents = playing.callers(work)
    gateway.failed(agents[0], {"message": "no\0room\udcff" + "x" * 5000}, clock())
    assert work.cluster.broken.startswith("no\N{SYMBOL FOR NULL}room")
    assert len(work.cluster.broken) <= 2000
