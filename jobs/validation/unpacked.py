"""Inputs as they will be once archives are unpacked: the members stand beside the files.

The one idea to know: a member's bytes are read straight out of the archive, nothing is written anywhere.
"""

from __future__ import annotations

import posixpath
import tarfile
import zipfile
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import BinaryIO

from .archives import Entry, decompressed, look
from .base import Inputs, mode_of


class Unpacked:
    """Inputs with the members of the archives that are to be unpacked beside the files themselves.

    The archives are opened when somebody asks for names, not before: that is in the child process with its limits.
    """

    def __init__(self, inputs: Inputs, archives: Sequence[str]) -> None:
        self.inputs = inputs
        self.archives = list(archives)

    @cached_property
    def folders(self) -> list[str]:
        own = list(getattr(self.inputs, "folders", ()))
        return own + [_plain(entry.name) for _, entry in self._entries if entry.kind == "folder"]

    @cached_property
    def skipped(self) -> list[tuple[str, str]]:
        own = list(getattr(self.inputs, "skipped", ()))
        return own + [(_plain(entry.name), "symlink") for _, entry in self._entries if entry.kind not in ("file", "folder")]

    @cached_property
    def members(self) -> dict[str, tuple[str, Entry]]:
        return {_plain(entry.name): (archive, entry) for archive, entry in self._entries if entry.kind == "file"}

    @cached_property
    def _entries(self) -> list[tuple[str, Entry]]:
        found = [(archive, entry) for archive in self.archives for entry in look(self.inputs, archive).entries]
        return [(archive, entry) for archive, entry in found if not _plain(entry.name).startswith(("../", "/")) and
                _plain(entry.name) not in (".", "..")]  # fmt: skip

    def names(self) -> Sequence[str]:
        own = list(self.inputs.names())
        known = set(own)
        return [*own, *(name for name in self.members if name not in known)]

    def size(self, name: str) -> int:
        return self.members[name][1].size if name in self.members else self.inputs.size(name)

    def mode(self, name: str) -> int | None:
        return self.members[name][1].mode or None if name in self.members else mode_of(self.inputs, name)

    def open(self, name: str) -> BinaryIO:
        if name not in self.members:
            return self.inputs.open(name)
        archive, entry = self.members[name]
        return _open_member(self.inputs, archive, entry)


def unpacked(inputs: Inputs, flags: Mapping[str, bool] | Collection[str]) -> Inputs:
    """The inputs as the job folder will hold them. `flags`: the archives to unpack, or name -> yes or no."""
    wanted = [name for name in flags if flags[name]] if isinstance(flags, Mapping) else list(flags)
    present = set(inputs.names())  # of the files, not of what is in them
    chosen = [name for name in wanted if name in present]
    return Unpacked(inputs, chosen) if chosen else inputs


def _plain(name: str) -> str:
    return posixpath.normpath(name)


def _open_member(inputs: Inputs, archive: str, entry: Entry) -> BinaryIO:
    """A member as a stream. Of a tar only by reading all that comes before it."""
    stream = inputs.open(archive)
    head = stream.read(6)
    stream.seek(0)
    if head[:2] == b"PK":
        return zipfile.ZipFile(stream).open(entry.name.split("\0")[0])  # type: ignore[return-value]
    source = decompressed(stream, head, max(1, inputs.size(archive)))
    opened = tarfile.open(fileobj=source, mode="r|" if source is not stream else "r:")  # noqa: SIM115 its member outlives this call
    for info in opened:
        opened.members.clear()  # type: ignore[attr-defined]
        if info.name == entry.name:
            found = opened.extractfile(info)
            if found is not None:
                return found  # type: ignore[return-value]
    raise FileNotFoundError(entry.name)
