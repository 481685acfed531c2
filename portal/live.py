"""The hub: who wants to hear of what, and the news that something has moved on.

The one idea: news are positions ("job aBcDeF is at version 7"), never data. They may come twice, late or
not at all: whoever gets one reads what it lacks, and every few seconds the versions of all workloads on
screen are compared with the database. So a dead broker makes pages slower, never wrong, and a click never
waits for it.

    async with hub.subscribe("job:aBcDeF") as news:     # subscribe first, then read the present state
        while (moved := await news.next(timeout=20)) is not None: ...
"""

import asyncio
import logging
from collections.abc import Iterable
from contextlib import suppress
from types import TracebackType
from typing import Any

from channels.db import database_sync_to_async
from django.conf import settings

from jobs.lifecycle import TABLES
from portal.wire import Listener, Sender

log = logging.getLogger(__name__)

GUARD_SECONDS = 5.0  # how long a page may be stale when a piece of news was lost
QUERY_IDS = 500  # ids that go into one query of the guard
READY_SECONDS = 2.0  # how long a subscriber waits for the broker before it goes on without

Facts = dict[str, Any]


class News:
    """One subscriber's side: what moved since it last looked. Belongs to one event loop."""

    def __init__(self, room: "Room", topics: Iterable[str]):
        self.room, self.topics = room, frozenset(topics)
        self.seen: dict[str, int] = {}  # topic -> version that the subscriber has read; the guard compares it
        self._moved: dict[str, Facts] = {}
        self._bell = asyncio.Event()

    async def next(self, timeout: float | None = None) -> dict[str, Facts] | None:
        """What moved, by topic; empty after `timeout` seconds; None when the server is about to stop."""
        if not self._bell.is_set():
            try:
                async with asyncio.timeout(timeout):  # wait_for would swallow a cancellation that comes with the bell
                    await self._bell.wait()
            except TimeoutError:
                return {}
        if self.room.closed:
            return None
        moved, self._moved = self._moved, {}
        self._bell.clear()
        return moved

    def ring(self, topic: str, facts: Facts) -> None:
        self._moved.setdefault(topic, {}).update(facts)
        self._bell.set()

    async def __aenter__(self) -> "News":
        await self.room.enter(self)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.room.leave(self)


class Room:
    """All subscribers of one event loop, and the two tasks that serve them while there are any."""

    def __init__(self, loop: asyncio.AbstractEventLoop):
        self.loop, self.closed = loop, False
        self.topics: dict[str, set[News]] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._ready = asyncio.Event()

    async def enter(self, news: News) -> None:
        for topic in news.topics:
            self.topics.setdefault(topic, set()).add(news)
        if not self._tasks:
            self._start()
        if self.closed:
            news.ring("", {})
        with suppress(TimeoutError):
            async with asyncio.timeout(READY_SECONDS):
                await self._ready.wait()

    def leave(self, news: News) -> None:
        for topic in news.topics:
            self.topics[topic].discard(news)
            if not self.topics[topic]:
                del self.topics[topic]
        if not self.topics:
            for task in self._tasks:
                task.cancel()
            self._tasks.clear()
            self._ready.clear()

    def ring(self, topic: str, facts: Facts) -> None:
        """Delivers to the subscribers of a topic; in this loop's thread only."""
        for news in self.topics.get(topic, ()):
            news.ring(topic, facts)

    def ring_from_anywhere(self, topic: str, facts: Facts) -> None:
        if topic not in self.topics:
            return
        if _running_loop() is self.loop:
            self.ring(topic, facts)
        elif not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self.ring, topic, facts)

    def close(self) -> None:
        self.closed = True
        for topic in list(self.topics):
            self.ring(topic, {})

    def _start(self) -> None:
        self._tasks = [self.loop.create_task(self._guard())]
        if settings.REDIS_URL:
            listener = Listener(settings.REDIS_URL, self.topics, self.ring, self._connected, self._ready.set)
            self._tasks.append(self.loop.create_task(listener.run()))
        else:
            self._ready.set()

    def _connected(self) -> None:
        """The broker is there (again): what was said meanwhile is not known, so everybody looks."""
        if self._ready.is_set():
            for topic in list(self.topics):
                self.ring(topic, {})
        self._ready.set()

    async def _guard(self) -> None:
        while True:
            await asyncio.sleep(GUARD_SECONDS)
            try:
                await self.compare()
            except Exception:
                log.warning("the versions on screen could not be compared", exc_info=True)

    async def compare(self) -> None:
        """Rings for every workload on screen whose version is not the one that was read last."""
        wanted = {topic.split(":", 1)[1] for topic in self.topics if topic.split(":", 1)[0] in TABLES}
        if not wanted:
            return
        versions = await database_sync_to_async(_versions, thread_sensitive=False)(sorted(wanted))
        for topic in list(self.topics):
            kind, _, public_id = topic.partition(":")
            if kind in TABLES and public_id in wanted:
                self._ring_if_stale(topic, versions.get(topic))

    def _ring_if_stale(self, topic: str, version: int | None) -> None:
        for news in self.topics[topic]:
            if topic in news.seen and news.seen[topic] != version:
                news.ring(topic, {} if version is None else {"version": version})


