"""Big bodies in and out without Django's request cycle, for ASGI handlers and async views.

The one idea: a download is a list of stretches of files, read piece by piece in a thread and sent at the
client's pace; an upload is an async iterator of what arrives. Neither is ever whole in memory.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote

from django.http import HttpResponseBase, StreamingHttpResponse

from jobs import names

PIECE = 256 << 10  # bytes that are read and sent at a time

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Headers = list[tuple[str, str]]


class Gone(Exception):
    """The client went away before its body was complete."""


class TooBig(Exception):
    """The body is longer than what the handler takes."""


@dataclass(frozen=True)
class Stretch:
    """Bytes `start` to `end` of what `open` opens (a file, an object in a storage)."""

    open: Callable[[], BinaryIO]
    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start

    def pieces(self, start: int, end: int) -> Iterator[bytes]:
        with self.open() as file:
            file.seek(self.start + start)
            while start < end and (piece := file.read(min(PIECE, end - start))):
                yield piece
                start += len(piece)


Part = bytes | Stretch


@dataclass(frozen=True)
class Answer:
    """What to send: `start` to `end` of the parts, in whatever way the caller sends it."""

    status: int
    headers: Headers
    parts: Sequence[Part]
    start: int
    end: int

    async def pieces(self) -> AsyncIterator[bytes]:
        source = _pieces(self.parts, self.start, self.end)
        while piece := await asyncio.to_thread(next, source, b""):
            yield piece


def of_file(path: Path, start: int = 0, end: int | None = None) -> Stretch:
    """A file, or a part of it. FileNotFoundError if there is none."""
    return Stretch(lambda: path.open("rb"), start, path.stat().st_size if end is None else end)


def answer(
    method: str,
    asked: Mapping[str, str],
    parts: Sequence[Part],
    *,
    filename: str,
    content_type: str = "application/octet-stream",
    etag: str = "",
    inline: bool = False,
) -> Answer:
    """Decides status, headers and range for a download. `asked`: request headers, names in lower case.

    Understands HEAD, If-None-Match, Range of one stretch and If-Range (RFC 9110).
    """
    size = sum(map(len, parts))
    headers = [
        ("Content-Type", content_type),
        ("Content-Disposition", disposition(filename, inline)),
        ("X-Content-Type-Options", "nosniff"),
        ("Accept-Ranges", "bytes"),
        ("Cache-Control", "private, no-cache"),
        *([("ETag", f'"{etag}"')] if etag else []),
    ]
    if etag and f'"{etag}"' in asked.get("if-none-match", ""):
        return Answer(304, headers[1:], (), 0, 0)
    wanted = _range(asked, size, etag)
    if wanted is None:
        status, start, end = 200, 0, size
    elif wanted[0] >= wanted[1]:
        return Answer(416, [("Content-Range", f"bytes */{size}"), ("Content-Length", "0")], (), 0, 0)
    else:
        status, (start, end) = 206, wanted
        headers.append(("Content-Range", f"bytes {start}-{end - 1}/{size}"))
    headers.append(("Content-Length", str(end - start)))
    return Answer(status, headers, () if method == "HEAD" else parts, start, end)


def response(request: Any, parts: Sequence[Part], **options: Any) -> HttpResponseBase:
    """`answer` as a Django response, for async views. Options are those of `answer`."""
    asked = {name.lower(): value for name, value in request.headers.items()}
    given = answer(request.method, asked, parts, **options)
    return StreamingHttpResponse(given.pieces(), status=given.status, headers=dict(given.headers))


def of_users(answer: HttpResponseBase) -> HttpResponseBase:
    """What a user brought never runs in the portal's origin: it is in a sandbox, and its type is not guessed."""
    answer["Content-Security-Policy"] = "sandbox; default-src 'none'; img-src 'self'"
    answer["X-Content-Type-Options"] = "nosniff"
    answer["Cross-Origin-Resource-Policy"] = "same-origin"
    return answer


async def send_file(scope: Scope, receive: Receive, send: Send, parts: Sequence[Part], **options: Any) -> None:
    """`answer` sent from an ASGI handler; ends early when the client goes. Options are those of `answer`."""
    given = answer(scope["method"], headers_of(scope), parts, **options)

    async def work() -> None:
        await send({"type": "http.response.start", "status": given.status, "headers": _raw(given.headers)})
        async for piece in given.pieces():
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    await while_there(receive, work())


