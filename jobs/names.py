r"""Names of files as text: whatever bytes a file system takes, in letters that databases, JSON and pages can hold.

One idea: a name is shown as its UTF-8; each byte that is none, each control character, and a backslash that would look like
this, is written \xHH (two small hexadecimal digits). Both directions lose nothing, so a name that is shown may be sent back
and means the same bytes. Rows hold what is shown; agents, archives and folders get the path.
"""

from __future__ import annotations

import re

_ODD = re.compile(r"[\x00-\x1f\x7f\udc80-\udcff]|\\(?=x[0-9a-f]{2})")
_WRITTEN = re.compile(rb"\\x([0-9a-f]{2})")


def shown(path: str | bytes) -> str:
    """The text for a name that is bytes, or as Python writes paths (bytes that are no UTF-8 as lone surrogates)."""
    text = path.decode("utf-8", "surrogateescape") if isinstance(path, bytes) else path
    return _ODD.sub(lambda found: f"\\x{ord(found[0]) & 0xFF:02x}", text)


def raw(text: str) -> bytes:
    """The bytes that a shown name stands for. Raises UnicodeEncodeError for what is no text."""
    return _WRITTEN.sub(lambda found: bytes([int(found[1], 16)]), text.encode("utf-8", "surrogateescape"))


def path(text: str) -> str:
    """The same as Python writes paths."""
    return raw(text).decode("utf-8", "surrogateescape")
