"""A file as the API knows it: what somebody uploaded, what a job wrote, or a job's log; each by its id.

One idea: an upload has a row, an output is a line of a manifest (job-attempt-index), the log is a stream (job-attempt-log);
whoever asks for bytes or metadata need not tell them apart.
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from django.core.files.storage import default_storage
from django.http import Http404, HttpRequest

from jobs import logs, names, outputs
from jobs.models import StoredFile, Workload
from portal import streams
from portal.views.log import parts as parts_of_log

from .moments import when

OUTPUT = re.compile(r"([A-Za-z]{6})-(\d{1,6})-(\d{1,9}|log)")
INPUT_TYPE, OUTPUT_TYPE = 1, 5
STDOUT = "process_output.log"
REACH = 4 << 20
"""Bytes from the end in which last lines are looked for."""


@dataclass(frozen=True)
class Found:
    """`parts` are its bytes in order; `etag` changes when they do."""

    id: str
    path: str
    size: int
    sha256: str
    type_id: int
    owner: str
    made: str
    parts: Sequence[streams.Part]
    etag: str = ""
    whole: bool = True
    row: StoredFile | None = field(default=None)


@dataclass(frozen=True)
class Log:
    """A stream of an attempt, as portal.views.log takes it."""

    directory: Path
    stream: str
    generation: int

    @property
    def path(self) -> Path:
        return logs.path_of(self.directory, self.stream, self.generation)


def show(found: Found, request: HttpRequest) -> dict[str, Any]:
    path = names.shown(found.path)
    return {
        "id": found.id,
        "name": path.rpartition("/")[2],
        "relativePath": path,
        "path": path,
        "pathBytes": None if path == found.path else base64.b64encode(os.fsencode(found.path)).decode(),
        "typeId": found.type_id,
        "decryptedSize": found.size,
        "size": found.size,
        "isUploaded": found.whole,
        "isDeleted": False,
        "md5": None,
        "sha256": found.sha256 or None,
        "fileChecksums": [{"hashFunction": "sha256", "fileHash": found.sha256}] if found.sha256 else [],
        "owner": found.owner,
        "dateUploaded": found.made,
        "downloadUrl": request.build_absolute_uri(f"/api/v2/files/{found.id}/contents/"),
    }


def of_row(row: StoredFile) -> Found:
    part = streams.Stretch(_opener(row.key), 0, row.size)
    path, made = names.path(row.name), when(row.made)
    return Found(row.public_id, path, row.size, row.sha256, INPUT_TYPE, str(row.owner), made, [part], row.sha256, row=row)


def of_entry(work: Workload, attempt: int, manifest: outputs.Manifest, entry: outputs.Entry) -> Found:
    part = streams.Stretch(lambda: manifest.open(entry), 0, entry.size)
    key, made = f"{work.public_id}-{attempt}-{entry.index}", when(work.ended or work.since)
    etag = entry.sha256 or f"{key}-{entry.size}"
    return Found(key, entry.path, entry.size, entry.sha256, OUTPUT_TYPE, str(work.owner), made, [part], etag)


def of_log(work: Workload, attempt: int) -> Found | None:
    """What the command printed, as a file; None before its first byte. Where bytes are not kept a line says so."""
    directory = logs.attempt_dir(work.public_id, attempt)
    found = logs.generations(directory, "stdout")
    if not found:
        return None
    log = Log(directory, "stdout", found[-1])
    kept = logs.size(directory, "stdout", generation=log.generation)
    parts = parts_of_log(log, kept)  # type: ignore[arg-type]
    seal, size = logs.complete(directory, "stdout", generation=log.generation), sum(map(len, parts))
    sha256 = seal.sha256 if seal and not logs.gaps(directory, "stdout", generation=log.generation) else ""
    key, made = f"{work.public_id}-{attempt}-log", when(work.ended or work.since)
    whole = bool(seal) or not work.is_active
    return Found(key, STDOUT, size, sha256, OUTPUT_TYPE, str(work.owner), made, parts, sha256 or f"{key}-{size}", whole)


def of_job(work: Workload) -> Sequence[Callable[[], Found]]:
    """The files of the newest attempt, the log first; each made only when it is shown."""
    log = of_log(work, work.attempt)
    first: list[Callable[[], Found]] = [lambda: log] if log else []
    if work.job.outputs_deleted:
        return first
    manifest = outputs.manifest(work.public_id, work.attempt)
    entries = [entry for entry in manifest.all if entry.kind == "file"]
    return first + [lambda entry=entry: of_entry(work, work.attempt, manifest, entry) for entry in entries]


def find(request: HttpRequest, key: str) -> Found:
    """A file that the caller may see, by its id. 404 otherwise."""
    match = OUTPUT.fullmatch(key)
    found = _of_job(request, match[1], int(match[2]), match[3]) if match else _upload(request, key)
    if found is None:
        raise Http404("There is no such file.")
    return found


def last_lines(found: Found, count: int) -> Iterator[str]:
    parts, taken = list(found.parts), []
    left = REACH
    while parts and left > 0:
        part = parts.pop()
        piece = part[-left:] if isinstance(part, bytes) else b"".join(part.pieces(max(0, len(part) - left), len(part)))
        taken.append(piece)
        left -= len(piece)
    yield from lines_of(b"".join(reversed(taken)), count)


def lines_of(data: bytes, count: int) -> list[str]:
    """The last lines of some bytes, as text."""
    rows = data.split(b"\n")
    rows = rows[:-1] if rows and not rows[-1] else rows
    return [row.decode("utf-8", "replace") for row in rows[-count:]]


# --- private ----------------------------------------------------------------------------------------------------------
def _opener(key: str) -> Callable[[], BinaryIO]:
    return lambda: default_storage.open(key, "rb")  # type: ignore[return-value]


def _of_job(request: HttpRequest, public_id: str, attempt: int, index: str) -> Found | None:
    rows = Workload.objects.visible_to(request.user).select_related("owner", "job")
    work = rows.filter(public_id=public_id, kind=Workload.Kind.JOB).first()
    if work is None or not 1 <= attempt <= work.attempt:
        return None
    if index == "log":
        return of_log(work, attempt)
    manifest = outputs.manifest(public_id, attempt)
    entry = manifest.entry(int(index))
    if entry is None or entry.kind != "file" or work.job.outputs_deleted:
        return None
    return of_entry(work, attempt, manifest, entry)


def _upload(request: HttpRequest, key: str) -> Found | None:
    rows = StoredFile.objects.select_related("owner").filter(public_id=key)
    if not request.user.is_staff:
        rows = rows.filter(owner=request.user) | rows.filter(uses__job__workload__in=Workload.objects.visible_to(request.user))
    row = rows.distinct().first()
    return of_row(row) if row and (row.deleted is None or row.uses.exists()) else None
