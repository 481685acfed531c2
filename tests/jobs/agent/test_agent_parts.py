"""The agent's small parts by themselves: processes, deadlines, orders."""

import os
import shutil
import subprocess
import time

import pytest

from jobs.agent import marks, tree
from jobs.agent.bell import Bell
from jobs.agent.ending import Ending
from jobs.agent.orders import Orders


def test_process_whose_name_is_meant_to_confuse_is_read_right(tmp_path, until):
    program = tmp_path / "x) R 1 ("
    shutil.copy(shutil.which("sleep"), program)
    process = subprocess.Popen([program, "60"])
    try:
        found = until(lambda: tree.look(process.pid))
        assert (found.pid, found.parent) == (process.pid, os.getpid())
        assert process.pid in {child.pid for child in tree.descendants(os.getpid())}
    finally:
        process.kill()
        process.wait()


def test_zombie_counts_as_dead_and_a_reused_pid_is_somebody_else(until):
    process = subprocess.Popen(["true"])
    until(lambda: tree.look(process.pid).status == "Z")
    assert not tree.look(process.pid).alive
    assert not tree.same(process.pid, tree.look(process.pid).starttime)
    process.wait()
    me = tree.look(os.getpid())
    assert tree.same(me.pid, me.starttime)
    assert not tree.same(me.pid, me.starttime - 1)


def test_only_commands_carry_the_mark_not_agents():
    def started(**more):
        return subprocess.Popen(["sleep", "60"], env={"PATH": os.environ["PATH"], "HEADRACE_TOKEN": "hrx-job-parts-1", **more})

    agent, command = started(), started(HEADRACE_JOB_DIR="/x")
    try:
        assert [process.pid for process in tree.marked("hrx-job-parts-1")] == [command.pid]
        assert tree.marked("hrx-job-parts-12") == []
    finally:
        for process in (agent, command):
            process.kill()
            process.wait()


def test_first_cause_is_the_reason_and_later_ones_only_hasten():
    ending = Ending(10.0)
    ending.deadlines(walltime=100.0, paid=105.0)
    ending.check(99.0)
    assert (ending.began, ending.ask_now()) == (None, False)
    ending.check(100.0)
    assert (ending.why, ending.ask_now(), ending.ask_now()) == ("walltime", True, False)
    assert not ending.kill_due(109.9)
    ending.stop(105.0, "wish", force=True)
    assert (ending.why, ending.kill_due(105.0)) == ("walltime", True)


def test_older_orders_do_not_undo_newer_ones():
    orders = Orders(lambda: None)
    orders.heard({"version": 5, "wish": "stop", "now": 1.0})
    orders.heard({"version": 4, "wish": "run", "now": 2.0})
    assert orders.wish == "stop"


@pytest.mark.parametrize("skew", [0.0, 1e6, -1e6])
def test_deadlines_are_translated_from_the_portals_clock(skew):
    orders = Orders(lambda: None)
    portal_now = time.time() + skew
    orders.heard({"version": 1, "now": portal_now, "walltime_until": portal_now + 60, "paid_until": None})
    assert orders.walltime == pytest.approx(time.monotonic() + 60, abs=1)
    assert orders.paid is None


def test_same_deadline_heard_again_is_no_news():
    news = []
    orders = Orders(lambda: news.append(1))
    now = time.time()
    orders.heard({"version": 1, "now": now, "walltime_until": now + 60})
    orders.heard({"version": 1, "now": now - 0.01, "walltime_until": now + 60})
    assert news == [1]


def test_bell_rung_before_the_wait_is_heard_and_rings_once():
    bell = Bell()
    for _ in range(100000):
        bell.ring()
    began = time.monotonic()
    bell.wait(60)
    assert time.monotonic() - began < 30
    bell.wait(0)


def test_mark_on_a_full_disk_takes_the_reserve(tmp_path, monkeypatch):
    folder = str(tmp_path)
    marks.reserve(folder)
    real = os.fsync
    full = [True]

    def fsync(fd):
        if full.pop() if full else False:
            raise OSError(28, "No space left on device")
        real(fd)

    monkeypatch.setattr(os, "fsync", fsync)
    marks.write(folder, marks.EXIT, {"code": 3})
    assert marks.read(folder, marks.EXIT) == {"code": 3}
    assert not (tmp_path / "reserve").exists()
