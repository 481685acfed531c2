"""What all our websockets share: who may come in, who must leave, and how long a silence lasts.

The one idea: a socket is one coroutine that shows and one that hears; whichever ends first ends both.
Nobody is accepted before the database has said that they may look, and they are asked for again while
they stay, so a sign-out or a lost membership closes what is open. Plain ASGI: the stock consumer pays a
thread hop for every message.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from typing import Any, TypeVar
from urllib.parse import parse_qs

from channels.auth import get_user
from channels.db import database_sync_to_async
from django.conf import settings
from django.utils.module_loading import import_string

from jobs.models import Workload

HEARTBEAT = 20.0  # seconds after which a silent socket says something, so that proxies keep it
CHECK = 60.0  # seconds between two looks at whether its user is still signed in and may still look
REFUSED, NOT_FOUND = 4403, 4404  # the client need not come again
AGAIN = 4503  # it should

Result = TypeVar("Result")
Send = Callable[[dict[str, Any]], Awaitable[None]]

_threads = ThreadPoolExecutor(4, thread_name_prefix="live")
_files = ThreadPoolExecutor(4, thread_name_prefix="live-files")


def in_thread(call: Callable[..., Result]) -> Callable[..., Awaitable[Result]]:
    """A function that uses the database, to be awaited; runs in the sockets' own few threads."""
    return database_sync_to_async(call, thread_sensitive=False, executor=_threads)


def off_loop(call: Callable[..., Result]) -> Callable[..., Awaitable[Result]]:
    """The same for functions that use files only, at a third of the cost."""

    @wraps(call)
    async def run(*given: Any) -> Result:
        return await asyncio.get_running_loop().run_in_executor(_files, call, *given)

    return run


class Left(Exception):
    """The client has closed, or must be closed with this code."""

    def __init__(self, code: int | None = None):
        super().__init__(code)
        self.code = code


class Socket:
    """One websocket. Subclasses say who may enter, what they show, and what they do with what they hear."""

    def __init__(self, scope: dict[str, Any], receive: Callable[[], Awaitable[dict[str, Any]]], send: Send):
        self.scope, self.receive, self._send = scope, receive, send
        self.user = scope["user"]
        self.query = {key: values[-1] for key, values in parse_qs(scope["query_string"].decode("latin1")).items()}

    @classmethod
    def as_asgi(cls) -> Callable[..., Awaitable[None]]:
        async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
            await cls(scope, receive, send).run()

        return application

    async def enter(self) -> None:
        """Raises Left(code) for whoever may not look."""
        raise NotImplementedError

    async def show(self) -> None:
        """Sends until there is nothing more to send, or for ever."""
        raise NotImplementedError

    async def may_stay(self) -> bool:
        """Asked now and then: whether this user may still look at what the socket shows."""
        return True

    async def heard(self, message: dict[str, Any]) -> None:
        """Takes a JSON object of the client; what it does not know it ignores."""

    async def run(self) -> None:
        await self.receive()  # websocket.connect
        try:
            await self.enter()
        except Left as left:
            await self._send({"type": "websocket.close", "code": left.code})
            return
        await self._send({"type": "websocket.accept"})
        await self._stay()

    async def send_text(self, text: str) -> None:
        await self._send({"type": "websocket.send", "text": text})

    async def send_json(self, content: dict[str, Any]) -> None:
        await self.send_text(json.dumps(content, separators=(",", ":")))

    async def send_bytes(self, data: bytes) -> None:
        await self._send({"type": "websocket.send", "bytes": data})

    async def _stay(self) -> None:
        tasks = [asyncio.ensure_future(part()) for part in (self._hear, self.show, self._watch_user)]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        await self._end(done)

    async def _end(self, done: set[asyncio.Task[None]]) -> None:
        for task in done:
            error = task.exception()
            if isinstance(error, Left) and error.code is None:
                return  # the client has gone
            if isinstance(error, Left):
                await self._send({"type": "websocket.close", "code": error.code})
                return
            if error is not None:
                raise error
        await self._send({"type": "websocket.close", "code": 1000})

    async def _hear(self) -> None:
        while True:
            message = await self.receive()
            if message["type"] == "websocket.disconnect":
                raise Left
            content = _parsed(message.get("text"))
            if content is not None:
                await self.heard(content)

    async def _watch_user(self) -> None:
        while True:
            await asyncio.sleep(CHECK)
            if not await still_signed_in(self.scope):
                raise Left(REFUSED)
            if not await self.may_stay():
                raise Left(NOT_FOUND)


async def still_signed_in(scope: dict[str, Any]) -> bool:
    """Whether the session that a socket came with still belongs to the same active user."""
    session = scope.get("session")
    if session is None:  # signed in some other way, which decides for itself
        return True
    store = import_string(f"{settings.SESSION_ENGINE}.SessionStore")(session.session_key)
    user = await get_user({"session": store})
    return user.is_authenticated and user.pk == scope["user"].pk


@in_thread
def visible_workload(public_id: str, user: Any) -> Workload | None:
    """The workload, if this user may see it."""
    return Workload.objects.visible_to(user).filter(public_id=public_id).first()


async def entered_workload(public_id: str, user: Any) -> Workload:
    """The same, or the door."""
    work = await visible_workload(public_id, user)
    if work is None:
        raise Left(NOT_FOUND)
    return work


def _parsed(text: str | None) -> dict[str, Any] | None:
    try:
        content = json.loads(text or "")
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None
