"""Bytes of a job: one file, a preview, everything as a zip. Streams only; no file is ever whole in memory.

One idea: what a user brought never runs in the portal's origin. Everything goes out as an attachment with nosniff and a
sandbox; only images whose first bytes are those of an image are shown in place.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any, BinaryIO

from asgiref.sync import sync_to_async
from django.contrib.auth.decorators import login_required
from django.core.files.storage import default_storage
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path
from django.views.decorators.http import require_safe
from zipstream import ZIP_DEFLATED, ZipStream

from jobs import names
from jobs.models import Workload
from jobs.outputs import Entry, Manifest, manifest
from portal import fragments, streams
from portal.presenters.facts import Facts
from portal.presenters.files import is_image

from .access import job_seen

PIECE = 256 << 10
PREVIEW = 256 << 10
MAGIC = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff", "image/gif": b"GIF8", "image/webp": b"RIFF"}
_LIKE_WRITTEN = re.compile(r"%(?=(?:25)*+5C)")
"""What would look like a backslash in an archive."""


@login_required
@require_safe
async def job_file(request: HttpRequest, public_id: str, index: int) -> HttpResponseBase:
    """One saved output. With inline=1 an image is shown in place; anything else is always downloaded."""
    found, entry = await sync_to_async(_entry)(request, public_id, index)
    kind = await asyncio.to_thread(_image_kind, found, entry) if "inline" in request.GET else ""
    part = streams.Stretch(lambda: found.open(entry), 0, entry.size)
    name = entry.path.rpartition("/")[2]
    return streams.of_users(
        streams.response(
            request, [part], filename=name, content_type=kind or "application/octet-stream", etag=entry.sha256, inline=bool(kind)
        )
    )


@login_required
@require_safe
async def job_input(request: HttpRequest, public_id: str, pk: int) -> HttpResponseBase:
    """One input as the job used it."""
    name, file = await sync_to_async(_input)(request, public_id, pk)
    part = streams.Stretch(lambda: default_storage.open(file.key, "rb"), 0, file.size)  # type: ignore[arg-type, return-value]
    return streams.of_users(streams.response(request, [part], filename=name.rpartition("/")[2], etag=file.sha256))


@login_required
@require_safe
def job_file_view(request: HttpRequest, public_id: str, index: int) -> HttpResponse:
    """The first part of a text, or an image, on a page of the portal."""
    work = job_seen(request, public_id)
    found, entry = _entry(request, public_id, index)
    context = fragments.context_of(Facts(work), request.user, "file")
    kind = _image_kind(found, entry)
    text = "" if kind else _text(found, entry)
    context |= {"entry": entry, "kind": kind, "text": text, "cut": entry.size > PREVIEW, "shown": PREVIEW}
    return render(request, "jobs/file.html", context)


@login_required
@require_safe
async def job_zip(request: HttpRequest, public_id: str) -> HttpResponseBase:
    """All saved outputs as one archive, made while it is sent: the first byte at once, the memory flat."""
    work = await sync_to_async(job_seen)(request, public_id)
    found = await asyncio.to_thread(manifest, work.public_id, work.attempt)
    if work.job.outputs_deleted or not found.files:
        raise Http404("There are no outputs.")
    answer = StreamingHttpResponse(_pieces(_zip(found)), content_type="application/zip")
    answer["Content-Disposition"] = streams.disposition(f"{work.name}-{work.public_id}.zip")
    answer["X-Accel-Buffering"] = "no"
    return streams.of_users(answer)


# --- private ----------------------------------------------------------------------------------------------------------
def _entry(request: HttpRequest, public_id: str, index: int) -> tuple[Manifest, Entry]:
    work = job_seen(request, public_id)
    found = manifest(work.public_id, work.attempt)
    entry = found.entry(index)
    if entry is None or entry.kind != "file" or work.job.outputs_deleted:
        raise Http404("There is no such file.")
    return found, entry


def _input(request: HttpRequest, public_id: str, pk: int) -> tuple[str, Any]:
    work: Workload = job_seen(request, public_id)
    use = get_object_or_404(work.job.inputs.select_related("file"), pk=pk)
    return names.path(use.name), use.file


def _image_kind(found: Manifest, entry: Entry) -> str:
    """The type of an image that is one by its name and by its first bytes; else empty."""
    kind = is_image(entry.name)
    if not kind:
        return ""
    with found.open(entry) as file:
        head = file.read(16)
    return kind if head.startswith(MAGIC[kind]) and (kind != "image/webp" or head[8:12] == b"WEBP") else ""


def _text(found: Manifest, entry: Entry) -> str:
    """The first PREVIEW bytes as text; empty for what is no text."""
    with found.open(entry) as file:
        data = file.read(PREVIEW)
    if data.count(b"\0") > len(data) // 200:
        return ""
    text = data.decode("utf-8", "replace").replace("\0", "\u2400")
    return "" if text.count("\ufffd") > len(text) // 10 else text


def _zip(found: Manifest) -> Iterator[bytes]:
    """The archive's bytes; entries are added while it goes, so that 100,000 of them cost no time before the first byte."""
    archive = ZipStream(compress_type=ZIP_DEFLATED, compress_level=1)
    lost: list[str] = []
    for entry in found.all:
        if entry.kind == "file":
            archive.add(_bytes_of(found, entry, lost), arcname=_inside(entry.path))
            yield from archive.all_files()
        elif entry.kind == "dir":
            archive.add(b"", arcname=_Name(_inside(entry.path) + "/"))
        else:
            lost.append(f"{entry.name}: {entry.kind}: {entry.detail}")
    if lost:
        archive.add("\n".join(lost) + "\n", arcname="NOT-IN-THIS-ARCHIVE.txt")
    yield from archive.finalize()