async def body(receive: Receive, limit: int | None = None) -> AsyncIterator[bytes]:
    """The request's body as it arrives. Raises Gone, or TooBig past `limit` bytes."""
    more, taken = True, 0
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        taken += len(message.get("body", b""))
        if limit is not None and taken > limit:
            raise TooBig
        if message.get("body"):
            yield message["body"]
        more = message.get("more_body", False)


async def whole_body(receive: Receive, limit: int) -> bytes:
    """A small body in one piece, at most `limit` bytes."""
    return b"".join([piece async for piece in body(receive, limit)])


async def reply(send: Send, status: int, content: bytes | str | dict[str, Any] = b"", headers: Iterable[tuple[str, str]] = ()) -> None:
    """A small answer: a dict goes as JSON, anything else as plain text unless `headers` say otherwise."""
    named = dict(headers)
    kind = named.pop("Content-Type", "application/json" if isinstance(content, dict) else "text/plain; charset=utf-8")
    if isinstance(content, dict):
        content = json.dumps(content, separators=(",", ":"))
    data = content.encode() if isinstance(content, str) else content
    all_headers = [("Content-Type", kind), ("Content-Length", str(len(data))), *named.items()]
    await send({"type": "http.response.start", "status": status, "headers": _raw(all_headers)})
    await send({"type": "http.response.body", "body": data, "more_body": False})


async def while_there(receive: Receive, work: Any) -> None:
    """Awaits `work`; cancels it when the client disconnects. The body must have been read."""
    working, gone = asyncio.ensure_future(work), asyncio.ensure_future(_disconnect(receive))
    try:
        await asyncio.wait({working, gone}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            working.result()
    finally:
        working.cancel()
        gone.cancel()
        await asyncio.gather(working, gone, return_exceptions=True)


def headers_of(scope: Scope) -> dict[str, str]:
    """A scope's headers, names in lower case."""
    return {name.decode("latin1").lower(): value.decode("latin1") for name, value in scope["headers"]}


def disposition(filename: str, inline: bool = False) -> str:
    """Content-Disposition in both forms (RFC 6266): a plain one, and the name as it really is.

    Bytes that are no UTF-8 stand as they are in the plain one, which curl takes, and as jobs.names writes them in the other.
    """
    kind = "inline" if inline else "attachment"
    clean = "".join(letter if letter.isprintable() or _is_byte(letter) else "_" for letter in filename.replace("/", "_").replace("\\", "_"))
    if any(map(_is_byte, clean)):
        plain = clean.encode("utf-8", "surrogateescape").decode("latin-1").replace('"', "'")
    else:
        plain = clean.encode("ascii", "replace").decode().replace('"', "'").replace("?", "_").replace("%", "_")
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{quote(names.shown(clean), safe='')}"


def _is_byte(letter: str) -> bool:
    """A byte that is no UTF-8, as Python writes paths."""
    return "\udc80" <= letter <= "\udcff"


def _range(asked: Mapping[str, str], size: int, etag: str) -> tuple[int, int] | None:
    """From and to of a valid Range; None if all is wanted, from >= to if there is nothing to give."""
    found = re.fullmatch(r"bytes=(\d{0,18})-(\d{0,18})", asked.get("range", "").replace(" ", ""))
    if not found or not (found[1] or found[2]):
        return None
    if "if-range" in asked and asked["if-range"] != f'"{etag}"':
        return None
    if not found[1]:
        return max(0, size - int(found[2])), size
    start, last = int(found[1]), int(found[2] or size)
    return None if found[2] and last < start else (start, min(last + 1, size))


def _pieces(parts: Sequence[Part], start: int, end: int) -> Iterator[bytes]:
    at = 0
    for part in parts:
        first, last = max(start - at, 0), min(end - at, len(part))
        if first < last:
            yield from part.pieces(first, last) if isinstance(part, Stretch) else (part[first:last],)
        at += len(part)


def _raw(headers: Headers) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode("latin1"), value.encode("latin1")) for name, value in headers]


async def _disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
