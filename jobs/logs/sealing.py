"""The last word on a stream: the agent's count and hash compared with what we hold.

The one idea: hashes are taken over the kept bytes in order, so they can agree although a gap is
named; a stream is complete only if they agree and nothing is missing. An agent that is gone without
its last word leaves a seal that says so.
"""

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from jobs.logs.files import path_of, streams
from jobs.logs.holes import kept, length, noted
from jobs.logs.names import beside, log_path

PIECE = 1 << 20


@dataclass(frozen=True)
class Seal:
    """What we hold, what the agent said (None: nothing any more), and whether nothing is missing. Sizes in bytes."""

    size: int
    sha256: str
    agent_size: int | None
    agent_sha256: str
    complete: bool


def seal(directory: Path, stream: str, generation: int, agent_size: int, agent_sha256: str) -> Seal:
    """Compares a finished stream with the agent's last word and keeps the result.

    Reads the whole file (1-3 s for a gigabyte) and fsyncs it: not for an event loop.
    """
    path = log_path(directory, stream, generation)
    size, digest = length(path), _digest(path)
    agreed = (size, digest) == (agent_size, agent_sha256) and not noted(path)
    result = Seal(size, digest, agent_size, agent_sha256, agreed)
    _save(path, result)
    return result


def close(directory: Path) -> None:
    """The nodes are gone: what they have not sealed grows no more, and how much more they had is not known."""
    for stream in {"stdout", *(one.name for one in streams(directory))}:
        path = path_of(directory, stream)
        if not beside(path, "seal").exists():
            _save(path, Seal(length(path), "", None, "", complete=False))


def complete(directory: Path, stream: str, *, generation: int | None = None) -> Seal | None:
    """The seal of a stream; None while it may still grow."""
    try:
        text = beside(path_of(directory, stream, generation), "seal").read_text()
    except FileNotFoundError:
        return None
    return Seal(**json.loads(text))


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    for start, end in kept(path):
        with path.open("rb") as file:
            file.seek(start)
            while start < end and (piece := file.read(min(PIECE, end - start))):
                digest.update(piece)
                start += len(piece)
            os.fsync(file.fileno())
    return digest.hexdigest()


def _save(path: Path, result: Seal) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = beside(path, "part")
    with part.open("w") as file:
        json.dump(asdict(result), file)
        file.flush()
        os.fsync(file.fileno())
    part.replace(beside(path, "seal"))
