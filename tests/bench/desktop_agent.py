"""A workstation's way from the node's side: start to first picture, suspend and resume, what the relay adds.

Against a portal in this process, so that only the agent's part is measured; beside each figure the bare limit. Run it with
`python tests/bench/desktop_agent.py` on a machine with tigervnc-standalone-server, openbox and xterm. Goals: first picture
3 s, suspend and resume of a home of 100 MB 3 s each, at most 15 ms more from key to picture.
"""

import os
import select
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]

from jobs.agent import build  # noqa: E402
from tests.jobs.agent.conftest import Agent, until  # noqa: E402
from tests.jobs.agent.rfb_probe import Viewer  # noqa: E402
from tests.jobs.agent.spoken_workstation import Workstations  # noqa: E402

ROUNDS, KEYS = 5, 60
QUIET = 0.1  # seconds without a picture before the next key
HOME = 100_000_000  # bytes
FILES = 2000


class Direct:
    """The unix socket itself, as a stream."""

    def __init__(self, path):
        self.connection = socket.socket(socket.AF_UNIX)
        self.connection.connect(str(path))

    def write(self, data):
        self.connection.sendall(data)

    def quiet(self):
        return not select.select([self.connection], [], [], QUIET)[0]

    def read(self, size):
        found = b""
        while len(found) < size:
            data = self.connection.recv(size - len(found))
            assert data, "the desktop is gone"
            found += data
        return found


@contextmanager
def workstation(folder, pyz, **session):
    """A started agent and its portal; left with nothing behind."""
    portal = Workstations()
    portal.session(**session)
    agent = Agent(portal, Path(tempfile.mkdtemp(dir=folder)), pyz)
    try:
        yield agent, portal
    finally:
        portal.release()
        agent.end()
        portal.stop()


def connected(portal, service):
    until(lambda: portal.last("ready") and portal.relay, 60, 0.002)
    return portal.relay.open(service)


def first_picture(folder, pyz):
    """Seconds from the agent's start to the first pixels at the portal."""
    with workstation(folder, pyz, kind="desktop") as (agent, portal):
        began = time.monotonic()
        agent.start()
        Viewer(connected(portal, "desktop")).whole_picture()
        return time.monotonic() - began


def bare_picture(folder):
    """The same for an X server alone, without agent, window manager or relay."""
    place = Path(tempfile.mkdtemp(dir=folder))
    out, display = os.pipe()
    words = ["Xtigervnc", "-displayfd", str(display), "-rfbport", "-1", "-rfbunixpath", "desktop.sock", "-SecurityTypes", "None"]
    began = time.monotonic()
    server = subprocess.Popen([*words, "-nolisten", "tcp"], cwd=place, pass_fds=(display,), stderr=subprocess.DEVNULL)
    try:
        os.read(out, 10)
        Viewer(Direct(place / "desktop.sock")).whole_picture()
        return time.monotonic() - began
    finally:
        server.terminate()
        server.wait()
        os.close(out)
        os.close(display)


