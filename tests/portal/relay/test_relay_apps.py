"""Web programs of a workstation through the proxy: apart from the portal, let in by a ticket, and unchanged otherwise."""

import asyncio
import json
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import factories
import pytest
import uvicorn
from asgiref.sync import sync_to_async
from channels.testing import HttpCommunicator, WebsocketCommunicator
from django.contrib.sessions.models import Session
from django.test import Client, RequestFactory
from django.utils import timezone

from jobs import tokens
from jobs.models import Cluster
from portal import relay
from portal.relay import apps, proxied, tickets
from portal.relay.tickets import Pass
from tests.portal.relay.node import connected

pytestmark = pytest.mark.django_db(transaction=True)
APPS = b"localhost:8000"
PORTAL = b"127.0.0.1:8000"


async def program(scope, receive, send):
    """What a notebook server does: tells what it was asked, takes bodies, sets cookies, echoes sockets."""
    if scope["type"] == "websocket":
        await _echo(scope, receive, send)
        return
    if scope["type"] != "http":
        return
    size = 0
    while True:
        message = await receive()
        size += len(message.get("body", b""))
        if not message.get("more_body"):
            break
    told = {"method": scope["method"], "path": scope["raw_path"].decode(), "query": scope["query_string"].decode(), "size": size}
    told["headers"] = {name.decode(): value.decode() for name, value in scope["headers"]}
    body = b"x" * 3_000_000 if scope["path"].endswith("/big") else json.dumps(told).encode()
    cookie = [(b"set-cookie", b"_xsrf=1; Path=/; Domain=localhost"), (b"service-worker-allowed", b"/"), (b"content-type", b"text/html")]
    await send({"type": "http.response.start", "status": 201, "headers": cookie})
    await send({"type": "http.response.body", "body": body})


async def _echo(scope, receive, send):
    await receive()
    if scope["path"].endswith("/no"):
        await send({"type": "websocket.close", "code": 4000})
        return
    await send({"type": "websocket.accept", "subprotocol": (scope["subprotocols"] or [None])[0]})
    while (message := await receive())["type"] == "websocket.receive":
        if message.get("text") == "bye":
            await send({"type": "websocket.close", "code": 4001})
            return
        await send({"type": "websocket.send", "text": message.get("text"), "bytes": message.get("bytes")})


@pytest.fixture
def desk(owner, settings, tmp_path):
    settings.LOGS_DIR = tmp_path / "logs"
    settings.APPS_URL = ""
    apps._ways.clear()
    return factories.workstation(owner, session="jupyter", status="active")


@pytest.fixture
def token(desk):
    work = desk.workload
    token = tokens.token_of(work)
    facts = {"backend": "fake", "nodes_wanted": 1, "cores": 1, "price": 1, "asked": timezone.now()}
    Cluster.objects.create(workload=work, attempt=1, token=token, secret_hash=tokens.hash_of("secret"), coretype=work.coretype, **facts)
    return token


@pytest.fixture
def name(token):
    return relay.name_of(token)


@pytest.fixture
def session(owner):
    client = Client()
    client.force_login(owner)
    return client.session.session_key


@pytest.fixture
def node(name, token, tmp_path):
    """A connected agent in front of the program on a unix socket."""
    path = str(tmp_path / "app.sock")

    @asynccontextmanager
    async def started():
        server = uvicorn.Server(uvicorn.Config(program, uds=path, log_level="warning", lifespan="off"))
        serving = asyncio.ensure_future(server.serve())
        while not server.started:
            await asyncio.sleep(0.01)
        async with connected(name, token, "secret", {"app": bridge(path)}) as agent:
            yield agent
        server.should_exit = True
        await serving

    return started


def bridge(path):
    async def app(pipe):
        reader, writer = await asyncio.open_unix_connection(path)

        async def down():
            while data := await reader.read(1 << 16):
                await pipe.write(data)
            await pipe.close()

        falling = asyncio.ensure_future(down())
        try:
            while data := await pipe.read():
                writer.write(data)
                await writer.drain()
        finally:
            writer.close()
            falling.cancel()

    return app


