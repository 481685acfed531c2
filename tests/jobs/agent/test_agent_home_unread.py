"""A home on a failing disk: what cannot be read is named in the copy and left out of it, and nothing else suffers."""

import errno
import os

import pytest

from jobs.agent import folder, home, walk
from tests.jobs.agent.test_agent_home import config_of, fill, looked, restored, saved

BROKEN = "could not be read: Input/output error"


@pytest.fixture
def config(tmp_path):
    return config_of(tmp_path / "one")


class Disk:
    """What it does not give, by name: bytes from an offset on, or the answer to one of the calls."""

    def __init__(self, monkeypatch):
        self.bad = {}
        for name, place in (("read", home), ("open", folder), ("scandir", walk)):
            monkeypatch.setattr(place.os, name, self._judged(name, getattr(os, name)))

    def _judged(self, called, call):
        def judged(what, *args, **named):
            path = os.readlink(f"/proc/self/fd/{what}") if isinstance(what, int) else os.fsdecode(what)
            path = os.readlink(path) if path.startswith("/proc/self/fd/") else path
            at = self.bad.get(os.path.basename(path), 1 << 60)
            if at == called or (called == "read" and isinstance(at, int) and os.lseek(what, 0, os.SEEK_CUR) >= at):
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return call(what, *args, **named)

        return judged


def test_what_a_failing_disk_does_not_give_is_named_first_and_left_out(config, tmp_path, monkeypatch):
    """In the middle, at once, by each of its names; no zeros stand for it afterwards, and all else is as it was."""
    work = tmp_path / "one" / "work"
    fill(work)
    before = looked(work)
    for name in ("a middle", "b start", "c closed"):
        (work / name).write_bytes(b"x" * 3_000_000)
    os.link(work / "a middle", work / "a second name")
    for name in ("d closed", "e unlisted"):
        (work / name).mkdir()
        (work / name / "inside").touch()
    os.mkfifo(work / "0 fifo")
    disk = Disk(monkeypatch)
    disk.bad = {"a middle": 1 << 20, "a second name": 1 << 20, "b start": 0}
    disk.bad |= {"c closed": "open", "d closed": "open", "e unlisted": "scandir"}
    data, archive = saved(config)
    monkeypatch.undo()
    named = ["a middle", "a second name", "b start", "c closed", "d closed", "e unlisted/"]
    assert archive.skipped == [(name, BROKEN) for name in named] + [("0 fifo", "a fifo")]
    assert (archive.unread, archive.left_out) == (6, 7)
    back = looked(restored(data, tmp_path).workdir)
    assert back.pop(b"e unlisted")
    assert back == before


def test_what_its_user_may_not_read_is_no_failing_disk(config, tmp_path, monkeypatch):
    (tmp_path / "one" / "work" / "closed").touch()

    def refused(*args, **named):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(home, "open_plain", refused)
    archive = saved(config)[1]
    assert (archive.skipped, archive.unread) == ([("closed", "Permission denied")], 0)
