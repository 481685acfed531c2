"""The files of a job as both sides see them: described by the parent, opened or asked for by the child."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO, cast

from ..validation.apart import Asked
from ..validation.base import Inputs
from ..validation.unpacked import Unpacked

BLOCK = 1 << 20
Described = dict[str, Any]


class Given:
    """Files by name, size and, where one is a plain file of this machine, its path; all other bytes are asked for."""

    def __init__(self, files: Sequence[Sequence[Any]]) -> None:
        self._files = {name: (size, path) for name, size, path in files}

    def names(self) -> Sequence[str]:
        return list(self._files)

    def size(self, name: str) -> int:
        return self._files[name][0] if name in self._files else 0

    def open(self, name: str) -> BinaryIO:
        if name not in self._files:
            raise FileNotFoundError(name)
        size, path = self._files[name]
        return open(path, "rb") if path is not None else cast(BinaryIO, io.BufferedReader(Asked(name, size), BLOCK))


def described(sizes: Mapping[str, int], paths: Mapping[str, str], archives: Sequence[str] = ()) -> Described:
    """What the child is told: names and sizes, where the plain ones lie, which archives are looked into."""
    return {"files": [[name, size, paths.get(name)] for name, size in sizes.items()], "archives": list(archives)}


def received(values: Described) -> Inputs:
    """The files as the child sees them."""
    given = Given(values["files"])
    return Unpacked(given, values["archives"]) if values["archives"] else given
