"""Results: everything in the job folder that is not an unchanged input goes to the portal, with checksums and a manifest.

The one idea: files are taken in a fixed order and each gets its line in a manifest on disk once the portal has it (or it
can't be had), so a reporter that comes new counts the lines and goes on. Memory does not grow with the number of files.
"""
import hashlib
import json
import os
import struct
from typing import Any, Callable, Dict, List, NamedTuple, Optional

from . import marks
from .config import Config
from .folder import Folder, Refused, open_plain
from .manifest import Lines, Manifest
from .staging import staged_index
from .walk import Entry, walk
from .wire import Answer, Portal, patient, text

BATCH, SMALL, MOST = 8 << 20, 1 << 20, 2000  # bytes a batch, bytes of a file that goes into one, files a batch
CHUNK = 8 << 20
_PLACE = "outputs.json"  # how far the big file that is being sent has come


class GivenUp(Exception):
    """A force stop: what is not saved by now stays behind."""


class FolderGone(Exception):
    """There is nothing to look through."""


class Item(NamedTuple):
    """A small file, read."""

    line: Dict[str, Any]
    data: bytes


def save(config: Config, portal: Portal, given_up: Callable[[], bool], log: Callable[[str], None]) -> Dict[str, int]:
    """Saves all outputs and the manifest; returns {"files", "bytes", "skipped", "failed"}. Raises Released."""
    lines = Lines(config)
    try:
        Saver(config, portal, given_up, lines).run()
    except GivenUp:
        log("outputs given up")
    except FolderGone as gone:
        lines.add({"path": ".", "failed": "the job folder is gone: %s" % gone})
    return Manifest(lines, portal).send()


class Saver:
    """Walks and sends."""

    def __init__(self, config: Config, portal: Portal, given_up: Callable[[], bool], lines: Lines) -> None:
        self._config, self._portal, self._given_up = config, portal, given_up
        self._staged = staged_index(config)
        self._lines = lines
        self._done = lines.count
        self._batch: List[Item] = []
        self._weight = 0

    def run(self) -> None:
        """Everything that is not yet in the manifest. Raises GivenUp, FolderGone or Released."""
        try:
            folder = Folder(self._config.workdir, self._config.run_as)
        except OSError as error:
            raise FolderGone(error.strerror) from error
        try:
            self._all(folder)
        finally:
            folder.close()

    def _all(self, folder: Folder) -> None:
        for entry in walk(folder.fd):
            if entry.kind == "file" and self._unchanged(entry):
                continue
            if self._done > 0:
                self._done -= 1
                continue
            self._check()
            self._take(entry)
        self._flush()

    def _check(self) -> None:
        self._portal.check()
        if self._given_up():
            raise GivenUp()

    def _take(self, entry: Entry) -> None:
        path = text(entry.path)
        if entry.kind == "dir":
            self._flush()
            self._lines.add({"path": path, "size": 0, "dir": True})
        elif entry.kind != "file":
            self._skip(path, entry.kind, entry.detail)
        else:
            self._file(entry, path)

    def _file(self, entry: Entry, path: str) -> None:
        try:
            fd = open_plain(entry.parent, entry.path.rsplit(b"/", 1)[-1], self._config.run_as)
        except (OSError, Refused) as error:
            self._skip(path, "unreadable", getattr(error, "strerror", None) or str(error))
            return
        try:
            if os.fstat(fd).st_size <= SMALL:
                self._small(fd, path)
            else:
                self._flush()
                self._lines.add(Big(self._config, self._portal, self._check, fd, path).send())
        except OSError as error:
            self._skip(path, "unreadable", error.strerror or str(error))
        finally:
            os.close(fd)

    def _small(self, fd: int, path: str) -> None:
        data, before = _read_whole(fd), os.fstat(fd)
        line = _line(path, before, len(data))
        line["sha256"] = hashlib.sha256(data).hexdigest()
        weight = len(data) + len(json.dumps(line)) + 2
        if self._weight + weight > BATCH - 4096 or len(self._batch) >= MOST:
            self._flush()
        self._batch.append(Item(line, data))
        self._weight += weight

    def _flush(self) -> None:
        """Sends the batch and writes down what became of each file."""
        batch, self._batch, self._weight = self._batch, [], 0
        if not batch:
            return
        header = json.dumps([item.line for item in batch]).encode("ascii")
        data = struct.pack(">I", len(header)) + header + b"".join(item.data for item in batch)
        answer = patient(self._portal, self._check, "outputs/batch", data)
        failed = {bad["path"]: bad["message"] for bad in answer.body.get("failed", [])}
        if answer.code != 200:
            failed = {item.line["path"]: _why(answer) for item in batch}
        for item in batch:
            path = item.line["path"]
            self._lines.add({"path": path, "failed": failed[path]} if path in failed else item.line)

    def _skip(self, path: str, kind: str, detail: str) -> None:
        self._flush()
        self._lines.add({"path": path, "skipped": kind, "detail": detail})

    def _unchanged(self, entry: Entry) -> bool:
        """An input that is as it was staged: same size, and either untouched or the same bytes."""
        facts = self._staged.get(entry.path)
        if facts is None or entry.status is None or entry.status.st_size != facts[0]:
            return False
        if [entry.status.st_mtime_ns, entry.status.st_ctime_ns] == facts[1:3]:
            return True
        return _sha256_at(entry, self._config) == facts[3]


