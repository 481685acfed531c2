"""A change of status to 1,000 open pages, beside `websockets.broadcast` of the same text, both told by the same broker.

Run: `uv run --group test python tests/bench/fanout.py [viewers] [rounds]`. Time counts from the change in another process
(one UPDATE, then the announcement) to the last byte in each viewer's hands; the viewers are one Python process, whose own
cost is in both figures. The job is at rest, so that no page is told again without a change.
"""

import asyncio
import sys

from stage import child, free_port, now, percentiles, portal, rss, table, tell, viewers, wait_for

TOUCH = """
import sys, time, django
django.setup()
from jobs.models import Workload
work = Workload.objects.get(public_id=sys.argv[1])
for line in sys.stdin:
    at = time.monotonic()
    work.touch()
    print(at, flush=True)
"""
PUBLISH = """
import sys, time, redis
client = redis.Redis.from_url(sys.argv[1])
client.ping()
for line in sys.stdin:
    at = time.monotonic()
    client.publish("bench", "go")
    print(at, flush=True)
"""
BARE = """
import asyncio, sys, redis.asyncio
from websockets.asyncio.server import broadcast, serve
text, opened = "x" * int(sys.argv[3]), set()
async def stay(socket):
    opened.add(socket)
    await socket.wait_closed()
async def main():
    async with serve(stay, "127.0.0.1", int(sys.argv[1]), compression=None, ping_interval=None):
        pubsub = redis.asyncio.Redis.from_url(sys.argv[2], socket_timeout=None).pubsub()
        await pubsub.subscribe("bench")
        async for message in pubsub.listen():
            if message["type"] == "message":
                broadcast(opened, text)
asyncio.run(main())
"""


def main(count: int = 1000, rounds: int = 10) -> None:
    with portal(status="completed") as ours, ours.served() as (port, server):
        public_id = ours.jobs[0][0]
        before = rss(server.pid)
        address = f"ws://127.0.0.1:{port}/live/jobs/{public_id}/?page=status"
        with child(TOUCH, public_id, **ours.environment) as toucher:
            ours_row, size = asyncio.run(measure(address, ours.cookie, count, rounds, toucher, lambda: rss(server.pid) - before))
        bare_port = free_port()
        with child(BARE, str(bare_port), ours.redis, str(size)) as bare, child(PUBLISH, ours.redis) as publisher:
            wait_for(lambda: answers(bare_port))
            before = rss(bare.pid)
            address = f"ws://127.0.0.1:{bare_port}/"
            bare_row, _ = asyncio.run(measure(address, None, count, rounds, publisher, lambda: rss(bare.pid) - before, first=False))
    heads = ["", "first ms", "p50 ms", "p99 ms", "all ms (median)", "all ms (worst)", "missed", "KiB a viewer"]
    ratio = ["ours / bare", *(a / b for a, b in zip(ours_row[:5], bare_row[:5], strict=True)), "", ours_row[6] / max(bare_row[6], 0.1)]
    rows = [["ours", *ours_row], ["bare", *bare_row], ratio]
    table(f"status change to {count} open pages, {size} characters each, {rounds} rounds", heads, rows)


def answers(port: int) -> bool:
    import socket

    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


async def measure(address, headers, count, rounds, source, memory, first=True):
    """First, median, 99th, and all delivered (median and worst round), missed, KiB a viewer; and the text's length."""
    async with viewers(address, count, headers) as opened:
        if first:
            await asyncio.gather(*(one.recv() for one in opened))
        size, held, taken, all_at, first_at, missed = 0, memory(), [], [], [], 0
        for _ in range(rounds):
            waiting = [asyncio.ensure_future(arrival(one)) for one in opened]
            await asyncio.sleep(0.3)
            sent = float(await asyncio.to_thread(tell, source))
            done, late = await asyncio.wait(waiting, timeout=10)
            missed += len(late)
            times = [task.result()[0] - sent for task in done]
            size = max(task.result()[1] for task in done)
            taken += times
            all_at.append(max(times))
            first_at.append(min(times))
    middle = sorted(all_at)[len(all_at) // 2]
    return [min(first_at) * 1000, *percentiles(taken), middle * 1000, max(all_at) * 1000, str(missed), held * 1024 / count], size


async def arrival(socket):
    while (text := await socket.recv()) == "<!-- -->":
        pass
    return now(), len(text)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
