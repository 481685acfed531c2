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

from django.core.exceptions import RequestDataTooBig
from django.http.multipartparser import ChunkIter, InterBoundaryIter, LazyStream, MultiPartParserError, exhaust

PIECE = 256 << 10
LONGEST_HEAD = 16 << 10
_DISPOSITION = re.compile(rb"content-disposition:[ \t]*form-data[ \t]*(;.*)", re.IGNORECASE | re.DOTALL)
_ENCODED = re.compile(rb"\r\ncontent-transfer-encoding:[ \t]*(?:base64|quoted-printable)", re.IGNORECASE)
_PARAMETER = re.compile(rb';[ \t]*+([^=;" \t]++)=(?:"((?:[^"]|"(?![ \t]*+(?:;|\Z)))*+)"[ \t]*+|([^";]*+))(?=;|\Z)', re.DOTALL)
"""A quotation mark ends a name only where the parameter ends. Possessive, and matched one behind the other: linear in its length."""


@dataclass(frozen=True)
class Part:
    """`filename` is None for a field; `body` gives its bytes in pieces, before the next part is asked for."""

    name: str
    filename: bytes | None
    body: Any


def parts_of(stream: Any, boundary: bytes, most: int) -> Iterator[Part]:
    """Each part that has a name. Raises MultiPartParserError, or RequestDataTooBig for more than `most` parts, named or not."""
    for number, body in enumerate(InterBoundaryIter(LazyStream(ChunkIter(stream, PIECE)), b"--" + boundary)):
        if number > most + 1:  # what stands before the first boundary and behind the last is counted too
            raise RequestDataTooBig(f"There are more than {most:,} parts.")
        part = _part(body)
        if part is not None:
            yield part
        exhaust(body)


# --- private ----------------------------------------------------------------------------------------------------------
def _part(body: Any) -> Part | None:
    head = b""
    while b"\r\n\r\n" not in head:
        piece = body.read(1024)
        if len(head) > LONGEST_HEAD:
            raise MultiPartParserError(f"The head of a part is longer than {LONGEST_HEAD:,} bytes.")
        if not piece:
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
    found = _parameters(told)
    if b"name" not in found:
        return None
    filename = found.get(b"filename")
    charset, _, extended = found.get(b"filename*", b"").partition(b"'")
    if charset.lower() == b"utf-8" and b"'" in extended:
        filename = unquote_to_bytes(extended.partition(b"'")[2])
    elif filename is not None:
        filename = _unescaped(filename)
    return Part(found[b"name"].decode("utf-8", "replace"), filename, body)


def _parameters(told: bytes) -> dict[bytes, bytes]:
    """The first of each name counts, and all until one that can't be read."""
    found: dict[bytes, bytes] = {}
    at = 0
    while one := _PARAMETER.match(told, at):
        found.setdefault(one[1].lower(), one[2] if one[2] is not None else one[3].strip(b" \t"))
        at = one.end()
    return found


def _unescaped(name: bytes) -> bytes:
    return name.replace(b'\\"', b'"').replace(b"%22", b'"').replace(b"%0D", b"\r").replace(b"%0A", b"\n")
