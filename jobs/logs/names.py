"""How a stream's name becomes a file's name, and back.

The one idea: a name may hold anything a path on the node may hold (slashes, dots, line breaks, bytes
that are no UTF-8), so only letters, digits, "_" and "-" stay as they are; the rest is
percent-encoded, and what gets too long for a file system is cut and told apart by its hash.
"""

import hashlib
import os
from pathlib import Path
from urllib.parse import unquote_to_bytes

PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
LONGEST = 150  # characters; a file name may have 255, the side files need some of them
HASHED = "~"  # marks a cut name; never comes out of the encoding


def encode(stream: str) -> str:
    """A file name for a stream's name; the same name always gives the same file."""
    raw = os.fsencode(stream)
    plain = "".join(chr(byte) if byte in PLAIN else f"%{byte:02X}" for byte in raw)
    if len(plain) <= LONGEST:
        return plain
    return plain[:60].rstrip("%0123456789ABCDEF") + HASHED + hashlib.sha256(raw).hexdigest()


def decode(base: str) -> str | None:
    """The stream's name again; None for a cut one, which the .name file holds."""
    return None if HASHED in base else os.fsdecode(unquote_to_bytes(base))


def log_path(directory: Path, stream: str, generation: int) -> Path:
    """The file that holds a stream's bytes, whether it exists or not."""
    return directory / f"{encode(stream)}.{int(generation)}.log"


def beside(path: Path, kind: str) -> Path:
    """A side file of a log: "index", "gaps", "seal" or "name"."""
    return path.with_suffix(f".{kind}")


def remember(path: Path, stream: str) -> None:
    """Writes down the name of a stream whose file name had to be cut."""
    if HASHED in path.name:
        beside(path, "name").write_bytes(os.fsencode(stream))


def recall(path: Path) -> str:
    """The name of the stream that a log file belongs to."""
    name = decode(path.name.split(".", 1)[0])
    return os.fsdecode(beside(path, "name").read_bytes()) if name is None else name
