"""Health as it comes: /live/jobs/<id>/health/?attempt=1&since=T

The one idea: the files hold every beat; a viewer gets a thinned-out history first and then, per node, what
is newer than the last point it got.

Server: {"type": "points", "node": n, "points": [...], "heard": unix seconds}; {"type": "beat"} when silent.
"""

import time
from pathlib import Path
from typing import Any

from jobs import logs
from portal import live
from portal.consumers.socket import AGAIN, HEARTBEAT, NOT_FOUND, Left, Socket, entered_workload, off_loop, visible_workload
from portal.consumers.tail import WATCH
from portal.numbers import whole

LOOK = 2.0  # seconds after which to look although no news came
POINTS = 300  # of a node's history
HEALTH = "health"  # the name under which a health page is watched


class HealthSocket(Socket):
    async def enter(self) -> None:
        self.public_id = self.scope["url_route"]["kwargs"]["public_id"]
        self.work = await entered_workload(self.public_id, self.user)
        attempt = whole(self.query.get("attempt", str(self.work.attempt))) or 0
        if not 1 <= attempt <= self.work.attempt:
            raise Left(NOT_FOUND)
        self.directory = logs.attempt_dir(self.public_id, attempt)
        self.wake_agent = self.work.is_active and attempt == self.work.attempt
        self.since, self.got = _seconds(self.query.get("since", "")), {}
        self.marked, self.spoke = -WATCH, time.monotonic()

    async def may_stay(self) -> bool:
        return await visible_workload(self.public_id, self.user) is not None

    async def show(self) -> None:
        async with live.hub.subscribe(f"health:{self.public_id}") as news:
            moved: dict[str, Any] | None = {}
            while moved is not None:
                await self._mark()
                await self._send_fresh()
                moved = await news.next(LOOK)
        raise Left(AGAIN)

    async def _send_fresh(self) -> None:
        for node, heard, points in await fresh(self.directory, self.got, self.since):
            self.got[node] = points[-1]["at"]
            self.spoke = time.monotonic()
            await self.send_json({"type": "points", "node": node, "points": points, "heard": heard})
        if time.monotonic() - self.spoke > HEARTBEAT:
            self.spoke = time.monotonic()
            await self.send_json({"type": "beat"})

    async def _mark(self) -> None:
        """Tells the agents that somebody looks: they report more often then."""
        if self.wake_agent and time.monotonic() - self.marked > WATCH:
            self.marked = time.monotonic()
            if await watch(self.directory, HEALTH):
                live.hub.publish(f"orders:{self.public_id}", {"watched": HEALTH})


@off_loop
def fresh(directory: Path, got: dict[int, float], since: float) -> list[tuple[int, float, list[dict[str, Any]]]]:
    """Node, last heard and points, for each node that has any newer than what its viewer got."""
    found = []
    for node, heard in sorted(logs.last_heard(directory).items()):
        points = logs.beats(directory, node, got.get(node, since), POINTS) if heard > got.get(node, since) else []
        if points:
            found.append((node, heard, points))
    return found


watch: Any = off_loop(logs.watch)


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
