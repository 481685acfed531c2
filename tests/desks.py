"""Plays the agent of a workstation on the fake cloud: home, session, copies. Beside playing.py, which plays those of jobs."""

from __future__ import annotations

import hashlib
import io
import secrets
import tarfile
from typing import Any

import playing

from jobs import gateway, homes, idleness, lifecycle, logs
from jobs.models import HomeCopy, Workload

CODES = ("queued", "validating", "starting", "active", "suspending", "suspended", "stopping")


def turn(clock: playing.Clock) -> None:
    playing.turn_all(clock, CODES)


def tar_of(files: dict[str, bytes]) -> bytes:
    kept = io.BytesIO()
    with tarfile.open(fileobj=kept, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, data in sorted(files.items()):
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return kept.getvalue()


def files_of(data: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        return {entry.name: tar.extractfile(entry).read() for entry in tar}  # type: ignore[union-attr]


class Desk:
    """One cluster's agent. `files` is the home that the session has."""

    def __init__(self, work: Workload, clock: playing.Clock) -> None:
        self.work, self.clock = work, clock
        self.agent = playing.callers(work)[0]
        self.files: dict[str, bytes] = {}
        self.spec: dict[str, Any] = {}

    def boot(self, ready: bool = True) -> Desk:
        """Up, the home restored as it was kept, the session started."""
        self.hello()
        home = self.spec["session"]["home"]
        self.files = files_of(self.fetch(home)) if home else {}
        gateway.staged(self.agent, {"files": len(self.files), "bytes": 0}, self.clock())
        assert gateway.go(self.agent, "n0", self.clock())["go"]
        gateway.started(self.agent, {"pid": 1}, self.clock())
        if ready:
            gateway.ready(self.agent, {"service": "terminal"}, self.clock())
        self.beat()
        return self

    def hello(self) -> None:
        report = {"nonce": "n0", "hostname": "node0", "clock": self.clock().timestamp()}
        self.spec = gateway.hello(self.agent, report, self.clock())["spec"]

    def fetch(self, home: dict[str, Any]) -> bytes:
        with homes.open_copy(HomeCopy.objects.get(pk=home["copy"])) as file:
            data = file.read()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (home["size"], home["sha256"])
        return data

    def beat(self, **figures: Any) -> None:
        """A sign of life with figures; quiet ones if nothing else is said."""
        directory = logs.attempt_dir(self.agent.public_id, self.agent.attempt)
        at = self.clock().timestamp()
        record = {"clock": at, "cpu": 0.01, "busy": 0.0, "gpu": None, "input_at": None, "programs": [], **figures}
        logs.append_beat(directory, 0, dict(record), at)
        idleness.note(directory, record, at)

    @property
    def wish(self) -> str:
        return gateway.orders(self.agent, self.clock())["wish"]

    def copy(self, why: str = "periodic", broken: bool = False) -> str:
        """Send the home; "" or why there is no room. `broken`: the connection dies in the middle."""
        data, code = tar_of(self.files), secrets.token_hex(8)
        answer = homes.room(self.agent, {"copy": code, "why": why, "size": len(data) + 10240, "files": len(self.files)}, self.clock())
        if not answer["ok"]:
            return answer["message"]
        half = len(data) // 2
        assert homes.write(self.agent, code, 0, data[:half]) == half
        if broken:
            return "broken"
        assert homes.write(self.agent, code, half, data[half:]) == len(data)
        self.whole(code, data)
        return ""

    def whole(self, code: str, data: bytes) -> None:
        report = {"copy": code, "size": len(data), "sha256": hashlib.sha256(data).hexdigest(), "files": len(self.files), "skipped": []}
        homes.whole(self.agent, report, self.clock())

    def obey(self) -> str:
        """Do what is wished now, as an agent does: "saved", "unsaved", "killed" or "" (nothing is wished)."""
        wish = self.wish
        if wish == "run":
            return ""
        if wish == "force stop":
            playing.finish(self.agent, self.clock, code=None, signal=9)
            return "killed"
        data, code = tar_of(self.files), secrets.token_hex(8)
        report = {"copy": code, "why": wish, "size": len(data) + 10240, "files": len(self.files)}
        answer = homes.room(self.agent, report, self.clock())
        if not answer["ok"]:
            gateway.unsaved(self.agent, {"message": answer["message"]}, self.clock())
            return "unsaved"
        gateway.exited(self.agent, {"code": None, "signal": 15, "clock": self.clock().timestamp(), "why": "wish"}, self.clock())
        homes.write(self.agent, code, 0, data)
        self.whole(code, data)
        gateway.done(self.agent, {"files": 0, "bytes": 0}, self.clock())
        return "saved"


def start(station: Any, clock: playing.Clock) -> Desk:
    """From the queue (or from Draft) to Active, with a desk that is ready."""
    work = station.workload
    if work.status == lifecycle.DRAFT:
        assert work.submit(work.owner, clock())
    turn(clock)
    work.refresh_from_db()
    assert work.status == lifecycle.STARTING, (work.status, work.gate_text, work.detail)
    desk = Desk(work, clock).boot()
    turn(clock)
    work.refresh_from_db()
    assert work.status == lifecycle.ACTIVE, (work.status, work.detail)
    return desk


def suspend(station: Any, desk: Desk, clock: playing.Clock) -> None:
    """By its owner, with everything saved."""
    assert station.suspend(station.workload.owner, clock()) == ""
    turn(clock)
    assert desk.obey() == "saved"
    turn(clock)
    station.workload.refresh_from_db()
    assert station.workload.status == lifecycle.SUSPENDED, (station.workload.status, station.workload.detail)
