"""Agents' reports: plain ASGI beside Django, so that bytes stream and nothing waits for a request cycle.

One function a report: it reads what it needs, calls the gateway (facts), the logs or the outputs (bytes), and answers with
the orders. Who may speak is checked against the hash of the cluster's secret; the answer is kept for a moment, and dropped
as soon as the cluster is released. After release every report gets 410, on which an agent ends everything.
"""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl

from django.utils import timezone

from jobs import gateway, logs, places
from jobs.gateway import Caller, Gone, Unknown
from portal import streams
from portal.live import hub

from . import homes
from .node_bytes import BYTES, send_input
from .orders import directory_of, orders_of, with_orders
from .threads import Refuse, in_database, in_files

log = logging.getLogger(__name__)

PATH = re.compile(r"^/nodes/([A-Za-z0-9-]{1,80})/(\d{1,6})/([a-z]+(?:/[A-Za-z0-9-]+)?)$")
JSON_LIMIT = 4 << 20
HOLD = 20.0
"""Seconds that a long poll is held open."""
KEPT = 3.0
"""Seconds that a proved secret is trusted without another look at the database."""

_callers: dict[tuple[str, int, str], tuple[float, Caller]] = {}


async def application(scope: streams.Scope, receive: streams.Receive, send: streams.Send) -> None:
    try:
        body = await _answer(scope, receive, send)
        if body is not None:
            await streams.reply(send, 200, body)
    except Refuse as refusal:
        await streams.reply(send, refusal.status, refusal.body)
    except Unknown:
        await streams.reply(send, 401, {"message": "unknown cluster or wrong secret"})
    except Gone:
        await streams.reply(send, 410, {"message": "released"})
    except streams.Gone:
        return
    except streams.TooBig:
        await streams.reply(send, 413, {"message": "too big"})
    except (KeyError, ValueError, TypeError) as error:
        await streams.reply(send, 400, {"message": f"{type(error).__name__}: {error}"[:300]})
    except OSError as error:
        full = places.is_full(error)
        log.warning("a report could not be kept: %s", error)
        await streams.reply(send, 507 if full else 503, {"message": "the portal's disk is full" if full else "try later"})
    except Exception:
        log.exception("a report failed")
        await streams.reply(send, 503, {"message": "try later"})


async def _answer(scope: streams.Scope, receive: streams.Receive, send: streams.Send) -> dict[str, Any] | None:
    found = PATH.match(scope["path"])
    if not found:
        raise Refuse(404, {"message": "no such report"})
    headers = streams.headers_of(scope)
    if headers.get("headrace-protocol") not in {str(number) for number in gateway.PROTOCOLS}:
        raise Refuse(426, {"message": f"protocols {gateway.PROTOCOLS} are spoken here"})
    caller = await _identify(found[1], int(found[2]), headers.get("authorization", ""))
    query = dict(parse_qsl(scope["query_string"].decode("ascii"), errors="surrogateescape", keep_blank_values=True))
    report, _, rest = found[3].partition("/")
    if report == "input" and scope["method"] == "GET":
        if rest.startswith("home-"):
            return await homes.send(caller, rest.removeprefix("home-"), scope, receive, send)
        if rest.startswith("sent-"):
            return await homes.send_file(caller, rest.removeprefix("sent-"), scope, receive, send)
        return await send_input(caller, int(rest), scope, receive, send)
    if report == "orders" and scope["method"] == "GET":
        return await _wait_for_orders(caller, int(query.get("have") or 0))
    if scope["method"] not in {"POST", "PUT"}:
        raise Refuse(405, {"message": "POST it"})
    handler = BYTES.get(found[3])
    if handler:
        return await handler(caller, query, receive)
    if report not in FACTS or rest:
        raise Refuse(404, {"message": "no such report"})
    text = await streams.whole_body(receive, JSON_LIMIT)
    return await FACTS[report](caller, json.loads(text or b"{}"))


async def _identify(token: str, node: int, authorization: str) -> Caller:
    secret = authorization.removeprefix("Bearer ").strip()
    key = (token, node, secret)
    kept = _callers.get(key)
    if kept and time.monotonic() - kept[0] < KEPT:
        return kept[1]
    _callers.pop(key, None)
    caller = await in_database(gateway.identify, token, node, secret)
    if len(_callers) > 10_000:
        _callers.clear()
    _callers[key] = (time.monotonic(), caller)
    return caller


