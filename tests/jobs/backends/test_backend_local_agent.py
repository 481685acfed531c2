"""The real agent on this machine, behind each of its walls: a command runs, can be stopped, and nothing is left."""

import pytest
from backend_clouds import AS_ROOT, agents, destroy, eventually, leftovers

from jobs.agent import build
from jobs.backends.base import State


@pytest.fixture
def zipapp(place):
    return str(build(place / "agent.pyz"))


WALLS = ["uid", "bwrap", "landlock"]


@pytest.fixture(params=[*WALLS, "none"])
def walled(request, local):
    backend = local(sandboxes=[request.param])
    if backend.sandbox != request.param:
        pytest.skip(f"{request.param} does not work on this machine")
    return backend


def ended(portal):
    return eventually(lambda: portal.said("exit"))[0]


def test_a_command_runs_behind_every_wall(walled, portal, spec, zipapp, token):
    there = portal("echo hello from $HEADRACE_NODES; touch made; touch $TMPDIR/made; cat /etc/passwd >/dev/null")
    walled.create(token, spec(portal=there.address, agent=zipapp))
    assert ended(there)["code"] == 0
    assert eventually(lambda: there.said("done"))
    assert bytes(there.log) == b"hello from 1\n"
    assert there.said("hello")[0]["sandbox"] == walled.sandbox
    assert walled.describe([token])[token].state is State.UP
    there.release()
    assert eventually(lambda: not agents(walled, token))
    assert walled.describe([token])[token].state is State.UP  # let go, not lost
    assert destroy(walled, token)
    assert leftovers(walled, token) == []


def test_a_stop_lets_the_command_end_by_itself_behind_every_wall(walled, portal, spec, zipapp, token):
    there = portal("trap 'echo saving; exit 3' TERM; echo ready; while :; do sleep 0.05; done")
    walled.create(token, spec(portal=there.address, agent=zipapp))
    assert eventually(lambda: bytes(there.log) == b"ready\n")
    there.order("stop")
    assert ended(there)["code"] == 3
    assert eventually(lambda: bytes(there.log).endswith(b"saving\n"))


@pytest.mark.parametrize("walled", WALLS, indirect=True)
def test_the_portal_stays_out_of_reach_behind_every_wall(walled, portal, spec, zipapp, token, place):
    (place / "data").mkdir(mode=0o700)
    (place / "data" / "database").write_text("everybody's money")
    start_file = walled._folders.path(token) / "node-0" / "CONFIG.json"
    there = portal(f"cat {place}/data/database; cat {start_file}; touch {place}/mine; env | sort")
    walled.create(token, spec(portal=there.address, agent=zipapp))
    assert ended(there)["code"] == 0
    assert eventually(lambda: b"HEADRACE_TOKEN=" in there.log)
    assert b"money" not in there.log
    assert b"not-to-be-seen" not in there.log
    assert not (place / "mine").exists()


def test_every_node_says_hello_and_the_head_runs_the_command(local, portal, spec, zipapp, token):
    there, backend = portal("echo $HEADRACE_HOSTS", nodes=3), local()
    backend.create(token, spec(nodes=3, portal=there.address, agent=zipapp))
    assert ended(there)["code"] == 0
    assert there.nodes_up() == {0, 1, 2}
    assert eventually(lambda: bytes(there.log) == b"here,here,here\n")


def test_destroy_in_the_middle_of_a_run_leaves_nothing(walled, portal, spec, zipapp, token):
    there = portal("for i in 1 2 3; do setsid sleep 600 & done; (trap '' TERM HUP INT; sleep 600) & echo ready; wait", nodes=2)
    walled.create(token, spec(nodes=2, portal=there.address, agent=zipapp))
    assert eventually(lambda: bytes(there.log) == b"ready\n")
    assert destroy(walled, token)
    assert leftovers(walled, token) == []


def test_agents_wait_for_a_portal_that_is_away(local, spec, zipapp, token):
    backend = local()
    backend.create(token, spec(agent=zipapp))
    assert eventually(lambda: agents(backend, token))
    assert backend.describe([token])[token].state is State.UP
    assert destroy(backend, token)
    assert leftovers(backend, token) == []


@pytest.mark.skipif(not AS_ROOT, reason="needs root")
def test_a_command_that_wants_too_much_memory_is_told(local, portal, spec, zipapp, token):
    backend = local()
    if not any("memory" in hierarchy.controllers for hierarchy in backend._limits.hierarchies):
        pytest.skip("no memory controller that can be used")
    there = portal("x=$(head -c 150M /dev/zero | tr '\\0' x); echo ${#x}")
    backend.create(token, spec(memory=64 << 20, portal=there.address, agent=zipapp))
    report = ended(there)
    assert report["memory_killed"] is True
