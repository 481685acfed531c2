"""`kill -9` under workstations, in every transition: no process and no cluster is left, nothing is held, each second is paid once,
and the home comes back as it was, byte for byte.

One idea: rounds are independent; each has a home with everything that homes may hold, and is resumed after the death.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import stat
from pathlib import Path

import httpx
import pytest

from tests.e2e.promises import budgets_agree, nothing_left
from tests.e2e.real_portal import Portal, Work, until

ROUNDS = [
    ("reporter", "suspending"), ("worker", "suspending"), ("web", "suspending"), ("reporter", "starting"), ("valkey", "starting"),
    ("holder", "active"), ("worker", "stopping"), ("holder", "stopping"),
]  # fmt: skip
MAKE = """
kind = WorkstationKind.objects.get(code='terminal')
who = User.objects.get(username='engineer')
station = Workstation.make(who, kind, Coretype.objects.get(code='local'), name='%s', cores=1, project=Project.objects.first())
assert station.workload.submit(who)
print(station.workload.public_id)
"""
ODD = [b"with\nnewline", b"\xff raw", "ümläut".encode(), b" lead", b"-rf", b"a=b", b"x" * 255, b".hidden", b"\x1b[31m"]


@pytest.fixture(scope="module")
def portal():
    made = Portal(LOCAL_CORES="4")
    yield made
    made.close()


class Station:
    """A terminal of the engineer, seen from outside."""

    def __init__(self, portal: Portal, name: str) -> None:
        self.portal = portal
        self.work = Work(portal.engineer, portal.run(MAKE % name))
        self.up()

    def stands(self, *statuses: str) -> str:
        query = "select status from jobs_workload where id = ?"
        look = lambda: self.portal.value(query, self.work.key)  # noqa: E731
        return until(lambda: (now := look()) in statuses and now, pause=0.002, tell=lambda: f"{statuses}: {self.work.events}")

    def up(self) -> None:
        self.stands("active")
        until(lambda: self.portal.value("select ready from jobs_cluster where token = ?", self.work.token))

    def wish(self, verb: str) -> None:
        """Asked for until the portal is there to hear it."""

        def asked() -> bool:
            with contextlib.suppress(httpx.TransportError):
                return self.portal.api.post(f"/workstations/{self.work.id}/{verb}/", json={}).status_code < 300
            return False

        until(asked, tell=lambda: f"{verb}: {self.work.events}")

    def kill(self, victim: str) -> None:
        if victim not in ("reporter", "holder"):
            self.portal.kill(victim)
            return
        mark = self.portal.data / "clusters" / self.work.token / "node-0" / f"{victim}.pid"
        gone = "select releasing from jobs_cluster where token = ?"
        until(lambda: mark.exists() or self.portal.value(gone, self.work.token), pause=0.002)
        with contextlib.suppress(OSError, IndexError):  # it was through already: this round kills nobody
            os.kill(int(mark.read_text().split()[0]), signal.SIGKILL)

    def home(self) -> dict[bytes, tuple]:
        """Names, modes, times, links and contents of what was put there."""
        top, found = os.fsencode(self.work.folder / "kept"), {}
        for above, folders, files in os.walk(top):
            for path in (os.path.join(above, name) for name in folders + files):
                status = os.lstat(path)
                found[os.path.relpath(path, top)] = (oct(status.st_mode), status.st_mtime_ns, status.st_uid > 0, _content(path, status))
        return found

    def fill(self) -> None:
        kept = self.work.folder / "kept"
        (kept / "many").mkdir(parents=True)
        for number in range(500):
            (kept / "many" / str(number)).write_bytes(os.urandom(number))
        for name in ODD:
            Path(os.fsdecode(os.path.join(os.fsencode(kept), name))).write_bytes(name)
        for name, target in {"out": "/etc/passwd", "up": "../../../..", "dangling": "nowhere", "loop": "loop"}.items():
            (kept / name).symlink_to(target)
        os.link(kept / "many" / "7", kept / "hard")
        with (kept / "sparse").open("wb") as file:
            file.truncate(8 << 20)
        _given(kept, os.stat(self.work.folder))
        for name, mode in {"many/1": 0, "many/2": 0o6755, "many": 0o1555}.items():
            (kept / name).chmod(mode)
        os.utime(kept / "many" / "3", ns=(1, -86_400 * 10**9 + 5))


def _content(path: bytes, status: os.stat_result) -> bytes | tuple[str, int]:
    if stat.S_ISLNK(status.st_mode):
        return os.readlink(path)
    if not stat.S_ISREG(status.st_mode):
        return b""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest(), status.st_nlink


def _given(kept: Path, owner: os.stat_result) -> None:
    for above, folders, files in os.walk(kept):
        for name in (".", *folders, *files):
            os.chown(os.path.join(above, name), owner.st_uid, owner.st_gid, follow_symlinks=False)


@pytest.mark.parametrize(("victim", "stage"), ROUNDS)
def test_whoever_dies_the_home_comes_back(portal, victim, stage):
    if os.geteuid():
        pytest.skip("files that nobody may read are looked at as root")
    station = Station(portal, f"{victim} dies while {stage}")
    station.fill()
    was = station.home()
    if stage == "starting":
        station.wish("suspend")
        station.stands("suspended")
        station.wish("resume")
    elif stage != "active":
        station.wish({"suspending": "suspend", "stopping": "stop"}[stage])
    station.stands(stage, {"starting": "active", "suspending": "suspended", "stopping": "stopped", "active": "active"}[stage])
    station.kill(victim)
    if stage != "stopping":
        comes_back(station, stage, was, victim)
        station.wish("stop")
    station.stands("stopped")
    assert "Home saved" in station.work.events[-1][3], station.work.events
    nothing_left([station.work])
    budgets_agree(portal)


def comes_back(station: Station, stage: str, was: dict[bytes, tuple], victim: str) -> None:
    """Active again with the same home; what went to Suspended is resumed, with nothing left of the cluster before."""
    if stage == "suspending" or victim == "holder":
        station.stands("suspended")
        assert station.work.processes == []
        assert station.portal.value("select count(*) from jobs_hold where workload_id = ? and released is null", station.work.key) == 0
        station.wish("resume")
    station.up()
    assert station.home() == was