def _bytes_of(found: Manifest, entry: Entry, lost: list[str]) -> Iterator[bytes]:
    try:
        file: BinaryIO = found.open(entry)
    except OSError as error:
        lost.append(f"{entry.name}: {error.strerror or 'could not be read'}")
        return
    with file:
        while piece := file.read(PIECE):
            yield piece


class _Name(str):
    """A name in the archive, with bytes that are no UTF-8 as they are; of these the archive does not say that they are UTF-8."""

    def lstrip(self, letters: str | None = None, /) -> str:
        return self  # _inside has done it; a plain text would be cut from it

    def encode(self, encoding: str = "utf-8", errors: str = "strict") -> bytes:
        odd = any("\udc80" <= letter <= "\udcff" for letter in self)
        return super().encode("utf-8", "surrogateescape") if odd else super().encode(encoding, errors)


def _inside(path: str) -> _Name:
    """A path that no unpacker takes outside of its folder. Windows takes a backslash for a slash, so it is %5C; never two paths in one."""
    safe = _LIKE_WRITTEN.sub("%25", path).replace("\\", "%5C")
    return _Name("/".join(part for part in safe.split("/") if part not in ("", ".", "..")) or "unnamed")


async def _pieces(source: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Pieces of about PIECE bytes, each made in a thread while nothing waits for it."""
    while piece := await asyncio.to_thread(_gather, source):
        yield piece


def _gather(source: Iterator[bytes]) -> bytes:
    taken, size = [], 0
    for piece in source:
        taken.append(piece)
        size += len(piece)
        if size >= PIECE:
            break
    return b"".join(taken)


urlpatterns = [
    path("<str:public_id>/files/zip/", job_zip, name="job-zip"),
    path("<str:public_id>/files/<int:index>/", job_file, name="job-file"),
    path("<str:public_id>/files/<int:index>/view/", job_file_view, name="job-file-view"),
    path("<str:public_id>/inputs/<int:pk>/", job_input, name="job-input"),
]