class Big:
    """One big file, in chunks."""

    def __init__(self, config: Config, portal: Portal, check: Callable[[], None], fd: int, path: str) -> None:
        self._config, self._portal, self._check = config, portal, check
        self._fd, self._path = fd, path
        self._offset, self._digest = 0, hashlib.sha256()
        self._begun_again = 0

    def send(self) -> Dict[str, Any]:
        """The file's line for the manifest."""
        before = os.fstat(self._fd)
        place = marks.read(self._config.folder, _PLACE) or {}
        if place.get("path") == self._path:
            self._go_to(min(int(place["offset"]), before.st_size - 1))
        while self._offset < before.st_size:
            self._check()
            answer = self._chunk(before.st_size)
            if answer is None or answer.code not in (200, 409) or self._begun_again > 5:
                return self._bad(answer)
        after = os.fstat(self._fd)
        if (after.st_size, after.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
            return {"path": self._path, "skipped": "changed", "detail": "it was written to while it was copied"}
        return dict(_line(self._path, before, before.st_size), sha256=self._digest.hexdigest())

    def _chunk(self, size: int) -> Optional[Answer]:
        """Sends the next chunk; None if the file has become shorter."""
        data = os.pread(self._fd, min(CHUNK, size - self._offset), self._offset)
        if not data:
            return None
        digest = self._digest.copy()
        digest.update(data)
        last = self._offset + len(data) == size
        where = {"path": self._path, "offset": self._offset, "size": size}
        answer = patient(self._portal, self._check, "outputs/file", data, sha256=digest.hexdigest() if last else None, **where)
        if answer.code == 200:
            self._digest, self._offset = digest, self._offset + len(data)
            marks.try_save(self._config.folder, _PLACE, {"path": self._path, "offset": self._offset})
        elif answer.code == 409:
            self._begun_again += 1
            self._go_to(int(answer.body["size"]))
        return answer

    def _go_to(self, offset: int) -> None:
        """Goes on from an offset; the hash is over all that lies before it."""
        self._offset, self._digest = 0, hashlib.sha256()
        while self._offset < offset:
            data = os.pread(self._fd, min(CHUNK, offset - self._offset), self._offset)
            if not data:
                return
            self._digest.update(data)
            self._offset += len(data)

    def _bad(self, answer: Optional[Answer]) -> Dict[str, Any]:
        if answer is None:
            return {"path": self._path, "skipped": "changed", "detail": "it became shorter while it was copied"}
        return {"path": self._path, "failed": _why(answer)}


def _line(path: str, status: os.stat_result, size: int) -> Dict[str, Any]:
    return {"path": path, "size": size, "mode": status.st_mode & 0o777, "mtime": status.st_mtime}


def _why(answer: Answer) -> str:
    return str(answer.body.get("message") or "the portal refused it (%d)" % answer.code)


def _read_whole(fd: int) -> bytes:
    return b"".join(iter(lambda: os.read(fd, 1 << 20), b""))


def _sha256_at(entry: Entry, config: Config) -> str:
    digest = hashlib.sha256()
    try:
        fd = open_plain(entry.parent, entry.path.rsplit(b"/", 1)[-1], config.run_as)
    except (OSError, Refused):
        return ""
    with os.fdopen(fd, "rb") as file:
        for piece in iter(lambda: file.read(1 << 20), b""):
            digest.update(piece)
    return digest.hexdigest()
