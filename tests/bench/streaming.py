"""Memory of a web process while logs stream through it at full speed for a long time.

Run: `uv run --group test python tests/bench/streaming.py [minutes]` (10 if not said). An agent posts as fast as it is
answered, one viewer follows and acknowledges, another never reads. Each round is a stream of its own of ROUND MiB, deleted
afterwards, so that the disk stays as it was. Flat means: the last tenth of the time needs no more memory than the second.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys

from log_tail import MIB, post
from stage import now, portal, rss, table, viewers

ROUND = 64


def main(minutes: float = 10.0) -> None:
    with portal(jobs=1, broker=False) as ours, ours.served() as (port, server):
        asyncio.run(stream(ours, port, server, 60 * minutes))


async def stream(ours, port: int, server, seconds: float) -> None:
    public_id, token = ours.jobs[0]
    started, samples, number = now(), [], 0
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    piece = (b"x" * 99 + b"\n") * (MIB // 100)
    while now() - started < seconds:
        address = f"ws://127.0.0.1:{port}/live/jobs/{public_id}/log/?stream=round{number}"
        async with viewers(address, 2, ours.cookie) as (follower, stuck):
            await stuck.send(json.dumps({"type": "follow", "from": 0}))
            following = asyncio.ensure_future(follow(follower, ROUND * len(piece)))
            for at in range(ROUND):
                await post(reader, writer, token, f"log?stream=round{number}&offset={at * len(piece)}", piece)
            await following
        samples.append((now() - started, rss(server.pid)))
        for path in ours.log_of(public_id).glob(f"*round{number}.*"):
            path.unlink()
        number += 1
    report(samples, number * ROUND * len(piece) / MIB)


async def follow(one, size: int) -> None:
    """Everything, each frame acknowledged."""
    at = 0
    await one.send(json.dumps({"type": "follow", "from": 0}))
    while at < size:
        frame = await one.recv()
        if isinstance(frame, bytes):
            at = int.from_bytes(frame[:8], "big") + len(frame) - 8
            await one.send(json.dumps({"type": "ack", "offset": at}))


def report(samples: list[tuple[float, float]], streamed: float) -> None:
    over = samples[-1][0]
    rows = []
    for tenth in range(10):
        here = [size for at, size in samples if over * tenth / 10 < at <= over * (tenth + 1) / 10]
        if here:
            rows.append([f"{over * (tenth + 1) / 600:.1f} min", statistics.median(here), max(here)])
    table(f"memory of web over {streamed:.0f} MiB at {streamed / over:.0f} MiB/s", ["", "median MiB", "most MiB"], rows)


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
