"""A real TigerVNC desktop through the relay: pictures, typing, size, its walls, its end."""

import os
import shutil
import socket

import pytest

from tests.jobs.agent.rfb_probe import Viewer
from tests.jobs.agent.spoken_workstation import Workstations

pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, ("Xtigervnc", "openbox", "xterm"))), reason="needs tigervnc-standalone-server, openbox and xterm"
)


@pytest.fixture
def spoken():
    portal = Workstations()
    portal.session(kind="desktop", geometry="900x600")
    return portal


@pytest.fixture
def viewer(agent, portal, until):
    agent.start()
    until(lambda: portal.last("ready") and portal.relay)
    return Viewer(portal.relay.open("desktop"))


def colours(rectangles):
    return {data[at : at + 4] for *_, encoding, data in rectangles if encoding == 0 for at in range(0, len(data), 400)}


def white(viewer):
    """Whether the terminal's window shows."""
    return b"\xff\xff\xff" in {colour[:3] for colour in colours(viewer.whole_picture())}


def test_pictures_typing_and_size(viewer, agent, portal, until):
    assert (viewer.width, viewer.height, viewer.name) == (900, 600, "Headrace")
    assert until(lambda: colours(viewer.whole_picture()))
    until(lambda: white(viewer))
    viewer.type("echo $DISPLAY > kept.txt\n")
    until(lambda: (agent.work / "kept.txt").exists())
    assert until(lambda: (agent.work / "kept.txt").read_text()).startswith(":")
    viewer.resize(1100, 700)
    sizes = until(lambda: _sizes(viewer))
    assert (1100, 700) in sizes
    portal.order(wish="suspend")
    assert agent.finished()["why"] == "wish"
    assert portal.wholes[-1]["files"] >= 1
    assert agent.processes() == []


def _sizes(viewer):
    return {(width, height) for _, _, width, height, encoding, _ in viewer.whole_picture() if encoding == -308}


def test_nothing_listens_on_the_network_and_no_display_without_the_cookie(viewer, agent, until):
    pids = [process.pid for process in agent.processes()]
    server = next(pid for pid in pids if _comm(pid) == "Xtigervnc")
    inodes = {os.readlink(f"/proc/{server}/fd/{fd}") for fd in os.listdir(f"/proc/{server}/fd")}
    with open("/proc/net/tcp") as four, open("/proc/net/tcp6") as six:
        listening = {f"socket:[{line.split()[9]}]" for line in [*four, *six] if line.split()[3] == "0A"}
    assert not inodes & listening
    folder = agent.base / "tmp" / "session"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir() if path.suffix == ".sock"} == {"desktop.sock": 0o600}
    assert (folder / "xauthority").stat().st_mode & 0o777 == 0o600
    assert b"MIT-MAGIC-COOKIE" not in x_answer(display_of(server))
    assert x_answer(display_of(server))[:1] == b"\0"


def display_of(server):
    with open("/proc/net/unix") as file:
        paths = {line.split()[6]: line.split()[7] for line in file if len(line.split()) == 8}
    inodes = [os.readlink(f"/proc/{server}/fd/{fd}") for fd in os.listdir(f"/proc/{server}/fd")]
    return next(path[1:] for inode in inodes if (path := paths.get(inode[8:-1], "")).startswith("@/tmp/.X11-unix/X"))


def x_answer(path):
    """What the X server says to somebody without a cookie."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(10)
        connection.connect("\0" + path)
        connection.sendall(b"l\0\x0b\0\0\0\0\0\0\0\0\0")
        return connection.recv(100)


def _comm(pid):
    with open(f"/proc/{pid}/comm") as file:
        return file.read().strip()
