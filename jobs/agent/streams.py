"""Log streams: what the command writes reaches the portal byte for byte, each byte once.

The one idea: a stream is (name, generation, offset). The portal knows the offset, so a reporter that comes new asks it
and goes on; a file that shrinks or is replaced begins the next generation.
"""
import hashlib
import os
from typing import Any, Callable, Dict, List, NamedTuple, Optional

from .wire import Answer, Portal, Unreachable

CHUNK = 1 << 20


class Kept(NamedTuple):
    """The last word on a generation: bytes in all, hash over those kept (None: not known any more)."""

    name: str
    generation: int
    size: int
    sha256: Optional[str]


class Stream:
    """Follows one file. `open_file` returns a descriptor or None while there is no such file.

    `head`, `tail`: bytes kept. `late`: of a file that is long already only so many bytes at its end are wanted.
    """

    def __init__(
        self, name: str, open_file: Callable[[], Optional[int]], head: int, tail: int, note: Dict[str, Any], late: Optional[int] = None
    ) -> None:
        self.name = name
        self.generation = int(note.get("generation", 0))
        self.ended: List[Kept] = [Kept(*kept) for kept in note.get("ended", [])]
        self._open, self._tail, self._late = open_file, tail, late
        self._room = head
        self._begin = int(note.get("begin", 0))  # where this generation is kept from
        self._fd: Optional[int] = None
        self._inode = note.get("inode")
        self._seen = int(note.get("seen", 0))  # the most bytes that this generation was seen to have
        self._offset: Optional[int] = None if note else 0
        self._hash, self._hashed = hashlib.sha256(), self._begin

    @property
    def _head(self) -> int:
        """Where the head ends."""
        return self._begin + self._room

    @property
    def empty(self) -> bool:
        """Nothing was sent yet."""
        return not self._offset and not self.generation

    @property
    def found(self) -> bool:
        """There was such a file."""
        return self._inode is not None

    def note(self) -> Dict[str, Any]:
        """What a later reporter must know, as JSON."""
        return {"generation": self.generation, "inode": self._inode, "seen": self._seen, "begin": self._begin, "ended": self.ended}

    def step(self, portal: Portal, final: bool) -> bool:
        """Sends at most one chunk. True if it got on, so that there may be more at once. Raises what Portal.call does."""
        if not self._ready(portal):
            return False
        assert self._fd is not None
        assert self._offset is not None
        size = os.fstat(self._fd).st_size
        self._seen = max(self._seen, size)
        if size < self._offset or size < self._seen:
            return self._truncated(portal)
        if self._skip_to_end(portal, size) or self._gap(portal, size, final):
            return True
        end = size if final or size <= self._head else self._head
        data = os.pread(self._fd, min(CHUNK, end - self._offset), self._offset) if end > self._offset else b""
        if data:
            return self._send(portal, data)
        return self._replaced()

    def finish(self) -> Kept:
        """The last word, after a final step() returned False."""
        self._catch_up()
        known = self._hashed == (self._offset or 0)
        return Kept(self.name, self.generation, self._offset or 0, self._hash.hexdigest() if known else None)

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _ready(self, portal: Portal) -> bool:
        """The file is open and our place in it is known."""
        if self._fd is None:
            self._fd = self._open()
            if self._fd is None:
                return False
            inode = os.fstat(self._fd).st_ino
            if self._inode not in (None, inode):
                self._begin_next(known=False)
            self._inode = inode
        if self._offset is None:
            self._offset = self._asked(portal)
        return True

    def _asked(self, portal: Portal) -> int:
        """How much the portal has of this generation."""
        answer = self._call(portal, 0, b"")
        return int(answer.body.get("size", 0))

    def _send(self, portal: Portal, data: bytes) -> bool:
        assert self._offset is not None
        answer = self._call(portal, self._offset, data)
        if answer.code == 409:
            self._offset = int(answer.body["size"])
        else:
            self._count(self._offset, data)
            self._offset += len(data)
        return True

    def _call(self, portal: Portal, offset: int, data: bytes) -> Answer:
        answer = portal.call("log", data=data, stream=self.name, generation=self.generation, offset=offset)
        if answer.code not in (200, 409):
            raise Unreachable("log: %d %s" % (answer.code, answer.body))
        return answer

    def _skip_to_end(self, portal: Portal, size: int) -> bool:
        """A long file that somebody begins to look at: its end is what they want."""
        if self._late is None or self._offset != 0 or self._begin or size <= 4 * self._late:
            return False
        begin = size - self._late
        said = self._say_gap(portal, 0, begin, "only the end of a long file is followed")
        self._begin = begin if said else 0
        return said

    def _gap(self, portal: Portal, size: int, final: bool) -> bool:
        """Past head and tail: says at the end which bytes between them are not kept."""
        start = size - self._tail
        assert self._offset is not None
        if not final or size <= self._head + self._tail or not self._head <= self._offset < start:
            return False
        self._catch_up()
        return self._say_gap(portal, self._offset, start, "more output than the limit")

    def _say_gap(self, portal: Portal, start: int, end: int, reason: str) -> bool:
        body = {"stream": self.name, "generation": self.generation, "from": start, "to": end, "reason": reason}
        answer = portal.call("gap", body)
        if answer.code == 409:
            self._offset = int(answer.body["size"])
        if answer.code == 200:
            self._hashed = end if self._hashed == start else self._hashed
            self._offset = end
        return answer.code in (200, 409)

    def _truncated(self, portal: Portal) -> bool:
        """The file shrank: what was not read of it is gone, and it begins again."""
        assert self._offset is not None
        if self._seen > self._offset:
            if not self._say_gap(portal, self._offset, self._seen, "the file was cut before this was read"):
                return False
            if self._offset != self._seen:
                return True
        self._begin_next(known=True)
        return True

    def _replaced(self) -> bool:
        """All of this file is sent; another may be under its name by now."""
        fresh = self._open()
        if fresh is None:
            return False
        inode = os.fstat(fresh).st_ino
        if inode == self._inode:
            os.close(fresh)
            return False
        self._catch_up()
        self._begin_next(known=True)
        self.close()
        self._fd, self._inode = fresh, inode
        return True

    def _begin_next(self, known: bool) -> None:
        whole = known and self._hashed == self._offset
        size = self._seen if self._offset is None else self._offset
        self.ended.append(Kept(self.name, self.generation, size, self._hash.hexdigest() if whole else None))
        self.generation += 1
        self._offset, self._seen, self._begin = 0, 0, 0
        self._hash, self._hashed = hashlib.sha256(), 0

    def _count(self, offset: int, data: bytes) -> None:
        if offset == self._hashed:
            self._hash.update(data)
            self._hashed += len(data)

    def _catch_up(self) -> None:
        """Hashes what another reporter sent, as long as the file still has it."""
        while self._fd is not None and self._offset is not None and self._hashed < self._offset:
            size = os.fstat(self._fd).st_size
            if self._hashed == self._head and size > self._head + self._tail:
                self._hashed = size - self._tail  # over the hole
                continue
            data = os.pread(self._fd, min(CHUNK, self._offset - self._hashed), self._hashed)
            if not data:
                return
            self._count(self._hashed, data if self._hashed >= self._head else data[:self._head - self._hashed])
