"""Agents' reports that carry bytes: logs, outputs and their manifest, and inputs on their way to a node."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from django.core.files.storage import default_storage
from django.utils import timezone

from jobs import gateway, logs, outputs, places
from jobs.gateway import Caller
from jobs.models import JobInput
from portal import streams
from portal.live import hub

from . import homes
from .orders import directory_of, with_orders
from .threads import Refuse, in_database, in_files

JSON_LIMIT = 4 << 20
LOG_LIMIT = 1 << 20
CHUNK_LIMIT = (8 << 20) + (1 << 20)


async def _log(caller: Caller, query: Mapping[str, str], receive: streams.Receive) -> dict[str, Any]:
    data = await streams.whole_body(receive, LOG_LIMIT)
    stream = query["stream"]
    try:
        size = await in_files(logs.write, directory_of(caller), stream, int(query.get("generation") or 0), int(query["offset"]), data)
    except logs.PastEnd as error:
        raise Refuse(409, {"size": error.size}) from error
    hub.publish(f"log:{caller.public_id}", {"stream": stream, "size": size})
    return {"size": size}


async def _output_batch(caller: Caller, query: Mapping[str, str], receive: streams.Receive) -> dict[str, Any]:
    body = await streams.whole_body(receive, CHUNK_LIMIT)
    length = int.from_bytes(body[:4], "big")
    files = json.loads(body[4 : 4 + length])
    stored, failed = await in_files(outputs.store_batch, caller.public_id, caller.attempt, files, memoryview(body)[4 + length :])
    await _tell_saving(caller, stored, sum(int(entry["size"]) for entry in files))
    return {"stored": stored, "failed": failed}


async def _output_file(caller: Caller, query: Mapping[str, str], receive: streams.Receive) -> dict[str, Any]:
    data = await streams.whole_body(receive, CHUNK_LIMIT)
    path, offset, size, digest = query["path"], int(query["offset"]), int(query["size"]), query.get("sha256")
    try:
        have = await in_files(outputs.store_chunk, caller.public_id, caller.attempt, path, offset, size, data, digest)
    except outputs.PastEnd as error:
        raise Refuse(409, {"size": error.size}) from error
    except outputs.Damaged as error:
        raise Refuse(409, {"size": 0}) from error
    await _tell_saving(caller, 1 if digest else 0, len(data))
    return {"size": have}


async def _manifest(caller: Caller, query: Mapping[str, str], receive: streams.Receive) -> dict[str, Any]:
    lines = await streams.whole_body(receive, JSON_LIMIT)
    await in_files(outputs.write_manifest, caller.public_id, caller.attempt, int(query["part"]), query.get("last") == "1", lines)
    return await with_orders(caller)


BYTES: Mapping[str, Callable[[Caller, Mapping[str, str], streams.Receive], Awaitable[dict[str, Any]]]] = {
    "log": _log,
    "outputs/batch": _output_batch,
    "outputs/file": _output_file,
    "outputs/manifest": _manifest,
    **homes.BYTES,
}

_saving: dict[str, list[float]] = {}
"""By token: files and bytes so far in this process, and when the page was last told."""


async def _tell_saving(caller: Caller, files: int, size: int) -> None:
    """Tell the page about once a second how much has arrived."""
    if len(_saving) > 1000:
        _saving.clear()
    sums = _saving.setdefault(caller.token, [0, 0, 0.0])
    sums[0] += files
    sums[1] += size
    if time.monotonic() - sums[2] >= 1:
        sums[2] = time.monotonic()
        await in_database(lambda: gateway.saving(caller, int(sums[0]), int(sums[1]), timezone.now()))


async def send_input(caller: Caller, pk: int, scope: streams.Scope, receive: streams.Receive, send: streams.Send) -> None:
    """The bytes of one input, with Range; only those of the caller's own job."""
    use = await in_database(lambda: JobInput.objects.select_related("file").filter(pk=pk, job=caller.workload_id).first())
    if use is None:
        raise Refuse(404, {"message": "no such input"})
    key = use.file.key
    if not await in_files(places.holds, key, use.file.size):  # an answer that began could only break off, again and again
        raise Refuse(404, {"message": "the portal does not have these bytes any more"})
    part = streams.Stretch(lambda: default_storage.open(key, "rb"), 0, use.file.size)
    await streams.send_file(scope, receive, send, [part], filename="input")
