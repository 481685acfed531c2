"""News between processes: one channel of a Redis protocol server, one sender and one listener a process.

The one idea: both sides take the broker as something that may be away. The sender is a thread with a
table of the newest facts by topic, so whoever publishes never waits and a long absence costs no memory;
the listener connects again for ever and says when it has, since it can't know what it missed.
"""

import asyncio
import atexit
import hashlib
import json
import logging
import os
import threading
import uuid
from collections.abc import Callable, Container
from typing import Any

import redis
import redis.asyncio
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

log = logging.getLogger(__name__)

ORIGIN = uuid.uuid4().hex  # of this process, which has already told its own subscribers
TIMEOUT = 1.0  # seconds for a connection or an answer when sending
PAUSES = (0.1, 0.5, 1.0, 2.0, 5.0)  # seconds between attempts, the last one for ever
MOST_TOPICS = 10_000  # that wait for the broker; more are dropped, the guard finds what they said
SILENCE = 15.0  # seconds without a message after which the listener asks whether the broker is there


def channel() -> str:
    """A name of our own, since a broker's channels know no databases and may be shared."""
    return "headrace:" + hashlib.sha256(settings.SECRET_KEY.encode()).hexdigest()[:12]


class Sender:
    """Publishes from a thread of its own; the newest facts of a topic replace what still waits."""

    def __init__(self, url: str):
        self.url, self._pid = url, os.getpid()
        self._waiting: dict[str, dict[str, Any]] = {}
        self._lock, self._bell, self._idle = threading.Lock(), threading.Event(), threading.Event()
        self._idle.set()
        threading.Thread(target=self._run, name="news", daemon=True).start()
        atexit.register(self.flush, TIMEOUT)

    def is_mine(self) -> bool:
        """False in a child that was forked: threads stay behind in the parent."""
        return self._pid == os.getpid()

    def put(self, topic: str, facts: dict[str, Any]) -> None:
        with self._lock:
            if len(self._waiting) >= MOST_TOPICS:
                self._waiting.clear()
            self._waiting.setdefault(topic, {}).update(facts)
            self._idle.clear()
            self._bell.set()

    def flush(self, seconds: float) -> bool:
        """Waits until all is sent, at most so long; used when the process ends."""
        return self.is_mine() and self._idle.wait(seconds)

    def _run(self) -> None:
        client, failures = None, 0
        while self._bell.wait():
            try:
                client = client or _client(self.url)
                self._send(client)
                failures = 0
            except Exception as error:
                if not failures:
                    log.warning("news wait: the broker does not answer (%s)", error)
                threading.Event().wait(PAUSES[min(failures, len(PAUSES) - 1)])
                failures += 1

    def _send(self, client: redis.Redis) -> None:
        with self._lock:
            batch, self._waiting = self._waiting, {}
            self._bell.clear()
        try:
            pipeline = client.pipeline(transaction=False)
            for topic, facts in batch.items():
                pipeline.publish(channel(), encode(topic, facts))
            pipeline.execute()
        except Exception:
            self._put_back(batch)
            raise
        with self._lock:
            if not self._waiting:
                self._idle.set()

    def _put_back(self, batch: dict[str, dict[str, Any]]) -> None:
        with self._lock:
            self._waiting = {**batch, **{topic: {**batch.get(topic, {}), **facts} for topic, facts in self._waiting.items()}}
            self._bell.set()


def _client(url: str) -> redis.Redis:
    return redis.Redis.from_url(url, socket_timeout=TIMEOUT, socket_connect_timeout=TIMEOUT, retry=Retry(NoBackoff(), 0))


class Listener:
    """Hears what other processes publish; `ring` is called for topics that somebody here wants.

    `connected` is called after every connection, `away` when there is none.
    """

    def __init__(
        self,
        url: str,
        wanted: Container[str],
        ring: Callable[[str, dict[str, Any]], None],
        connected: Callable[[], None],
        away: Callable[[], None],
    ):
        self.url, self.wanted, self.ring, self.connected, self.away = url, wanted, ring, connected, away
        self._failures = 0

    async def run(self) -> None:
        while True:
            try:
                await self._listen()
            except Exception as error:  # whatever it is: without a listener every page would wait for the guard
                if not self._failures:
                    log.warning("news stay away: the broker does not answer (%s)", error)
                self.away()
            await asyncio.sleep(PAUSES[min(self._failures, len(PAUSES) - 1)])
            self._failures += 1

    async def _listen(self) -> None:
        """Ends only by an error."""
        client = redis.asyncio.Redis.from_url(self.url, socket_timeout=None, socket_connect_timeout=TIMEOUT)
        try:
            pubsub = client.pubsub()
            async with asyncio.timeout(TIMEOUT * 2):
                await pubsub.subscribe(channel())
            while True:
                self._take(await pubsub.get_message(timeout=SILENCE) or await self._ask(pubsub))
                self._failures = 0
        finally:
            await client.aclose()

    async def _ask(self, pubsub: Any) -> dict[str, Any]:
        """After a silence: is the broker there? A cut cable says nothing by itself."""
        await pubsub.ping()
        answer = await pubsub.get_message(timeout=SILENCE)
        if answer is None:
            raise redis.ConnectionError("no answer to a ping")
        return answer

    def _take(self, message: dict[str, Any]) -> None:
        if message["type"] == "subscribe":
            self.connected()
        elif message["type"] == "message":
            origin, topic, facts = decode(message["data"])
            if origin != ORIGIN and topic in self.wanted:
                self.ring(topic, json.loads(facts))


def encode(topic: str, facts: dict[str, Any]) -> str:
    """Origin and topic come first, so that a listener need not parse what nobody wants."""
    return f"{ORIGIN} {topic} {json.dumps(facts, separators=(',', ':'), default=str)}"


def decode(data: bytes) -> tuple[str, str, str]:
    origin, topic, facts = data.decode().split(" ", 2)
    return origin, topic, facts