async def asked(path, host=APPS, cookie="", method="GET", body=b"", more=()):
    from portal.asgi import application

    headers = [(b"host", host), *more] + ([(b"cookie", cookie.encode())] if cookie else [])
    if body:
        headers.append((b"content-length", str(len(body)).encode()))
    address, _, query = path.partition("?")
    asking = HttpCommunicator(application, method, address, body=body, headers=headers)
    asking.scope["query_string"] = query.encode()
    answer = await asking.get_response(timeout=20)
    answer["named"] = {key.decode().lower(): value.decode() for key, value in answer["headers"]}
    return answer


async def entered(name, session):
    """The cookie that a ticket is exchanged for."""
    answer = await asked(f"/relay/{name}/enter?ticket={tickets.seal(Pass(session, name), 'ticket')}")
    assert answer["status"] == 303
    assert answer["named"]["location"] == f"/relay/{name}/app/"
    return answer["named"]["set-cookie"].partition(";")[0]


async def test_a_request_reaches_the_program_and_its_answer_the_browser(node, name, session):
    async with node():
        cookie = await entered(name, session)
        more = [(b"connection", b"keep-alive, x-hop"), (b"x-hop", b"1"), (b"x-kept", b"2")]
        answer = await asked(f"/relay/{name}/app/lab/tree%20?a=1&b=%2F", cookie=f"{cookie}; _xsrf=7", more=more)
    told = json.loads(answer["body"])
    assert answer["status"] == 201
    assert (told["path"], told["query"]) == (f"/relay/{name}/app/lab/tree%20", "a=1&b=%2F")
    assert told["headers"]["x-kept"] == "2"
    assert told["headers"]["host"] == "localhost:8000"
    assert "x-hop" not in told["headers"]
    assert told["headers"]["cookie"] == "_xsrf=7"


async def test_its_cookies_are_held_to_its_own_paths(node, name, session):
    async with node():
        answer = await asked(f"/relay/{name}/app/", cookie=await entered(name, session))
    assert answer["named"]["set-cookie"] == f"_xsrf=1; Path=/relay/{name}/app/"
    assert "service-worker-allowed" not in answer["named"]
    assert answer["named"]["content-security-policy"] == "frame-ancestors 'self'"


async def test_bodies_go_both_ways(node, name, session):
    async with node():
        cookie = await entered(name, session)
        up = await asked(f"/relay/{name}/app/api", cookie=cookie, method="PUT", body=b"y" * 2_000_000)
        assert json.loads(up["body"])["size"] == 2_000_000
        down = await asked(f"/relay/{name}/app/big", cookie=cookie)
        assert len(down["body"]) == 3_000_000


async def test_nobody_comes_in_without_a_pass(node, name, session, stranger):
    async with node():
        cookie = await entered(name, session)
        forged = tickets.seal(Pass(session, "hr0-workstation-other"), "cookie")
        for wrong in "", f"headrace-app-{name[-6:]}={forged}", f"sessionid={session}", f"{cookie}; sessionid={session}":
            assert (await asked(f"/relay/{name}/app/", cookie=wrong))["status"] == 403, wrong
        assert (await asked(f"/relay/{name}/app/", host=b"portal.example.org", cookie=cookie))["status"] == 403
        for ticket in "", "nonsense", tickets.seal(Pass(session, name), "cookie"), tickets.seal(Pass("unknown", name), "ticket"):
            assert (await asked(f"/relay/{name}/enter?ticket={ticket}"))["status"] == 403
        other = Client()
        await sync_to_async(other.force_login)(stranger)
        key = await sync_to_async(lambda: other.session.session_key)()
        assert (await asked(f"/relay/{name}/enter?ticket={tickets.seal(Pass(key, name), 'ticket')}"))["status"] == 403


async def test_who_may_only_look_gets_no_application(node, name, admin):
    client = Client()
    await sync_to_async(client.force_login)(admin)
    key = await sync_to_async(lambda: client.session.session_key)()
    async with node():
        assert (await asked(f"/relay/{name}/enter?ticket={tickets.seal(Pass(key, name), 'ticket')}"))["status"] == 403


