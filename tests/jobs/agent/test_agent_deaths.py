"""Whatever dies when: the command starts at most once, no byte is lost or doubled, nothing is left alive."""

import hashlib
import os
import shutil
import signal

from jobs.agent import tree

LINES = "for i in $(seq 1 300); do echo line $i; sleep 0.005; done"
EXPECTED = b"".join(b"line %d\n" % number for number in range(1, 301))


def test_reporter_killed_again_and_again_loses_and_doubles_nothing(agent, portal, until):
    portal.spec["commands"] = ["echo run >> runs.txt", LINES, "head -c 3000000 /dev/zero > big.bin"]
    portal.orders["watched"] = True
    agent.start()
    for _ in range(12):
        agent.kill("reporter")
        until(lambda: agent.pid("reporter"))
        calls = portal.log_calls
        until(lambda calls=calls: portal.log_calls > calls or portal.last("done"))
    exit = agent.finished()
    assert exit["code"] == 0
    assert portal.log() == EXPECTED
    assert portal.files["runs.txt"] == b"run\n"
    assert len(portal.files["big.bin"]) == 3000000
    assert len({body["pid"] for body in portal.bodies("started")}) == 1


def test_holder_killed_is_lost_and_leaves_nothing(agent, portal, until):
    portal.spec["commands"] = ["echo x > kept.txt; setsid sleep 600 & env -u X sleep 601 & echo armed; sleep 602"]
    agent.start()
    until(lambda: b"armed" in portal.log())
    agent.kill("holder")
    exit = agent.finished()
    assert (exit["code"], exit["signal"], exit["why"]) == (None, None, "lost")
    assert exit["ran"] > 0
    assert agent.processes() == []
    assert portal.files["kept.txt"] == b"x\n"
    assert portal.log() == b"armed\n"
    portal.release()
    until(agent.gone)


def test_lost_holder_leaves_nothing_that_hid_its_environment(agent, portal, until):
    portal.orders["watched"] = True
    portal.spec["commands"] = ["env -i setsid sleep 98765 & echo armed; sleep 600"]
    agent.start()
    until(lambda: sum(beat["processes"] >= 3 for beat in portal.bodies("beat")) >= 2)
    agent.kill("holder")
    assert agent.finished()["why"] == "lost"
    hidden = [process for process in tree.everyone().values() if process.alive and _words(process.pid) == b"sleep\x0098765\0"]
    assert hidden == []


def _words(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read()
    except OSError:
        return b""


def test_both_killed_and_started_again_is_lost_not_run_twice(agent, portal, until):
    portal.spec["commands"] = ["echo run >> runs.txt; echo armed; setsid sleep 600 & sleep 601"]
    agent.start()
    until(lambda: b"armed" in portal.log())
    os.kill(agent.pid("holder"), signal.SIGSTOP)
    agent.kill("reporter")
    agent.kill("holder")
    assert agent.processes()
    agent.start()
    exit = agent.finished()
    assert exit["why"] == "lost"
    assert portal.files["runs.txt"] == b"run\n"
    assert agent.processes() == []


def test_both_killed_after_the_end_still_saves_and_tells_the_true_exit(agent, portal, until):
    portal.spec["commands"] = ["echo x > kept.txt; echo line; exit 3"]
    portal.refuse["exit"] = (503, {})
    agent.start()
    until(lambda: agent.mark("exit.json"))
    os.kill(agent.pid("holder"), signal.SIGSTOP)
    agent.kill("reporter")
    agent.kill("holder")
    portal.refuse.clear()
    agent.start()
    exit = agent.finished()
    assert (exit["code"], exit["why"]) == (3, None)
    assert portal.log() == b"line\n"
    assert portal.files["kept.txt"] == b"x\n"


def test_second_start_while_it_lives_does_nothing(agent, portal, until):
    portal.spec["commands"] = ["echo run >> runs.txt; echo armed; until [ -e STOP ]; do sleep 0.02; done"]
    agent.start()
    until(lambda: b"armed" in portal.log())
    before = agent.pid("holder"), agent.pid("reporter")
    agent.start()
    assert (agent.pid("holder"), agent.pid("reporter")) == before
    (agent.work / "STOP").touch()
    assert agent.finished()["code"] == 0
    assert portal.files["runs.txt"] == b"run\n"


def test_start_after_the_release_does_nothing(agent, portal, until):
    agent.run("true")
    portal.release()
    until(agent.gone)
    hellos = len(portal.bodies("hello"))
    portal.gone = False
    agent.start()
    assert agent.gone()
    assert len(portal.bodies("hello")) == hellos


def test_reporter_killed_while_staging_goes_on_where_it_was(agent, portal, until):
    data = os.urandom(4 << 20)
    portal.inputs["a1"] = data
    portal.spec.update(
        commands=["sha256sum big/input.bin"],
        inputs=[{"id": "a1", "name": "big/input.bin", "size": len(data), "sha256": hashlib.sha256(data).hexdigest()}],
    )
    portal.refuse["staged"] = (503, {})
    portal.cut_input_after = 1 << 20
    agent.start()
    until(lambda: agent.mark("staged"))
    agent.kill("reporter")
    portal.refuse.clear()
    assert agent.finished()["code"] == 0
    assert portal.log().startswith(hashlib.sha256(data).hexdigest().encode())
    assert portal.bodies("input") == [0, 1 << 20]
    assert portal.files == {}  # an unchanged input does not come back


def test_reporter_killed_between_go_and_start_asks_again(agent, portal, until):
    portal.ready = False
    portal.spec["commands"] = ["echo run >> runs.txt"]
    agent.start()
    until(lambda: portal.bodies("go"))
    agent.kill("reporter")
    portal.ready = True
    agent.finished()
    assert len(set(portal.bodies("go"))) == 1
    assert portal.files["runs.txt"] == b"run\n"


def test_sigterm_to_the_holder_ends_the_command_and_saves(agent, portal, until):
    portal.spec["commands"] = ["trap 'echo saved; exit 0' TERM; echo armed; sleep 1000 & wait"]
    agent.start()
    until(lambda: b"armed" in portal.log())
    os.kill(agent.pid("holder"), signal.SIGTERM)
    exit = agent.finished()
    assert exit["code"] == 0
    assert portal.log() == b"armed\nsaved\n"


def test_agent_whose_folder_is_taken_away_ends_everything(agent, portal, until):
    portal.spec["commands"] = ["echo armed; setsid sleep 600 & sleep 600"]
    agent.start()
    until(lambda: b"armed" in portal.log())
    portal.stop()
    shutil.rmtree(agent.folder)
    until(lambda: agent.agents() == [] and agent.processes() == [])


def test_dead_holder_and_away_portal_together(agent, portal, until):
    portal.spec["commands"] = ["echo armed; sleep 600"]
    agent.start()
    until(lambda: b"armed" in portal.log())
    portal.stop()
    agent.kill("holder")
    until(lambda: agent.mark("exit.json"))
    assert agent.processes() == []
    portal.start(portal.port)
    assert agent.finished()["why"] == "lost"

