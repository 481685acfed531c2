"""The parts of a multipart body (RFC 7578), with file names of any bytes.

One idea: Django's parser takes a file's name for text and mends it. Here it only finds where parts begin and end, and names
stay the bytes that were sent. As HTML says, and curl does, a quotation mark and line breaks in them come as %22, %0D and %0A.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_to_bytes

from django.http.multipartparser import ChunkIter, InterBoundaryIter, LazyStream, MultiPartParserError, exhaust

PIECE = 256 << 10
LONGEST_HEAD = 16 << 10
_DISPOSITION = re.compile(rb"content-disposition:[ \t]*form-data[ \t]*(;.*)", re.IGNORECASE | re.DOTALL)
_ENCODED = re.compile(rb"\r\ncontent-transfer-encoding:[ \t]*(?:base64|quoted-printable)", re.IGNORECASE)
_FILENAME = re.compile(rb';[ \t]*filename=(?:"(.*?)"|([^";]*?))[ \t]*(?=;|\Z)', re.IGNORECASE | re.DOTALL)
_EXTENDED = re.compile(rb";[ \t]*filename\*=utf-8'[^']*'([^; \t]*)", re.IGNORECASE)
_NAME = re.compile(rb';[ \t]*name=(?:"([^"]*)"|([^";]*?))[ \t]*(?=;|\Z)', re.IGNORECASE)


@dataclass(frozen=True)
class Part:
    """`filename` is None for a field; `body` gives its bytes in pieces, before the next part is asked for."""

    name: str
    filename: bytes | None
    body: Any


def parts_of(stream: Any, boundary: bytes) -> Iterator[Part]:
    """Each part that has a name. Raises MultiPartParserError."""
    for body in InterBoundaryIter(LazyStream(ChunkIter(stream, PIECE)), b"--" + boundary):
        part = _part(body)
        if part is not None:
            yield part
        exhaust(body)


# --- private ----------------------------------------------------------------------------------------------------------
def _part(body: Any) -> Part | None:
    head = b""
    while b"\r\n\r\n" not in head:
        piece = body.read(1024)
        if not piece or len(head) > LONGEST_HEAD:
            return None
        head += piece
    head, _, rest = head.partition(b"\r\n\r\n")
    body.unget(rest)
    found = next(filter(None, (_DISPOSITION.fullmatch(line) for line in head.split(b"\r\n"))), None)
    if found is None:
        return None
    if _ENCODED.search(b"\r\n" + head):
        raise MultiPartParserError("A part is encoded; send its bytes as they are.")
    return _named(found[1], body)


def _named(told: bytes, body: Any) -> Part | None:
    extended, file = _EXTENDED.search(told), _FILENAME.search(told)
    name = _NAME.search(_FILENAME.sub(b"", told))
    if name is None:
        return None
    filename = None
    if extended:
        filename = unquote_to_bytes(extended[1])
    elif file:
        filename = _unescaped(file[1] if file[1] is not None else file[2])
    return Part((name[1] or name[2] or b"").decode("utf-8", "replace"), filename, body)


def _unescaped(name: bytes) -> bytes:
    return name.replace(b'\\"', b'"').replace(b"%22", b'"').replace(b"%0D", b"\r").replace(b"%0A", b"\n")
