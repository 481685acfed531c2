"""Inputs as they will be once archives are unpacked: the members stand beside the files.

The one idea to know: a member's bytes are read straight out of the archive, nothing is written anywhere. Members lie in
the archive's own folder, and of two files of one name the one that is put in place later counts: inputs come in their
order, an archive after what is in it.
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
        return own + [name for name, _, entry in self._entries if entry.kind == "folder"]

    @cached_property
    def skipped(self) -> list[tuple[str, str]]:
        own = list(getattr(self.inputs, "skipped", ()))
        return own + [(name, "symlink") for name, _, entry in self._entries if entry.kind not in ("file", "folder")]

    @cached_property
    def members(self) -> dict[str, tuple[str, Entry]]:
        """What counts of the archives, by its name in the job folder."""
        return {name: (archive, entry) for name, archive, entry in self._entries if entry.kind == "file" and self._wins(archive, name)}

    @cached_property
    def replaced(self) -> list[tuple[str, str, str]]:
        """Name, what counts and what doesn't, each an archive or the name itself, where there is a file twice; each name once."""
        last: dict[str, str] = {}
        found: dict[str, tuple[str, str, str]] = {}
        for name, archive, entry in self._entries:
            if entry.kind == "file" and last.get(name, archive) != archive:
                found[name] = (name, archive, last[name])
            last[name] = archive
            if name in self._order:
                found[name] = (name, archive, name) if self._wins(archive, name) else (name, name, archive)
        return list(found.values())

    @cached_property
    def _order(self) -> dict[str, int]:
        return {name: at for at, name in enumerate(self.inputs.names())}

    def _wins(self, archive: str, name: str) -> bool:
        """Against an input of the same name."""
        return self._order.get(name, -1) < self._order[archive]

    @cached_property
    def _entries(self) -> list[tuple[str, str, Entry]]:
        """Name in the job folder, archive, entry, as they are unpacked."""
        found = []
        for archive in sorted(self.archives, key=self._order.__getitem__):
            for entry in look(self.inputs, archive).entries:
                name = posixpath.normpath(entry.name)
                if not name.startswith(("../", "/")) and name not in (".", ".."):
                    found.append((posixpath.join(posixpath.dirname(archive), name), archive, entry))
        return found

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
