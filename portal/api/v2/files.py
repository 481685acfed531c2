"""Files: upload, list, search, metadata with checksums, contents with Range, lines, delete. An output is a file too."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone
from ninja import File, Form, Query, Router, Status
from ninja.decorators import decorate_view
from ninja.errors import HttpError
from ninja.files import UploadedFile

from jobs import stored
from jobs.models import StoredFile
from portal import spooling, storing, streams
from portal.forms.names import clean_path, given_path

from .file_found import Found, find, last_lines, of_row, show
from .making import under
from .paging import Paging, page
from .schemas import FilePatch, TailAsked
from .shapes import FileOut, Lines, Page, answers

router = Router(tags=["files"])
SHOWN = 10
"""Jobs that a refusal names."""
BYTES = {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
CONTENTS = {
    "responses": {
        200: {"description": "The bytes", **BYTES},
        206: {"description": "The part that Range asked for", **BYTES},
        304: {"description": "If-None-Match holds its ETag"},
        416: {"description": "There are no such bytes"},
    }
}


@router.post("/files/contents/", response=answers(FileOut, 403, 507, status=201), summary="Upload a file: multipart, part `file`")
@decorate_view(spooling.exact)
def upload(request: HttpRequest, file: File[UploadedFile], relativePath: Form[str | None] = None) -> Status:
    """PUT does the same. Its path in the job folder is its name, or `relativePath`: both are taken byte for byte.

    Big files go better in chunks that resume: POST /uploads/.
    """
    name = under("relativePath", clean_path, relativePath) if relativePath else under("file", given_path, file.given)
    try:
        kept = spooling.keep(request.user, name, file)
    except storing.NoRoom as full:
        raise HttpError(507, str(full)) from full
    return Status(201, show(of_row(kept), request))


@router.get("/files/", response=answers(Page[FileOut]), summary="One's own files, newest first")
def files(request: HttpRequest, paging: Query[Paging], search: str = "") -> dict[str, Any]:
    rows = stored.files_of(request.user).select_related("owner")
    if search:
        rows = rows.filter(name__icontains=search)
    return page(request, paging, rows, lambda row: show(of_row(row), request))


@router.get("/files/{key}/", response=answers(FileOut, 404), summary="One file, with its checksum")
def file(request: HttpRequest, key: str) -> dict[str, Any]:
    return show(find(request, key), request)


@router.patch("/files/{key}/", response=answers(FileOut, 403, 404, 409), summary="Rename a file")
def change(request: HttpRequest, key: str, payload: FilePatch) -> dict[str, Any]:
    """Jobs that use it keep the name that they have. `typeId` is taken and means nothing: a file is what a job uses it for."""
    row = _own(request, key)
    if payload.name is not None:
        StoredFile.objects.filter(pk=row.pk).update(name=under("name", clean_path, payload.name))
    return show(find(request, key), request)


@router.delete("/files/{key}/", response=answers(None, 403, 404, 409, status=204), summary="Delete a file that no unfinished job needs")
def delete(request: HttpRequest, key: str) -> Status:
    row = _own(request, key)
    try:
        stored.delete(row, timezone.now())
    except stored.InUse:
        names = [f"{work.public_id} ({work.row.label})" for work in stored.needed_by(row)[:SHOWN]]
        raise HttpError(409, f"Jobs that are not over need it: {', '.join(names)}. Stop or delete them first.") from None
    return Status(204, None)


@router.get("/files/{key}/contents/", response=answers(Any, 404), openapi_extra=CONTENTS, summary="The bytes, with Range and ETag")
def contents(request: HttpRequest, key: str) -> HttpResponseBase:
    return sent(request, find(request, key))


@router.api_operation(["HEAD"], "/files/{key}/contents/", include_in_schema=False)
def head(request: HttpRequest, key: str) -> HttpResponseBase:
    return sent(request, find(request, key))


@router.get("/files/{key}/lines/", response=answers(Lines, 404), summary="The last lines as text")
def lines(request: HttpRequest, key: str, asked: Query[TailAsked]) -> dict[str, Any]:
    return {"lines": list(last_lines(find(request, key), asked.lines))}


def sent(request: HttpRequest, found: Found) -> HttpResponseBase:
    answer = streams.of_users(streams.response(request, found.parts, filename=found.path.rpartition("/")[2], etag=found.etag))
    if found.sha256:
        answer["X-Checksum-Sha256"] = found.sha256
    return answer


def _own(request: HttpRequest, key: str) -> StoredFile:
    found = find(request, key)
    if found.row is None:
        raise HttpError(409, "It belongs to its job, and goes with it.")
    if found.row.owner != request.user and not request.user.is_staff:
        raise HttpError(403, "It belongs to somebody else.")
    return found.row