# --- orders -----------------------------------------------------------------------------------------------------------
async def _wait_for_orders(caller: Caller, have: int) -> dict[str, Any]:
    """Hold the request until there is something new, at most HOLD seconds."""
    until = time.monotonic() + HOLD
    async with hub.subscribe(f"orders:{caller.public_id}") as news:
        while True:
            answer = await with_orders(caller)
            rest = until - time.monotonic()
            if answer["orders"]["version"] > have or answer["orders"]["release"] or rest <= 0:
                break
            if await news.next(min(rest, 5.0)) is None:
                break
    if answer["orders"]["release"]:
        _forget(caller)
        raise Gone
    return answer


def _forget(caller: Caller) -> None:
    for key in [key for key in _callers if key[0] == caller.token]:
        _callers.pop(key, None)


# --- facts ------------------------------------------------------------------------------------------------------------
def _fact(write: Callable[..., Any]) -> Callable[[Caller, Any], Awaitable[dict[str, Any]]]:
    async def handle(caller: Caller, report: Any) -> dict[str, Any]:
        await in_files(logs.heard, directory_of(caller), caller.node)
        await in_database(lambda: write(caller, report, timezone.now()))
        return await with_orders(caller)

    return handle


async def _hello(caller: Caller, report: Any) -> dict[str, Any]:
    if report.get("protocol") not in gateway.PROTOCOLS:
        raise Refuse(426, {"message": f"protocols {gateway.PROTOCOLS} are spoken here"})
    await in_files(logs.heard, directory_of(caller), caller.node)
    answer = await in_database(lambda: gateway.hello(caller, report, timezone.now()))
    answer["orders"] = await in_database(orders_of, caller)
    return answer


async def _go(caller: Caller, report: Any) -> dict[str, Any]:
    """Held until the command is handed out, so that the last node that comes up starts it at once."""
    until = time.monotonic() + HOLD
    async with hub.subscribe(f"{caller.kind}:{caller.public_id}", f"orders:{caller.public_id}") as news:
        while True:
            answer = await in_database(lambda: gateway.go(caller, str(report["nonce"]), timezone.now()))
            rest = until - time.monotonic()
            orders = await in_database(orders_of, caller)
            if answer["go"] or rest <= 0 or orders["wish"] != "run":
                return {**answer, "orders": orders}
            if await news.next(min(rest, 2.0)) is None:
                return {**answer, "orders": orders}


async def _beat(caller: Caller, report: Any) -> dict[str, Any]:
    await in_files(logs.append_beat, directory_of(caller), caller.node, dict(report))
    await in_files(homes.note_beat, caller, report, time.time())
    hub.publish(f"health:{caller.public_id}", {"node": caller.node})
    return await with_orders(caller)


async def _gap(caller: Caller, report: Any) -> dict[str, Any]:
    size = await in_files(
        logs.gap,
        directory_of(caller),
        str(report["stream"]),
        int(report["generation"]),
        int(report["from"]),
        int(report["to"]),
        str(report.get("reason", "")),
    )
    hub.publish(f"log:{caller.public_id}", {"stream": report["stream"], "size": size})
    return await with_orders(caller)


async def _done(caller: Caller, report: Any) -> dict[str, Any]:
    """The head's last word: every stream is compared with the agent's count and hash before the cluster may go."""
    for stream in report.get("streams") or []:
        await in_files(
            logs.seal,
            directory_of(caller),
            str(stream["name"]),
            int(stream["generation"]),
            int(stream["size"]),
            str(stream["sha256"] or ""),
        )
    hub.publish(f"log:{caller.public_id}", {"done": True})
    return await _fact(gateway.done)(caller, report)


FACTS: Mapping[str, Callable[[Caller, Any], Awaitable[dict[str, Any]]]] = {
    "hello": _hello,
    "staging": _fact(gateway.staging),
    "staged": _fact(gateway.staged),
    "go": _go,
    "started": _fact(gateway.started),
    "ready": _fact(gateway.ready),
    "unsaved": _fact(gateway.unsaved),
    "brought": _fact(gateway.brought),
    "beat": _beat,
    "gap": _gap,
    "exit": _fact(gateway.exited),
    "done": _done,
    "failed": _fact(gateway.failed),
}
