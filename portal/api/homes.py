"""Reports of workstations' agents: copies of the home, in and out, and what only sessions have to say.

One idea: hashing gigabytes takes seconds, so a whole copy is checked in a thread of its own and answered when it is done; the
agent waits, and may ask again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.core.files.storage import default_storage
from django.utils import timezone

from jobs import homes, idleness, logs, outputs, places, sending
from jobs.gateway import Caller
from jobs.models import HomeCopy
from portal import streams

from .threads import Refuse, in_database, in_files

PART_LIMIT = (8 << 20) + (1 << 16)
JSON_LIMIT = 1 << 20


async def room(caller: Caller, query: Mapping[str, str], receive: streams.Receive) -> dict[str, Any]:
    report = json.loads(await streams.whole_body(receive, JSON_LIMIT))
    _of_a_workstation(caller)
    return await in_database(lambda: homes.room(caller, report, timezone.now()))


async def part(caller: Caller, query: Mapping[str, str], receive: streams.Receive) -> dict[str, Any]:
    data = await streams.whole_body(receive, PART_LIMIT)
    try:
        return {"size": await in_files(homes.write, caller, query["copy"], int(query["offset"]), data)}
    except outputs.PastEnd as error:
        raise Refuse(409, {"size": error.size}) from error
    except FileNotFoundError as error:
        raise Refuse(404, {"message": "no room was reserved for this copy"}) from error


async def whole(caller: Caller, query: Mapping[str, str], receive: streams.Receive) -> dict[str, Any]:
    report = json.loads(await streams.whole_body(receive, JSON_LIMIT))
    try:
        await in_database(lambda: homes.whole(caller, report, timezone.now()))
    except outputs.Damaged as error:
        raise Refuse(409, {"size": 0}) from error
    except (HomeCopy.DoesNotExist, FileNotFoundError) as error:
        raise Refuse(404, {"message": "no room was reserved for this copy"}) from error
    return {"ok": True}


async def send(caller: Caller, pk: str, scope: streams.Scope, receive: streams.Receive, answer: streams.Send) -> None:
    """The bytes of a copy, with Range; only those of the caller's own workstation."""
    rows = HomeCopy.objects.filter(pk=int(pk), workstation=caller.workload_id, whole__isnull=False)
    copy = await in_database(rows.first)
    if copy is None:
        raise Refuse(404, {"message": "no such copy"})
    stretch = streams.Stretch(lambda: homes.open_copy(copy), 0, copy.size)
    await streams.send_file(scope, receive, answer, [stretch], filename="home.tar")


async def send_file(caller: Caller, pk: str, scope: streams.Scope, receive: streams.Receive, answer: streams.Send) -> None:
    """The bytes of a file that waits for the caller's own workstation, with Range."""
    file = await in_database(sending.file_for, caller.workload_id, int(pk))
    if file is None or not await in_files(places.holds, file.key, file.size):
        raise Refuse(404, {"message": "no such file waits"})
    key = file.key
    stretch = streams.Stretch(lambda: default_storage.open(key, "rb"), 0, file.size)
    await streams.send_file(scope, receive, answer, [stretch], filename="sent")


def note_beat(caller: Caller, report: Mapping[str, Any], at: float) -> None:
    """Signs of work, kept as times of files."""
    if caller.kind == "workstation":
        idleness.note(logs.attempt_dir(caller.public_id, caller.attempt), report, at)


def _of_a_workstation(caller: Caller) -> None:
    if caller.kind != "workstation":
        raise Refuse(404, {"message": "a job has no home"})


BYTES = {"home/room": room, "home/part": part, "home/whole": whole}
