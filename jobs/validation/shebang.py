"""Tells shell scripts from other files among the inputs."""

from __future__ import annotations

import re

from .base import Inputs
from .words import LIMIT


def script_text(inputs: Inputs, name: str, direct: bool) -> str | None:
    """The text of a shell script among the inputs, else None. `direct`: started by its name, so it needs a #! line."""
    try:
        with inputs.open(name) as stream:
            head = stream.read(LIMIT)
    except (OSError, KeyError, ValueError):
        return None
    first = head.split(b"\n", 1)[0].removeprefix(b"\xef\xbb\xbf")
    if b"\0" in head[:1024] or (first.startswith(b"#!") and not re.search(rb"\b(ba|da|z|k)?sh\b", first)):
        return None
    if direct and not first.startswith(b"#!") and not name.endswith(".sh"):
        return None
    return head.decode("utf-8", "replace").replace("\r\n", "\n")