class Hub:
    """The process's one place for news: subscribe from event loops, publish from anywhere."""

    def __init__(self) -> None:
        self._rooms: dict[asyncio.AbstractEventLoop, Room] = {}
        self._sender: Sender | None = None

    def subscribe(self, *topics: str) -> News:
        """News of these topics, to be used by `async with` in a running event loop."""
        loop = asyncio.get_running_loop()
        for other in [known for known in self._rooms if known.is_closed()]:
            del self._rooms[other]
        if loop not in self._rooms:
            self._rooms[loop] = Room(loop)
        return News(self._rooms[loop], topics)

    def publish(self, topic: str, facts: Facts | None = None) -> None:
        """Says that a topic has moved on, to this process at once, to the others by the broker.

        From any thread; returns at once and raises nothing, whatever the broker does.
        """
        try:
            for room in list(self._rooms.values()):
                room.ring_from_anywhere(topic, facts or {})
            if settings.REDIS_URL:
                self._send(topic, facts or {})
        except Exception:
            log.warning("news of %s could not be published", topic, exc_info=True)

    def watched(self, topic: str) -> bool:
        """Whether anybody in this process wants to hear of a topic."""
        return any(topic in room.topics for room in list(self._rooms.values()))

    async def compare(self) -> None:
        """Compares the versions on screen now, without waiting for the guard's turn."""
        room = self._rooms.get(asyncio.get_running_loop())
        if room:
            await room.compare()

    def close(self) -> None:
        """The server stops: everybody who waits for news is let go."""
        for room in self._rooms.values():
            room.close()

    def _send(self, topic: str, facts: Facts) -> None:
        if self._sender is None or self._sender.url != settings.REDIS_URL or not self._sender.is_mine():
            self._sender = Sender(settings.REDIS_URL)
        self._sender.put(topic, facts)


hub = Hub()


def announce(sender: object = None, *, topic: str, facts: Facts | None = None, **more: object) -> None:
    """Receiver of the domain's `changed`: connect it once, when the portal's app is ready."""
    hub.publish(topic, facts)


def publish(topic: str, facts: Facts | None = None) -> None:
    """Shorthand for the hub's publish."""
    hub.publish(topic, facts)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _versions(public_ids: list[str]) -> dict[str, int]:
    from jobs.models import Workload

    found: dict[str, int] = {}
    for first in range(0, len(public_ids), QUERY_IDS):
        rows = Workload.objects.filter(public_id__in=public_ids[first : first + QUERY_IDS])
        found.update({f"{kind}:{public_id}": version for kind, public_id, version in rows.values_list("kind", "public_id", "version")})
    return found
