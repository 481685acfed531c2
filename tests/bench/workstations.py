"""Workstations through a whole portal: first picture, suspend and resume, a key's way, many desktops at once.

Run: `uv run --group test python tests/bench/workstations.py [desktops]` (30 if not said), on a machine with
tigervnc-standalone-server, openbox and xterm. Starts a portal of its own by `manage.py up`; viewers come over the relay's
websocket, signed in as people are. A key's way is measured on one desktop, over the relay and straight at the X server's
socket by turns. Goals: first picture 3 s, suspend and resume of a home of 100 MB 3 s each, at most 15 ms more for a key.

A resume right after a suspend pays for ext4, which for a minute passes over each inode that was freed, one by one, for every
file that is made (perf: recently_deleted, 0.4 s of processor for 2,000 files). relay.py measures the web process with played desktops.
"""

from __future__ import annotations

import json
import os
import select
import socket
import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from stage import percentiles, rss, table
from submit import call, portal
from websockets.sync.client import connect

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT)]

from tests.jobs.agent.rfb_probe import Viewer  # noqa: E402

HOME, FILES, KEYS, QUIET, PATIENCE = 100_000_000, 2000, 40, 0.1, 120
SESSION = """
from django.contrib.auth.models import User
from django.test import Client
from jobs.models import Coretype
client = Client()
client.force_login(User.objects.get(username="admin"))
open({path!r}, "w").write(client.session.session_key)
Coretype.objects.update(price=0)
"""


class Socket:
    """A viewer's websocket as a stream: read exactly, write, and whether nothing comes."""

    def __init__(self, address: str, name: str, session: str, service: str = "desktop") -> None:
        where = f"{address.replace('http', 'ws', 1)}relay/{name}/{service}"
        opened = connect(where, additional_headers={"Cookie": f"sessionid={session}"}, max_size=None, compression=None)
        self.socket = opened.__enter__()
        self.rest = bytearray()

    def write(self, data: bytes) -> None:
        self.socket.send(data)

    def read(self, size: int) -> bytes:
        while len(self.rest) < size:
            self.rest += self.socket.recv(PATIENCE)
        found = bytes(self.rest[:size])
        del self.rest[:size]
        return found

    def quiet(self) -> bool:
        try:
            self.rest += self.socket.recv(QUIET)
        except TimeoutError:
            return not self.rest
        return False


class Direct:
    """The X server's own socket as such a stream."""

    def __init__(self, path: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(path))

    def write(self, data: bytes) -> None:
        self.socket.sendall(data)

    def read(self, size: int) -> bytes:
        found = b""
        while len(found) < size:
            found += self.socket.recv(size - len(found))
        return found

    def quiet(self) -> bool:
        return not select.select([self.socket], [], [], QUIET)[0]


class Desk:
    """A workstation of the admin, from the click on."""

    def __init__(self, address: str, token: str, session: str, data: str, kind: str = "desktop") -> None:
        self.address, self.token, self.session, self.data = address, token, session, Path(data)
        self.began = time.perf_counter()
        made = call(address, token, "workstations/", {"name": kind, "kind": kind, "coreType": "local", "cores": 1})
        self.id = made["id"]

    def status(self) -> str:
        return call(self.address, self.token, f"workstations/{self.id}/")["status"]

    def until(self, status: str) -> float:
        return awaited(lambda: self.status() == status)

    def ask(self, verb: str) -> None:
        call(self.address, self.token, f"workstations/{self.id}/{verb}/", {})

    def folder(self) -> Path:
        return next(self.data.glob(f"clusters/*-{self.id}-*"))

    def stream(self, service: str = "desktop") -> Socket:
        found: list[Socket] = []

        def tried() -> bool:
            try:
                name = self.folder().name.rpartition("-")[0]
                found.append(Socket(self.address, name, self.session, service))
            except Exception:  # not there yet
                return False
            return True

        awaited(tried)
        return found[0]


def awaited(ready, pause: float = 0.01) -> float:
    """Seconds until it is."""
    began = time.perf_counter()
    while not ready():
        if time.perf_counter() - began > PATIENCE:
            raise TimeoutError
        time.sleep(pause)
    return time.perf_counter() - began


def first_picture(make) -> float:
    desk = make()
    Viewer(desk.stream()).whole_picture()
    seconds = time.perf_counter() - desk.began
    desk.ask("stop")
    desk.until("Stopped")
    return seconds


