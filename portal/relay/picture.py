"""A small picture of a desktop: what its page and the list show before anybody connects.

It is taken as any viewer would take it (RFB 3.8, raw encoding), at most once in KEPT seconds for everybody together.
"""

from __future__ import annotations

import asyncio
import io
import time

from PIL import Image

from . import lines
from .lines import Closed, Stream

KEPT = 20.0
LIMIT = 10.0
"""Seconds that taking one may last."""
WIDTH, HEIGHT = 480, 320
LARGEST = 32 << 20
"""Bytes of a desktop that is looked at."""
_FORMAT = bytes([32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0])
"""32 bits a pixel: blue, green, red, nothing."""
_kept: dict[str, tuple[float, bytes]] = {}
_taking: dict[str, asyncio.Lock] = {}


async def picture(name: str) -> bytes:
    """A PNG, at most WIDTH x HEIGHT. Raises Closed."""
    async with _taking.setdefault(name, asyncio.Lock()):
        kept = _kept.get(name)
        if kept is None or time.monotonic() - kept[0] > KEPT:
            _kept[name] = time.monotonic(), await _taken(name)
            _forget_old()
    return _kept[name][1]


def _forget_old() -> None:
    for name in [name for name, (at, _) in _kept.items() if time.monotonic() - at > 10 * KEPT]:
        del _kept[name]
        _taking.pop(name, None)


async def _taken(name: str) -> bytes:
    stream = await lines.line(name).open("desktop")
    try:
        async with asyncio.timeout(LIMIT):
            width, height, pixels = await _looked(_Reader(stream))
    except TimeoutError as error:
        raise Closed("the desktop does not answer") from error
    finally:
        await stream.close()
    return await asyncio.to_thread(_small, width, height, pixels)


def _small(width: int, height: int, pixels: bytes) -> bytes:
    image = Image.frombytes("RGB", (width, height), pixels, "raw", "BGRX")
    image.thumbnail((WIDTH, HEIGHT))
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


class _Reader:
    """Exactly so many bytes of a stream."""

    def __init__(self, stream: Stream) -> None:
        self.stream, self._rest = stream, bytearray()

    async def exactly(self, size: int) -> bytes:
        while len(self._rest) < size:
            piece = await self.stream.read()
            if not piece:
                raise Closed("the desktop went away")
            self._rest += piece
        taken = bytes(self._rest[:size])
        del self._rest[:size]
        return taken

    async def number(self, size: int) -> int:
        return int.from_bytes(await self.exactly(size), "big")


async def _looked(reader: _Reader) -> tuple[int, int, bytes]:
    """Width, height and pixels of the whole desktop."""
    width, height = await _shaken_hands(reader)
    if not 0 < width * height * 4 <= LARGEST:
        raise Closed("the desktop is too large for a picture")
    await reader.stream.write(bytes([0, 0, 0, 0]) + _FORMAT)
    await reader.stream.write(bytes([2, 0, 0, 1, 0, 0, 0, 0]))  # raw rectangles only
    await reader.stream.write(bytes([3, 0, 0, 0, 0, 0]) + width.to_bytes(2, "big") + height.to_bytes(2, "big"))
    screen = bytearray(width * height * 4)
    await _updated(reader, screen, width, height)
    return width, height, bytes(screen)


async def _shaken_hands(reader: _Reader) -> tuple[int, int]:
    write = reader.stream.write
    await reader.exactly(12)
    await write(b"RFB 003.008\n")
    kinds = await reader.exactly(await reader.number(1))
    if 1 not in kinds:
        raise Closed("the desktop asks for a password")
    await write(b"\x01")
    if await reader.number(4) != 0:
        raise Closed("the desktop refused")
    await write(b"\x01")  # shared
    width, height = await reader.number(2), await reader.number(2)
    await reader.exactly(16)
    await reader.exactly(await reader.number(4))
    return width, height


async def _updated(reader: _Reader, screen: bytearray, width: int, height: int) -> None:
    """Takes messages of the server until one update has been drawn."""
    while True:
        kind = await reader.number(1)
        if kind == 0:
            await reader.exactly(1)
            for _ in range(await reader.number(2)):
                await _drawn(reader, screen, width, height)
            return
        if kind == 3:  # text was cut there
            await reader.exactly(3)
            await reader.exactly(await reader.number(4))
        elif kind != 2:  # a bell
            raise Closed(f"message {kind} of the desktop is unknown")


async def _drawn(reader: _Reader, screen: bytearray, width: int, height: int) -> None:
    left, top, wide, high = [await reader.number(2) for _ in range(4)]
    if await reader.number(4) != 0 or left + wide > width or top + high > height:
        raise Closed("the desktop sent something else than a picture")
    for row in range(top, top + high):
        start = (row * width + left) * 4
        screen[start : start + wide * 4] = await reader.exactly(wide * 4)
