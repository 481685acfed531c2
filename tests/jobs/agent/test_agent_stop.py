"""Stopping: asked, then made; by wish, walltime or money; with or without the portal."""

import time

import pytest

STUBBORN = "bash -c \"trap '' TERM; echo armed; while :; do sleep 0.05; done\" & wait"


def _started(portal, until, word=b"armed"):
    until(lambda: word in portal.log())


def test_stop_reaches_what_ignores_sigterm(agent, portal, until):
    portal.spec.update(commands=[STUBBORN], grace=1)
    portal.order(grace=0.5)
    agent.start()
    _started(portal, until)
    portal.order(wish="stop")
    exit = agent.finished()
    assert (exit["why"], exit["signal"]) == ("wish", 15)
    assert exit["leftovers"] >= 1
    assert agent.processes() == []


def test_a_shell_that_misses_the_signal_is_asked_again(agent, portal, until, tmp_path):
    """As bash does that is just between fork and wait: here its first SIGTERM only leaves a mark."""
    before = tmp_path / "before.sh"
    before.write_text("trap '[ -e asked ] && exit 5; : > asked' TERM\n")
    portal.spec.update(commands=["echo armed; while :; do sleep 0.05; done"], environment={"BASH_ENV": str(before)}, grace=600)
    agent.start()
    _started(portal, until)
    portal.order(wish="stop", grace=600)
    exit = agent.finished()
    assert (exit["code"], exit["why"]) == (5, "wish")
    assert agent.processes() == []


def test_a_shell_with_a_trap_of_its_own_is_asked_once(agent, portal, until):
    portal.spec.update(commands=["trap 'echo asked' TERM; echo armed; until grep -q asked log; do sleep 0.05; done 2>/dev/null"], grace=3)
    agent.start()
    _started(portal, until)
    portal.order(wish="stop", grace=3)
    agent.finished()
    assert portal.log() == b"armed\nasked\n"


def test_program_that_saves_and_exits_with_0_was_stopped(agent, portal, until):
    portal.spec["commands"] = ["trap 'echo saved; exit 0' TERM; echo armed; sleep 1000 & wait"]
    agent.start()
    _started(portal, until)
    portal.order(wish="stop")
    exit = agent.finished()
    assert (exit["code"], exit["why"]) == (0, "wish")
    assert portal.log().endswith(b"saved\n")


def test_child_may_save_although_its_shell_is_gone(agent, portal, until):
    saver = "trap 'sleep 0.7; echo result > result.txt; exit 0' TERM; echo armed; while :; do sleep 0.05; done"
    portal.spec["commands"] = [f'bash -c "{saver}"; true']
    agent.start()
    _started(portal, until)
    portal.order(wish="stop")
    agent.finished()
    assert portal.files["result.txt"] == b"result\n"


def test_stop_command_of_the_software_takes_the_place_of_sigterm(agent, portal, until):
    portal.spec.update(
        commands=["trap 'echo terminated' TERM; echo armed; until [ -e STOP ]; do sleep 0.02; done; echo wrote all"],
        stop_command="touch STOP",
    )
    agent.start()
    _started(portal, until)
    portal.order(wish="stop")
    exit = agent.finished()
    assert (exit["code"], exit["why"]) == (0, "wish")
    assert portal.log() == b"armed\nwrote all\n"


def test_leftovers_after_a_stop_command_do_not_wait_for_the_whole_grace(agent, portal, until):
    portal.spec.update(commands=["sleep 600 & echo armed; until [ -e STOP ]; do sleep 0.02; done"], stop_command="touch STOP", grace=600)
    portal.order(grace=600)
    agent.start()
    _started(portal, until)
    portal.order(wish="stop")
    exit = agent.finished()
    assert (exit["code"], exit["leftovers"]) == (0, 1)


def test_stop_command_that_fails_is_followed_by_sigterm(agent, portal, until):
    portal.spec.update(commands=["echo armed; exec sleep 1000"], stop_command="exit 3")
    agent.start()
    _started(portal, until)
    portal.order(wish="stop")
    assert agent.finished()["signal"] == 15


def test_force_stop_kills_at_once_and_gives_outputs_up(agent, portal, until):
    portal.spec["commands"] = ["echo x > result.txt; " + STUBBORN]
    portal.order(grace=60)
    agent.start()
    _started(portal, until)
    portal.order(wish="stop")
    until(lambda: agent.processes())
    portal.order(wish="force stop")
    exit = agent.finished()
    assert exit["why"] == "wish"
    assert portal.files == {}
    assert portal.log() == b"armed\n"
    assert portal.bodies("manifest")[-1]["last"] == "1"


def test_stop_before_the_start_starts_nothing(agent, portal, until):
    portal.ready = False
    portal.spec["commands"] = ["touch ran"]
    agent.start()
    until(lambda: portal.bodies("go"))
    portal.order(wish="stop")
    until(lambda: portal.last("done"))
    assert portal.bodies("started") == []
    assert not (agent.work / "ran").exists()


@pytest.mark.parametrize(("order", "why"), [("walltime_until", "walltime"), ("paid_until", "unpaid")])
def test_time_and_money_end_the_run_with_the_portal_away(agent, portal, until, order, why):
    portal.spec["commands"] = ["trap 'echo saved; exit 0' TERM; echo armed; sleep 1000 & wait"]
    agent.start()
    _started(portal, until)
    portal.order(**{order: time.time() + 1.0})
    until(lambda: portal.known == 2)
    portal.stop()
    until(lambda: agent.mark("exit.json"))
    portal.start(portal.port)
    exit = agent.finished()
    assert (exit["why"], exit["code"]) == (why, 0)
    assert exit["ran"] >= 1.0
    assert portal.log() == b"armed\nsaved\n"


@pytest.mark.parametrize("skew", [5000.0, -5000.0])
def test_deadline_is_measured_by_the_portals_clock(agent, portal, until, skew):
    real = portal.now_orders
    portal.now_orders = lambda: dict(real(), now=time.time() + skew)
    portal.spec["commands"] = ["echo armed; exec sleep 1000"]
    agent.start()
    _started(portal, until)
    portal.order(walltime_until=time.time() + skew + 0.5)
    assert agent.finished()["why"] == "walltime"


def test_walltime_can_be_extended(agent, portal, until):
    portal.spec["commands"] = ["echo armed; until [ -e STOP ]; do sleep 0.02; done"]
    first = time.time() + 3
    portal.order(walltime_until=first)
    agent.start()
    _started(portal, until)
    portal.order(walltime_until=first + 600)
    until(lambda: time.time() > first + 0.2)
    (agent.work / "STOP").touch()
    exit = agent.finished()
    assert (exit["code"], exit["why"]) == (0, None)