def suspend_and_resume(make) -> tuple[float, float]:
    desk = make("terminal")
    desk.stream("terminal")
    home = desk.folder() / "work"
    for number in range(FILES):
        (home / f"file {number}").write_bytes(os.urandom(HOME // FILES))
    began = time.perf_counter()
    desk.ask("suspend")
    desk.until("Suspended")
    suspended = time.perf_counter() - began
    began = time.perf_counter()
    desk.ask("resume")
    desk.until("Active")
    desk.stream("terminal")
    resumed = time.perf_counter() - began
    assert sum(1 for _ in (desk.folder() / "work").glob("file *")) == FILES
    desk.ask("stop")
    desk.until("Stopped")
    return suspended, resumed


def a_key(viewer: Viewer) -> float:
    """Seconds from a key to the picture of its letter."""
    while True:
        viewer.ask(incremental=True)
        if viewer.stream.quiet():
            break
        viewer.picture()
    began = time.perf_counter()
    viewer.key(ord("x"))
    while not any(encoding == 0 for *_, encoding, _ in viewer.picture()):
        viewer.ask(incremental=True)
    return time.perf_counter() - began


def keys(desk: Desk) -> tuple[list[float], list[float]]:
    """Over the relay and straight, by turns."""
    relayed, straight = Viewer(desk.stream()), Viewer(Direct(desk.folder() / "tmp" / "session" / "desktop.sock"))
    time.sleep(2)
    pairs = []
    for viewer in (relayed, straight):
        viewer.whole_picture()
    for _ in range(KEYS):
        pairs.append((a_key(relayed), a_key(straight)))
    return [one for one, _ in pairs], [other for _, other in pairs]


def started(make) -> Desk:
    """One after the other: thirty X servers that start at once measure the machine."""
    desk = make()
    desk.until("Active")
    return desk


def many(make, count: int, web: int) -> list[object]:
    """`count` desktops with a viewer each, who type all at once; the row of the table."""
    before = rss(web)
    desks = [started(make) for _ in range(count)]
    with ThreadPoolExecutor(count) as pool:
        open_ = list(pool.map(lambda desk: Viewer(desk.stream()), desks))
        list(pool.map(lambda viewer: viewer.whole_picture(), open_))
        took = [one for each in pool.map(lambda viewer: [a_key(viewer) for _ in range(5)], open_) for one in each]
    grown = rss(web) - before
    for desk in desks:
        desk.ask("stop")
    for desk in desks:
        desk.until("Stopped")
    return [f"{count} desktops, all typing", *percentiles(took), grown]


def main(count: int = 30) -> None:
    os.environ["LOCAL_CORES"] = str(count + 2)
    with tempfile.TemporaryDirectory(prefix="headrace-desks-") as data:
        os.chmod(data, 0o711)
        kept = f"{data}/session"
        with portal(SESSION.format(path=kept), data) as (address, token):
            session = Path(kept).read_text()
            measure(lambda kind="desktop": Desk(address, token, session, data, kind), count, web_of(data))


def web_of(data: str) -> int:
    return next(one["pid"] for one in json.loads(Path(data, "run", "processes.json").read_text()) if one["name"] == "web")


def measure(make, count: int, web: int) -> None:
    pictures = [first_picture(make) for _ in range(3)]
    homes = [suspend_and_resume(make) for _ in range(3)]
    rows = [
        ["click to first picture", statistics.median(pictures), "3"],
        ["suspend, home of 100 MB", statistics.median(one for one, _ in homes), "3"],
        ["resume, home of 100 MB", statistics.median(two for _, two in homes), "3"],
    ]
    table("a workstation, seconds, median of 3", ["", "s", "goal"], rows)
    desk = make()
    relayed, straight = keys(desk)
    desk.ask("stop")
    desk.until("Stopped")
    more = statistics.median(relayed) - statistics.median(straight)
    rows = [["over the relay", *percentiles(relayed)], ["straight", *percentiles(straight)], ["more", more * 1000, ""]]
    table(f"key to picture, {KEYS} keys", ["", "p50 ms", "p99 ms"], rows)
    table("through one web process", ["", "p50 ms", "p99 ms", "MiB more in web"], [many(make, count, web)])


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
