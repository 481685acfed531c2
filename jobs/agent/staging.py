"""Inputs: fetched, checked, put in place, archives unpacked.

The one idea: an input grows under a name of the agent's own, where the command can't reach it, and comes to its place
whole by one rename; a reporter that comes new goes on where the last one was.
"""
import errno
import json
import os
import shutil
import threading
import time
from typing import Any, Callable, Dict, List

from . import marks
from .config import Config
from .fetch import Failed, Fetch, Stopped, plain
from .folder import Folder, Refused
from .wire import Portal, Released, Unreachable, raw, text

INDEX = "staged.ndjson"  # a line for each file put in place: outputs leaves out what is still the same
_PIECE = 1 << 20


def stage(config: Config, spec: Dict[str, Any], portal: Portal, stopping: Callable[[], bool]) -> Dict[str, int]:
    """Puts all inputs in place; returns {"files", "bytes"}. Raises Failed, Stopped or Released."""
    done = marks.read(config.folder, marks.STAGED)
    if done is None:
        done = Stage(config, spec, portal, stopping).run()
        marks.write(config.folder, marks.STAGED, done)
        shutil.rmtree(config.path("staging"), ignore_errors=True)
    return {"files": int(done["files"]), "bytes": int(done["bytes"])}


class Stage:
    """One go at the inputs."""

    def __init__(self, config: Config, spec: Dict[str, Any], portal: Portal, stopping: Callable[[], bool]) -> None:
        self._config, self._portal, self._stopping = config, portal, stopping
        self._inputs: List[Dict[str, Any]] = list(spec.get("inputs") or [])
        self._folder = Folder(config.workdir, config.run_as)
        self._fetch = Fetch(portal, stopping)
        self._files = 0
        self._finished = False
        os.makedirs(config.path("staging"), mode=0o700, exist_ok=True)

    def run(self) -> Dict[str, int]:
        """All inputs, one after the other, with progress told meanwhile."""
        threading.Thread(target=self._tell_progress, daemon=True).start()
        try:
            with open(self._config.path(INDEX), "a") as index:
                self._index = index
                for wanted in self._inputs:
                    self._one(wanted)
        finally:
            self._finished = True
            self._folder.close()
        return {"files": self._files, "bytes": self._fetch.bytes}

    def _one(self, wanted: Dict[str, Any]) -> None:
        """One input; what goes wrong is said with its name."""
        placed = os.path.join(self._config.path("staging"), "%s.placed" % plain(wanted["id"]))
        if not os.path.exists(placed):
            try:
                self._place(wanted, self._fetched(wanted))
            except OSError as error:
                full = error.errno in (errno.ENOSPC, errno.EDQUOT)
                raise Failed(wanted["name"], "the node's disk is full" if full else str(error)) from error
            except (Refused, UnicodeEncodeError) as error:
                raise Failed(wanted["name"], str(error)) from error
            open(placed, "w").close()
        self._files += 1

    def _fetched(self, wanted: Dict[str, Any]) -> str:
        """Path of the whole, checked file. Raises Failed, Stopped, Released or OSError."""
        path = os.path.join(self._config.path("staging"), "%s.part" % plain(wanted["id"]))
        self._fetch.file(wanted, path)
        return path

    def _place(self, wanted: Dict[str, Any], path: str) -> None:
        if wanted.get("home"):
            self._restore(path)
            return
        name = raw(wanted["name"])
        if wanted.get("unpack"):
            self._unpack(path, name)
        self._put(path, name, int(wanted.get("mode") or 0o644))
        self._note(name, wanted.get("sha256") or "")

    def _put(self, path: str, name: bytes, mode: int) -> None:
        """By a rename; by a copy where agent's and job's folder are not on one file system."""
        try:
            self._folder.adopt(path, name, mode)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            with open(path, "rb") as source, os.fdopen(self._folder.create(name, mode), "wb") as target:
                shutil.copyfileobj(source, target, _PIECE)
            os.unlink(path)

    def _unpack(self, path: str, name: bytes) -> None:
        from . import archives  # tar, zip and their kin: 5 ms that most starts do not need

        base = name[: name.rindex(b"/") + 1] if b"/" in name else b""
        for member, sha256 in archives.unpack(path, self._folder, base):
            if self._stopping():
                raise Stopped()
            self._note(member, sha256)

    def _restore(self, path: str) -> None:
        """A workstation's home. Raises Failed."""
        from . import restore

        try:
            restore.restore(self._config, path)
        except restore.Broken as broken:
            raise Failed("home", str(broken)) from broken
        os.unlink(path)

    def _note(self, name: bytes, sha256: str) -> None:
        fd = self._folder.read(name)
        status = os.fstat(fd)
        os.close(fd)
        self._index.write(json.dumps([text(name), status.st_size, status.st_mtime_ns, status.st_ctime_ns, sha256]) + "\n")

    def _tell_progress(self) -> None:
        total = sum(int(wanted["size"]) for wanted in self._inputs)
        told = None
        while not self._finished:
            time.sleep(0.5)
            body = {"files": self._files, "of_files": len(self._inputs), "bytes": min(self._fetch.bytes, total), "of_bytes": total}
            if body != told:
                try:
                    self._portal.tell("staging", body)
                    told = body
                except (Unreachable, Released):
                    pass


def staged_index(config: Config) -> Dict[bytes, List[Any]]:
    """What was put in place: name -> [size, mtime_ns, ctime_ns, sha256]."""
    found: Dict[bytes, List[Any]] = {}
    try:
        with open(config.path(INDEX)) as file:
            for line in file:
                if line.endswith("\n"):
                    name, *facts = json.loads(line)
                    found[raw(name)] = facts
    except OSError:
        pass
    return found
