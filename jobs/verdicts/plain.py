"""Follows a plain command: as the solver whose signature its output carries, else by what any program may tell of itself.

The one idea: a stream begins as nobody's; at the first line with a signature a solver's own parser takes it over.
"""

from __future__ import annotations

from typing import Any

from .base import Files, module
from .live import Live, Log
from .plain_log import PlainLog
from .run import starts
from .signatures import SIGNATURES
from .sources import parts
from .text import shown

SOLVERS = tuple(code for code, _ in SIGNATURES)
SOUGHT = 2_000
"""Lines in which a signature may stand."""


class Plain(Live):
    """`folder` holds the inputs, where known."""

    def __init__(self, folder: Files | None, command: str) -> None:
        super().__init__(self._first)
        self._folder, self._command = folder, command
        self._owners = owners(command)
        self._taken: dict[str, str] = {}  # stream: code of the solver

    def feed(self, stream: str, data: bytes) -> None:
        super().feed(stream, data)
        log, tail = self._logs.get(stream), data.rpartition(b"\n")[2]
        if isinstance(log, PlainLog) and b"\r" in tail:
            for part in tail[-800:].split(b"\r")[-2:]:
                log.glance(shown(part, 400))

    def _read(self, log: Log, stream: str, first: int, found: list[bytes]) -> None:
        for at, line in enumerate(found[: max(0, SOUGHT + 1 - first)] if isinstance(log, PlainLog) else ()):
            code = next((code for code, signature in SIGNATURES if signature.search(line)), None)
            if code:
                super()._read(self._take(stream, code), stream, first + at, found[at:])
                return
        super()._read(log, stream, first, found)

    def _first(self, stream: str) -> Log:
        code = self._owners.get(stream.removeprefix("file:"))
        return self._of(code, stream) if code else PlainLog()

    def _take(self, stream: str, code: str) -> Log:
        log = self._of(code, stream)
        log.name = stream.removeprefix("file:")
        self._logs[stream], self._taken[stream] = log, code
        return log

    def _of(self, code: str, stream: str) -> Log:
        """The parser that the solver's own follower would choose."""
        return module(code).follow(self._folder, self._command)._choose(stream) or PlainLog()

    def reset(self, stream: str) -> None:
        super().reset(stream)
        self._taken.pop(stream, None)

    def dump(self) -> dict[str, Any]:
        return {**super().dump(), "taken": dict(self._taken)}

    def load(self, kept: dict[str, Any]) -> None:
        for stream, code in kept.get("taken", {}).items():
            self._log(stream)
            self._take(stream, code)
        super().load(kept)


def owners(command: str) -> dict[str, str]:
    """The streams that solvers in a plain command write, with the solver's code."""
    return {stream: code for code in reversed(SOLVERS) for stream in _written(code, command)}


def streams(folder: Files | None, command: str) -> dict[str, str]:
    """As the modules of solvers: {name: path}."""
    return {name: path for code in reversed(SOLVERS) for name, path in _written(code, command).items()}


def _written(code: str, command: str) -> dict[str, str]:
    known = module(code)
    if not any(starts(part, known.PROGRAM) for part in parts(command)):
        return {}
    return dict(known.streams(None, command))
