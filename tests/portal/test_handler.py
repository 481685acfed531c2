"""Requests in threads of a pool: one thread a request, kept and used again; what takes its time holds up nobody."""

from __future__ import annotations

import asyncio
import sys
import threading

import httpx
import pytest
from django.core.signals import request_finished
from django.http import HttpResponse, JsonResponse, StreamingHttpResponse
from django.urls import path

from portal import handler
from tests.portal.live_client import until

HELD, LEFT = threading.Event(), []


def where(request):
    return JsonResponse({"thread": threading.current_thread().name, "ident": threading.get_ident(), "size": len(request.body), "path": request.path})


async def as_coroutine(request):
    await asyncio.sleep(0)
    return HttpResponse("async")


def streamed(request):
    async def pieces():
        try:
            for number in range(int(request.GET["count"])):
                yield b"%d," % number
                await asyncio.sleep(0)
        finally:
            LEFT.append(threading.current_thread().name)

    return StreamingHttpResponse(pieces())


def held(request):
    HELD.wait(60)
    return HttpResponse("waited")


def broken(request):
    raise RuntimeError("a bug")


urlpatterns = [path("where/", where), path("async/", as_coroutine), path("streamed/", streamed), path("held/", held), path("broken/", broken)]


class Marked:
    """A middleware that says in which thread it ran."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        answer = self.get_response(request)
        answer["X-Thread"] = threading.current_thread().name
        return answer


@pytest.fixture
def app(settings, monkeypatch):
    monkeypatch.setitem(sys.modules, "handled_urls", sys.modules[__name__])
    settings.ROOT_URLCONF, settings.DEBUG = "handled_urls", False
    settings.MIDDLEWARE = ["handled_urls.Marked", "django.middleware.common.CommonMiddleware"]
    HELD.clear()
    LEFT.clear()
    made = handler.Pages()
    yield made
    HELD.set()
    made.quick.shutdown()
    made.patient.shutdown()


@pytest.fixture
async def client(app):
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app, raise_app_exceptions=False), base_url="http://testserver") as made:
        yield made


@pytest.fixture
def finished():
    seen = []

    def note(sender, **kwargs):
        seen.append(threading.current_thread().name)

    request_finished.connect(note)
    yield seen
    request_finished.disconnect(note)


async def test_one_thread_from_the_middleware_to_the_view_and_used_again(client):
    answers = [await client.get("/where/") for _ in range(20)]
    assert all(answer.headers["X-Thread"] == answer.json()["thread"] for answer in answers)
    assert all(answer.json()["thread"].startswith("pages_") for answer in answers)
    assert len({answer.json()["ident"] for answer in answers}) < 5, "a pool, not a thread a request"


async def test_views_that_are_coroutines_and_streams_work(client, finished):
    assert (await client.get("/async/")).text == "async"
    answer = await client.get("/streamed/?count=1000")
    assert answer.text.startswith("0,1,2,")
    assert answer.text.endswith("999,")
    assert LEFT == ["MainThread"]
    await until(lambda: len(finished) == 2)  # a stream is closed after its last byte


async def test_what_breaks_is_a_500_and_the_thread_lives(client, finished):
    assert (await client.get("/broken/")).status_code == 500
    assert (await client.get("/nothing/")).status_code == 404
    assert (await client.get("/where/")).status_code == 200
    assert len(finished) == 3


async def test_the_body_arrives(client):
    assert (await client.post("/where/", content=b"x" * 100_000)).json()["size"] == 100_000


async def test_what_waits_for_long_holds_up_nobody(client):
    waiting = [asyncio.ensure_future(client.get("/held/?wait=20")) for _ in range(2 * handler.THREADS)]
    answer = await asyncio.wait_for(client.get("/where/"), 30)
    assert answer.json()["thread"].startswith("pages")
    HELD.set()
    found = await asyncio.gather(*waiting)
    assert {one.text for one in found} == {"waited"}
    assert all(one.headers["X-Thread"].startswith("patient") for one in found)


@pytest.mark.parametrize(
    ("query", "headers", "patient"),
    [(b"", [], False), (b"offset=1&wait=25", [], True), (b"", [(b"content-length", b"100")], False), (b"", [(b"content-length", b"%d" % (handler.BIG + 1))], True),
     (b"", [(b"content-length", b"many")], True)],
)  # fmt: skip
def test_what_takes_its_time(query, headers, patient):
    assert handler.takes_its_time({"query_string": query, "headers": headers}) is patient


async def test_a_reader_that_leaves_ends_its_stream(app, finished):
    sent, gone = [], asyncio.Event()
    messages = [{"type": "http.request", "body": b""}]

    async def receive():
        if messages:
            return messages.pop()
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)
        if len(sent) == 10:
            gone.set()

    scope = {"type": "http", "method": "GET", "path": "/streamed/", "query_string": b"count=1000000000", "headers": [(b"host", b"testserver")], "root_path": ""}
    await asyncio.wait_for(app(scope, receive, send), 60)
    assert LEFT == ["MainThread"]
    assert len(sent) < 10_000
    assert len(finished) == 1


async def test_a_client_that_leaves_before_its_body_is_there(app, finished):
    async def receive():
        return {"type": "http.disconnect"}

    async def send(message):
        raise AssertionError("nobody is there")

    scope = {"type": "http", "method": "POST", "path": "/where/", "query_string": b"", "headers": [], "root_path": ""}
    await asyncio.wait_for(app(scope, receive, send), 60)
    assert finished == []
