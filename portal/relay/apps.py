"""Programs of a workstation that are web pages themselves (JupyterLab), by a reverse proxy on a host name of their own.

The one idea: their pages are not ours and are trusted with nothing. A person comes with a ticket from the workstation's
page, gets a cookie for this workstation on the applications' host, and each request and socket is let in by that cookie
alone, for as long as the sign-in behind it lasts. Cookies of the portal never reach the program.
"""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import parse_qs

from channels.db import database_sync_to_async
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, get_user_model
from django.http.cookie import parse_cookie
from django.utils.crypto import constant_time_compare
from django.utils.module_loading import import_string

from portal import streams
from portal.consumers.socket import NOT_FOUND, REFUSED

from . import access, hosts, proxied, tickets
from .tickets import Pass

KEPT = 3.0
"""Seconds that a pass which was looked at is trusted."""
TWICE = (
    "This browser is signed in on this host name too, to Headrace or to another program, and applications are kept apart from"
    " that. Sign out here, or delete this host's cookies; then open the application again from the workstation's page."
)
_ways: dict[Pass, tuple[float, access.Way | None]] = {}


def address(request: Any, name: str) -> str:
    """Where to open the application of a workstation, good for a minute; empty if this portal has no host for it."""
    origin = hosts.origin_beside(request.scheme, request.get_host())
    session = request.session.session_key
    if not origin or not session:
        return ""
    return f"{origin}/relay/{name}/enter?ticket={tickets.seal(Pass(session, name), 'ticket')}"


async def enter(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """A ticket for a cookie, then on to the application."""
    name, headers = scope["name"], streams.headers_of(scope)
    ticket = parse_qs(scope["query_string"].decode("latin1")).get("ticket", [""])[0]
    given = tickets.unseal(ticket, "ticket", tickets.TICKET)
    if given is None or given.name != name or not _apart(headers) or not await _lets_in(given):
        text = "This link is over, or not for this host. Open the application again from the workstation's page."
        await streams.reply(send, 403, TWICE if _signed_in(headers) else text)
        return
    secure = "; Secure" if settings.HTTPS else ""
    rules = f"Path=/relay/{name}/; Max-Age={tickets.COOKIE}; HttpOnly; SameSite=Lax{secure}"
    cookie = f"{_cookie(name)}={tickets.seal(given, 'cookie')}; {rules}"
    more = [("Set-Cookie", cookie), ("Location", f"/relay/{name}/app/"), ("Referrer-Policy", "no-referrer"), ("Cache-Control", "no-store")]
    await streams.reply(send, 303, "", more)


async def page(scope: dict[str, Any], receive: Any, send: Any) -> None:
    way = await _way(scope)
    if way is None:
        twice = _signed_in(streams.headers_of(scope))
        await streams.reply(send, 403, TWICE if twice else "Open the application from the workstation's page in Headrace.")
        return
    await proxied.page(scope, receive, send, way)


async def socket(scope: dict[str, Any], receive: Any, send: Any) -> None:
    headers = streams.headers_of(scope)
    way = await _way(scope)
    if way is None or not _from_its_own_pages(headers):
        await receive()
        await send({"type": "websocket.close", "code": REFUSED if way else NOT_FOUND})
        return
    await proxied.socket(scope, receive, send, way, lambda: _way(scope))


async def _way(scope: dict[str, Any]) -> access.Way | None:
    """The way of this request's cookie, on the right host; only those that may act: an application can't be merely looked at."""
    headers = streams.headers_of(scope)
    sealed = parse_cookie(headers.get("cookie", "")).get(_cookie(scope["name"]), "")
    given = tickets.unseal(sealed, "cookie", tickets.COOKIE)
    if given is None or given.name != scope["name"] or not _apart(headers):
        return None
    return await _lets_in(given)


def _from_its_own_pages(headers: dict[str, str]) -> bool:
    """Of no other host, nor of a page without any ("null": a sandbox or a file). Who sends no origin is no browser."""
    came = headers.get("origin")
    return came is None or came.partition("://")[2] == headers.get("host")


def _apart(headers: dict[str, str]) -> bool:
    """Whether this is the applications' host, and nobody has signed in to the portal on it."""
    return hosts.is_for_apps(headers.get("host", "")) and not _signed_in(headers)


def _signed_in(headers: dict[str, str]) -> bool:
    return settings.SESSION_COOKIE_NAME in parse_cookie(headers.get("cookie", ""))


async def _lets_in(given: Pass) -> access.Way | None:
    known = _ways.get(given)
    if known is None or time.monotonic() - known[0] > KEPT:
        if len(_ways) > 1000:
            _ways.clear()
        known = _ways[given] = time.monotonic(), await _asked(given)
    return known[1]


@database_sync_to_async
def _asked(given: Pass) -> access.Way | None:
    user = _user_of(given.session)
    way = access.of_user(given.name, user) if user else None
    return way if way and way.acts else None


def _user_of(key: str) -> Any:
    """Who is signed in by this session, as a page would find it; None if nobody is."""
    session = import_string(f"{settings.SESSION_ENGINE}.SessionStore")(key)
    if session.get(BACKEND_SESSION_KEY) not in settings.AUTHENTICATION_BACKENDS:
        return None
    user = get_user_model().objects.filter(pk=session.get(SESSION_KEY), is_active=True).first()
    proof = session.get(HASH_SESSION_KEY)
    return user if user and proof and constant_time_compare(proof, user.get_session_auth_hash()) else None


def _cookie(name: str) -> str:
    return f"headrace-app-{name.rpartition('-')[2]}"
