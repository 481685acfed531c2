"""Pages and API under an ASGI server: Django's handler, each request in one thread from beginning to end.

One idea: Django's own gives every request a new thread, so a new connection to the database, and goes through its middleware
with a change of thread at each step. Here a request takes one thread of a pool whose threads keep their connections; what it
answers is sent, and streamed, by the event loop as before. What may take its time (long polls, big uploads) gets a thread
of its own and leaves no connection behind, so it holds up nobody.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import django
from asgiref.sync import sync_to_async
from django.conf import settings
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.core.signals import request_started
from django.db import connections
from django.http import HttpResponseBase
from django.urls import set_script_prefix

from jobs import places
from portal import streams
from portal.numbers import whole

log = logging.getLogger(__name__)

THREADS = 24
"""Requests at once, and so connections to the database, of one process."""
PATIENT_THREADS = 256
BIG = 16 << 20
"""Bytes of a body that take their time."""


class Pages(ASGIHandler):
    """Raises what Django's own raises; any ASGI server may call it."""

    def __init__(self) -> None:
        super().__init__()
        self.quick = ThreadPoolExecutor(THREADS, thread_name_prefix="pages")
        self.patient = ThreadPoolExecutor(PATIENT_THREADS, thread_name_prefix="patient")

    def load_middleware(self, is_async: bool = False) -> None:
        """Never as coroutines: a chain of functions changes no thread."""
        super().load_middleware(is_async=False)

    async def handle(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        except OSError as error:
            await _no_room(scope, send, error)
            return
        answering = asyncio.ensure_future(self._answer(scope, body, send))
        leaving = asyncio.ensure_future(receive())
        try:
            await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            leaving.cancel()
            left = not answering.done() and answering.cancel()
        with contextlib.suppress(*([asyncio.CancelledError] if left else [])):
            await answering

    async def read_body(self, receive: Any) -> Any:
        """As Django does, but a big body lies where uploads lie: the system's folder may be memory.

        Raises RequestAborted, or OSError if it can't be kept.
        """
        folder = Path(settings.UPLOADS_DIR)
        folder.mkdir(parents=True, exist_ok=True)
        body = tempfile.SpooledTemporaryFile(max_size=settings.FILE_UPLOAD_MAX_MEMORY_SIZE, mode="w+b", dir=folder)  # noqa: SIM115 (closed with the request)
        trouble: OSError | None = None
        try:
            async for piece in streams.body(receive):  # to its end, whatever happens: who still sends hears no answer
                trouble = trouble or _written(body, piece)
        except streams.Gone as error:
            body.close()
            raise RequestAborted from error
        if trouble:
            body.close()
            raise trouble
        body.seek(0)
        return body

    async def _answer(self, scope: dict[str, Any], body: Any, send: Any) -> None:
        patient = takes_its_time(scope)
        in_thread = sync_to_async(self._in_thread, thread_sensitive=False, executor=self.patient if patient else self.quick)
        response = await in_thread(scope, body, patient)
        try:
            await self.send_response(response, send)
        finally:
            if response.streaming:
                await asyncio.shield(sync_to_async(_close, thread_sensitive=False, executor=self.quick)(response, body))

    def _in_thread(self, scope: dict[str, Any], body: Any, patient: bool) -> HttpResponseBase:
        """The answer; what is not streamed is closed already, which gives old connections back."""
        set_script_prefix(get_script_prefix(scope))
        request_started.send(sender=self.__class__, scope=scope)
        request, error = self.create_request(scope, body)
        response = error if request is None else self.get_response(request)
        response._handler_class = self.__class__
        if not response.streaming:
            _close(response, body)
        if patient:
            connections.close_all()
        return response


def application() -> Pages:
    """For asgi.py, in place of Django's get_asgi_application."""
    django.setup(set_prefix=False)
    return Pages()


def takes_its_time(scope: dict[str, Any]) -> bool:
    """Whether a request may hold its thread for long: it waits for more of a log, or brings a big body."""
    if b"wait=" in scope.get("query_string", b""):
        return True
    size = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
    length = whole(size.decode("latin-1"))
    return length is None or length > BIG


def _written(body: Any, piece: bytes) -> OSError | None:
    try:
        body.write(piece)
    except OSError as error:
        return error
    return None


async def _no_room(scope: dict[str, Any], send: Any, error: OSError) -> None:
    """The body could not be kept while it arrived: 507 for a full disk."""
    full = places.is_full(error)
    log.warning("a request's body could not be kept: %s", error)
    words = "The portal's disk has no room. Nothing was kept of this." if full else "The portal could not keep what was sent. Try again."
    await streams.reply(send, 507 if full else 503, {"detail": [words]} if scope["path"].startswith("/api/") else words)


def _close(response: HttpResponseBase, body: Any) -> None:
    response.close()
    body.close()
