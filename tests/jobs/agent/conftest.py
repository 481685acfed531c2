"""Agents as real processes, each with a portal of its own to talk to."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from jobs.agent import build, marks, tree
from jobs.agent.config import parse
from tests.jobs.agent.spoken_portal import SECRET, Portal
from tests.waiting import until

PYTHON = os.environ.get("HEADRACE_AGENT_PYTHON", sys.executable)  # what the agents run under
_tokens = iter(range(1, 1 << 30))


class Agent:
    """One node's agent as a process of its own."""

    def __init__(self, portal, base, pyz, node=0, python=PYTHON, token=None, address=None, **extra):
        self.portal, self.base, self.pyz, self.python = portal, base, pyz, python
        self.token = token or f"hrtest{os.getpid()}-job-aBcDeF-{next(_tokens)}"
        self.raw = {
            "portal": address or f"http://127.0.0.1:{portal.port}", "ca": None, "token": self.token, "secret": SECRET,
            "node": node, "nodes": 1, "folder": str(base / "agent"), "workdir": str(base / "work"),
            "hostname": f"node{node}", "foreground": False, "run_as": None, "wrap": None, "landlock": None,
            "sandbox": "none", "cgroups": [], "memory": None, "cores": 2, "rlimits": {}, **extra,
        }
        self.work, self.folder = Path(self.raw["workdir"]), Path(self.raw["folder"])
        base.mkdir(parents=True, exist_ok=True)
        self.config_path = base / "config.json"
        self.config_path.write_text(json.dumps(self.raw))
        self.config = parse(self.raw)

    def start(self):
        env = dict(os.environ, HEADRACE_TOKEN=self.token, SECRET_OF_THE_PORTAL="x")
        return subprocess.run([self.python, str(self.pyz), str(self.config_path)], env=env, timeout=20, check=True)

    def pid(self, name):
        try:
            pid, starttime = map(int, (self.folder / f"{name}.pid").read_text().split())
        except (OSError, ValueError):
            return None
        return pid if tree.same(pid, starttime) else None

    def kill(self, name):
        pid = self.pid(name)
        if pid:
            os.kill(pid, signal.SIGKILL)
            until(lambda: self.pid(name) != pid)
        return pid

    def gone(self):
        return self.pid("holder") is None and self.pid("reporter") is None

    def processes(self):
        """Living processes of the command."""
        return tree.marked(self.token)

    def mark(self, name):
        return marks.read(str(self.folder), name)

    def run(self, *commands, seconds=30.0, **spec):
        """Runs commands to the agent's last word and returns the exit report."""
        self.portal.spec.update(spec, commands=list(commands))
        self.start()
        return self.finished(seconds)

    def finished(self, seconds=30.0):
        until(lambda: self.portal.last("done"), seconds)
        return self.portal.last("exit")

    def end(self):
        tree.kill_until_gone(self.agents)
        tree.kill_until_gone(self.processes)

    def agents(self):
        """Living processes of the agent, by the start file among their words."""
        return [process for process in tree.everyone().values() if process.alive and self._started(process.pid)]

    def _started(self, pid):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                return str(self.config_path).encode() in file.read().split(b"\0")
        except OSError:
            return False


@pytest.fixture(scope="session")
def pyz(tmp_path_factory):
    return build(tmp_path_factory.mktemp("pyz") / "headrace-agent.pyz")


@pytest.fixture(name="until")
def until_fixture():
    return until


@pytest.fixture
def spoken():
    """What the agent will find as its portal; tests of sessions put another in its place."""
    return Portal()


@pytest.fixture
def portal(spoken):
    yield spoken
    spoken.release()
    spoken.stop()


@pytest.fixture
def make_agent(portal, tmp_path, pyz):
    """Makes agents, and leaves nothing of them behind."""
    made = []

    def make(name="node0", **extra):
        agent = Agent(portal, tmp_path / name, pyz, **extra)
        made.append(agent)
        return agent

    yield make
    for agent in made:
        agent.end()
        shutil.rmtree(agent.base, ignore_errors=True)


@pytest.fixture
def agent(make_agent):
    return make_agent()


@pytest.fixture
def terminal(agent, portal, until):
    """Opens the terminal of a started workstation."""

    def open_():
        agent.start()
        until(lambda: portal.last("ready") and portal.relay)
        return portal.relay.open("terminal")

    return open_