def suspend_and_resume(folder, pyz):
    """(seconds from the wish to the agent's last word, seconds from the start with that home to a terminal)."""
    with workstation(folder, pyz, kind="terminal") as (agent, portal):
        agent.work.mkdir(parents=True)
        for number in range(FILES):
            (agent.work / f"file {number}").write_bytes(os.urandom(HOME // FILES))
        agent.start()
        connected(portal, "terminal")
        began = time.monotonic()
        portal.order(wish="suspend")
        until(lambda: portal.last("done"), 120, 0.005)
        suspended = time.monotonic() - began
        home = portal.home()
    with workstation(folder, pyz, kind="terminal") as (agent, portal):
        portal.give_home(home)
        began = time.monotonic()
        agent.start()
        connected(portal, "terminal")
        return suspended, time.monotonic() - began


def bare_copy(folder):
    """Seconds that tar and sha256sum take for the same home."""
    place = Path(tempfile.mkdtemp(dir=folder))
    for number in range(FILES):
        (place / f"file {number}").write_bytes(os.urandom(HOME // FILES))
    began = time.monotonic()
    subprocess.run("tar -cf - . | tee ../bare.tar | sha256sum", shell=True, cwd=place, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - began


def key_to_picture(viewer):
    """Milliseconds from a key to the picture of its letter, median."""
    found = []
    viewer.whole_picture()
    for _ in range(KEYS):
        settle(viewer)
        began = time.monotonic()
        viewer.key(ord("x"))
        while not pixels(viewer.picture()):
            viewer.ask(incremental=True)
        found.append(1000 * (time.monotonic() - began))
    return statistics.median(found)


def settle(viewer):
    """Leaves the viewer asking for a change, with none under way."""
    while True:
        viewer.ask(incremental=True)
        if viewer.stream.quiet():
            return
        viewer.picture()


def pixels(rectangles):
    return any(encoding == 0 for *_, encoding, _ in rectangles)


def keys(folder, pyz, copying=False):
    """(through the relay, straight to the VNC server), each in ms."""
    with workstation(folder, pyz, kind="desktop", every=0.1 if copying else 0) as (agent, portal):
        agent.work.mkdir(parents=True)
        if copying:
            threading.Thread(target=_keep_changing, args=(agent, portal), daemon=True).start()
        agent.start()
        stream = connected(portal, "desktop")
        stream.quiet = lambda: (time.sleep(QUIET), not stream.data)[1]
        relayed = Viewer(stream)
        time.sleep(2)
        through = key_to_picture(relayed)
        return through, key_to_picture(Viewer(Direct(agent.base / "tmp/session/desktop.sock")))


def _keep_changing(agent, portal):
    """So that copies of a large home follow each other."""
    for number in range(FILES):
        (agent.work / f"file {number}").write_bytes(os.urandom(HOME // FILES))
    while not portal.gone:
        (agent.work / "changing").write_text(str(time.time()))
        time.sleep(0.05)


def flood(folder, pyz):
    """MB/s from a terminal to the portal."""
    with workstation(folder, pyz, kind="terminal") as (agent, portal):
        agent.start()
        stream = connected(portal, "terminal")
        line = b"head -c 100000000 /dev/zero | tr '\\0' x\n"
        stream.write(struct.pack(">BI", 0, len(line)) + line)
        began = time.monotonic()
        stream.read(60_000_000, 120)
        return 60 / (time.monotonic() - began)


def say(name, value, unit, goal="", bare=""):
    print(f"{name:<42} {value:9.2f} {unit:<5} {goal:<12} {bare}", flush=True)


def main():
    print("load:", *(f"{one:.1f}" for one in os.getloadavg()))
    with tempfile.TemporaryDirectory(prefix="headrace-bench-") as name:
        folder = Path(name)
        pyz = build(folder / "agent.pyz")
        bare = statistics.median(bare_picture(folder) for _ in range(ROUNDS))
        say("start to first picture", statistics.median(first_picture(folder, pyz) for _ in range(ROUNDS)), "s", "goal 3", f"X server alone {bare:.2f}")
        times = [suspend_and_resume(folder, pyz) for _ in range(3)]
        say("suspend, home of 100 MB", statistics.median(one for one, _ in times), "s", "goal 3", f"tar and sha256sum {bare_copy(folder):.2f}")
        say("resume, home of 100 MB", statistics.median(one for _, one in times), "s", "goal 3")
        through, straight = keys(folder, pyz)
        say("key to picture", through, "ms", "", f"straight {straight:.2f}")
        say("  added by the relay", through - straight, "ms", "goal 15")
        through, straight = keys(folder, pyz, copying=True)
        say("  while the home is copied", through - straight, "ms", "goal 15", f"straight {straight:.2f}")
        say("terminal output", flood(folder, pyz), "MB/s")


if __name__ == "__main__":
    main()
