"""Sessions of several users on one machine: nobody shares or reaches another's display, socket or secret."""

import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from jobs.agent import sandbox, tree
from tests.jobs.agent.rfb_probe import Viewer
from tests.jobs.agent.spoken_workstation import Workstations
from tests.jobs.agent.test_agent_desktop import display_of, x_answer

FIRST_UID = 54340
AT_ONCE = 20
installed = pytest.mark.skipif(
    not all(map(shutil.which, ("Xtigervnc", "openbox", "xterm"))), reason="needs tigervnc-standalone-server, openbox and xterm"
)
root = os.getuid() == 0


@pytest.fixture
def portals():
    made = []

    def make(**session):
        portal = Workstations()
        portal.session(**session)
        made.append(portal)
        return portal

    yield make
    for portal in made:
        portal.release()
        portal.stop()


@pytest.fixture
def tmp_path():
    """A folder that every user may pass through: pytest closes its own again whenever another run of it begins."""
    with tempfile.TemporaryDirectory(prefix="headrace-apart-") as name:
        os.chmod(name, 0o711)
        yield Path(name)


@pytest.fixture
def agents(make_agent):
    """Makes agents of users of their own, where that can be."""

    def make(portal, number, **extra):
        walls = {"run_as": {"uid": FIRST_UID + number, "gid": FIRST_UID + number}, "sandbox": "uid"} if root else {}
        agent = make_agent(f"n{number}", **{**walls, **extra})
        agent.portal = portal
        return agent_for(agent, portal)

    yield make
    for entry in os.scandir("/tmp/.X11-unix") if os.path.isdir("/tmp/.X11-unix") else ():
        if FIRST_UID <= entry.stat(follow_symlinks=False).st_uid < FIRST_UID + 100:
            os.unlink(entry.path)  # of X servers that were killed; a backend does it for its clusters


def agent_for(agent, portal):
    """The agent, told of another portal."""
    agent.raw["portal"] = f"http://127.0.0.1:{portal.port}"
    agent.config_path.write_text(json.dumps(agent.raw))
    return agent


def server_of(agent):
    return next(process.pid for process in everyone_of(agent) if tree.name(process.pid) == "Xtigervnc")


def everyone_of(agent):
    return tree.descendants(agent.pid("holder"), {agent.pid("reporter")})


@installed
def test_twenty_desktops_in_one_second_share_nothing(portals, agents, until):
    made = [agents(portals(kind="desktop", geometry="640x480"), number) for number in range(AT_ONCE)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda agent: agent.start(), made))
    until(lambda: all(agent.portal.last("ready") or agent.portal.last("exit") for agent in made), 120)
    assert [agent.portal.log() for agent in made if agent.portal.last("exit")] == []
    assert len({display_of(server_of(agent)) for agent in made}) == AT_ONCE
    assert len({(agent.base / "tmp" / "session" / "xauthority").read_bytes() for agent in made}) == AT_ONCE
    for agent in made:
        relay = until(lambda agent=agent: agent.portal.relay)
        assert Viewer(relay.open("desktop")).width == 640


@installed
@pytest.mark.skipif(not root, reason="needs root to become another user")
def test_another_user_reaches_neither_socket_nor_display(portals, agents, until):
    agent = agents(portals(kind="desktop"), 30)
    agent.start()
    until(lambda: agent.portal.last("ready"))
    path = agent.base / "tmp" / "session" / "desktop.sock"
    assert path.stat().st_uid == FIRST_UID + 30
    assert as_user(FIRST_UID + 31, f"import socket; socket.socket(socket.AF_UNIX).connect({str(path)!r})") == "PermissionError"
    assert as_user(FIRST_UID + 31, f"open({str(path.with_name('xauthority'))!r})") == "PermissionError"
    assert x_answer(display_of(server_of(agent)))[:1] == b"\0"
    assert not any(os.stat(f"/proc/{process.pid}").st_uid == 0 for process in everyone_of(agent))


def as_user(uid, line):
    """The name of the exception that the line raises, as another user."""
    code = f"try:\n {line}\nexcept Exception as error: print(type(error).__name__)\nelse: print('nothing')"
    done = subprocess.run(["/usr/bin/python3", "-c", code], user=uid, group=uid, extra_groups=[], capture_output=True, text=True, check=False)
    return done.stdout.strip() or done.stderr


@installed
@pytest.mark.parametrize("kind", ["desktop", "terminal"])
@pytest.mark.skipif(not shutil.which("bwrap"), reason="needs bubblewrap")
def test_a_session_behind_bubblewrap(kind, portals, agents, tmp_path, until):
    from jobs.backends.local_sandbox import Bubblewrap

    base = tmp_path / "n40"
    wrap = Bubblewrap().wrap(str(base / "work"), str(base / "tmp"))
    (base / "work").mkdir(parents=True)
    (base / "tmp").mkdir()
    if subprocess.run([*wrap, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this kernel lets bubblewrap make no namespaces")
    agent = agents(portals(kind=kind), 40, run_as=None, wrap=wrap, sandbox="bwrap")
    agent.start()
    until(lambda: agent.portal.last("ready") or agent.portal.last("exit"))
    stream = until(lambda: agent.portal.relay).open(kind)
    if kind == "desktop":
        assert Viewer(stream).width == 1280
    else:
        stream.write(struct.pack(">BI", 0, 13) + b"echo x$((1))\n")
        stream.until(b"x1")
    agent.portal.order(wish="suspend")
    assert agent.finished()["why"] == "wish"
    assert agent.portal.wholes


@pytest.mark.skipif(not sandbox.landlock_available(), reason="needs a kernel with Landlock")
def test_a_terminal_behind_landlock(portals, agents, until):
    portal = portals(kind="terminal")
    base = agents(portal, 50, run_as=None).base
    devices = ["/dev/null", "/dev/tty", "/dev/ptmx", "/dev/pts"]
    rules = {"rw": [str(base / "work"), *devices], "ro": ["/usr", "/bin", "/lib", "/lib64", "/etc", "/proc", sys.base_prefix]}
    agent = agents(portal, 50, run_as=None, landlock=rules, sandbox="landlock")
    agent.start()
    until(lambda: portal.last("ready") or portal.last("exit"))
    stream = until(lambda: portal.relay).open("terminal")
    line = f"cat {agent.folder}/spec.json; echo done-$((1+1))\n".encode()
    stream.write(b"\0" + len(line).to_bytes(4, "big") + line)
    assert b"Permission denied" in stream.until(b"done-2")


def test_a_node_without_tigervnc_says_so(portals, agents, until):
    portal = portals(kind="desktop")
    agent = agents(portal, 60, run_as=None)
    agent.raw["environment"] = {"PATH": str(agent.base)}
    agent_for(agent, portal)
    agent.start()
    assert agent.finished()["code"] == 127
    assert b"Xtigervnc is not installed on this node: apt-get install tigervnc-standalone-server openbox xterm" in portal.log()


def test_a_node_without_jupyterlab_says_so(portals, agents, until):
    portal = portals(kind="jupyter")
    agent = agents(portal, 61, run_as=None)
    agent.raw["environment"] = {"PATH": str(agent.base)}
    agent_for(agent, portal)
    agent.start()
    assert agent.finished()["code"] == 127
    assert b"JupyterLab is not installed on this node" in portal.log()