async def test_signing_out_of_the_portal_ends_the_application(node, name, session, monkeypatch):
    monkeypatch.setattr(apps, "KEPT", 0.0)
    async with node():
        cookie = await entered(name, session)
        assert (await asked(f"/relay/{name}/app/", cookie=cookie))["status"] == 201
        await sync_to_async(Session.objects.filter(session_key=session).delete)()
        assert (await asked(f"/relay/{name}/app/", cookie=cookie))["status"] == 403


async def test_a_host_of_its_own_serves_no_page_of_the_portal(node, name, session, settings):
    settings.APPS_URL = "http://apps.example.org"
    async with node():
        assert (await asked("/signin/", host=b"apps.example.org"))["status"] == 404
        answer = await asked(f"/relay/{name}/enter?ticket={tickets.seal(Pass(session, name), 'ticket')}", host=b"apps.example.org")
        assert answer["status"] == 303


def test_the_page_knows_where_the_application_is(name, session, settings, desk):
    request = RequestFactory().get("/", headers={"host": "127.0.0.1:8000"})
    request.session = type("Kept", (), {"session_key": session})()
    found = urlsplit(apps.address(request, name))
    assert (found.netloc, found.path) == ("localhost:8000", f"/relay/{name}/enter")
    request = RequestFactory().get("/", headers={"host": "portal.example.org"})
    request.session = type("Kept", (), {"session_key": session})()
    assert apps.address(request, name) == ""


async def test_who_is_signed_in_on_both_host_names_is_told_so(name, session):
    """Opening it again, which is what helps otherwise, would never help."""
    ticket = f"/relay/{name}/enter?ticket={tickets.seal(Pass(session, name), 'ticket')}"
    cookie = await entered(name, session)
    for path in (ticket, f"/relay/{name}/app/"):
        answer = await asked(path, cookie=f"{cookie}; sessionid=other")
        assert (answer["status"], b"signed in on this host name too" in answer["body"]) == (403, True)


async def test_without_the_program_the_page_says_so(name, token, session):
    cookie = await entered(name, session)
    assert (await asked(f"/relay/{name}/app/", cookie=cookie))["status"] == 502
    async with connected(name, token, "secret", {}):
        assert (await asked(f"/relay/{name}/app/", cookie=cookie))["status"] == 502


class Browser(WebsocketCommunicator):
    def __init__(self, path, cookie, subprotocols=None, origin=b"http://" + APPS):
        from portal.asgi import application

        super().__init__(
            application, path, headers=[(b"host", APPS), (b"origin", origin), (b"cookie", cookie.encode())], subprotocols=subprotocols
        )


async def test_websockets_are_carried_both_ways(node, name, session):
    async with node():
        browser = Browser(f"/relay/{name}/app/kernel", await entered(name, session), ["v1.kernel", "other"])
        assert await browser.connect(timeout=10) == (True, "v1.kernel")
        await browser.send_to(text_data="häl")
        assert await browser.receive_from(timeout=10) == "häl"
        data = bytes(range(256)) * 2000
        await browser.send_to(bytes_data=data)
        assert await browser.receive_from(timeout=10) == data
        await browser.send_to(text_data="bye")
        assert await browser.receive_output(10) == {"type": "websocket.close", "code": 4001}


async def test_websockets_are_refused_as_pages_are(node, name, session):
    async with node():
        cookie = await entered(name, session)
        assert not (await Browser(f"/relay/{name}/app/no", cookie).connect(timeout=10))[0]
        assert not (await Browser(f"/relay/{name}/app/kernel", "").connect(timeout=10))[0]
        for foreign in (b"http://" + PORTAL, b"http://" + APPS + b".evil.example", b"null", b""):
            assert not (await Browser(f"/relay/{name}/app/kernel", cookie, origin=foreign).connect(timeout=10))[0]


async def test_signing_out_ends_websockets_too(node, name, session, monkeypatch):
    monkeypatch.setattr(apps, "KEPT", 0.0)
    monkeypatch.setattr(proxied, "CHECK", 0.05)
    async with node():
        browser = Browser(f"/relay/{name}/app/kernel", await entered(name, session))
        assert (await browser.connect(timeout=10))[0]
        await sync_to_async(Session.objects.filter(session_key=session).delete)()
        assert (await browser.receive_output(10))["code"] == 4403
