"""Files between a workstation, jobs and storage: sent into its home, looked at in its copies, taken over from them.

Only its owner does any of it, as on the pages. What is sent is any file that the owner sees, by its id: an upload, or an output
of a job, which becomes a file of theirs first. What is taken from a copy is a file of theirs, which a job may have as input.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponseBase
from django.utils import timezone
from ninja import Query, Router, Status
from ninja.errors import HttpError

from jobs import names, sending
from jobs.models import AuditEntry, HomeCopy, Sent, StoredFile, Workload
from portal import copies, storing, words
from portal.forms.names import clean_path

from .auth import address_of
from .file_found import Found, find, of_row, show
from .files import CONTENTS, sent
from .making import under
from .moments import when
from .paging import Paging, listed, page, whole
from .schemas import SendIn, TakeIn
from .shapes import FileOut, Page, answers
from .shapes.workstations import CopyFile, HomeOut, SentOut
from .stations import home_shown
from .workstations import visible

router = Router(tags=["workstations"])
LAST = 253_402_300_799
"""Seconds until the end of the year 9999, the last that a moment can be in."""
FULL = "At most {} files and {} may be taken at once."


# --- into it ----------------------------------------------------------------------------------------------------------
@router.get("/workstations/{station_id}/sent/", response=answers(Page[SentOut], 403, 404), summary="Files sent into its home, newest first")
def on_their_way(request: HttpRequest, station_id: str, paging: Query[Paging]) -> dict[str, Any]:
    rows = _owned(request, station_id).workstation.sent.select_related("file")
    return page(request, paging, rows, _sent_shown)


@router.post(
    "/workstations/{station_id}/sent/",
    response=answers(Page[SentOut], 403, 404, 409, 413, 507, status=201),
    summary="Send files into its home",
)
def send(request: HttpRequest, station_id: str, payload: SendIn) -> Status:
    """`files` are ids, of uploads and of outputs of jobs. They arrive at once, or at its next resume, and over nothing that is there."""
    work, user = _owned(request, station_id), request.user
    found = [find(request, key) for key in dict.fromkeys(payload.files)]
    try:
        sending.may(work.workstation, user)
        made = sending.send(work.workstation, _as_own(user, found), user, timezone.now())
    except sending.Refused as why:
        raise HttpError(409, str(why)) from why
    AuditEntry.note(user, "send to workstation", work, address_of(request), id=work.public_id, files=len(made))
    return Status(201, whole([_sent_shown(row) for row in made]))


@router.delete(
    "/workstations/{station_id}/sent/{sent_id}/", response=answers(None, 403, 404, status=204), summary="Send one no longer, or forget it"
)
def take_back(request: HttpRequest, station_id: str, sent_id: int) -> Status:
    """What has arrived stays in the home."""
    work = _owned(request, station_id)
    row = work.workstation.sent.select_related("workstation__workload").filter(pk=_key(sent_id)).first()
    if row is None:
        raise Http404("No such file was sent.")
    sending.take_back(row, timezone.now())
    AuditEntry.note(request.user, "take back from workstation", work, address_of(request), id=work.public_id, file=row.name)
    return Status(204, None)


# --- out of it --------------------------------------------------------------------------------------------------------
@router.get("/workstations/{station_id}/copies/", response=answers(Page[HomeOut], 403, 404), summary="Copies of its home, newest first")
def kept(request: HttpRequest, station_id: str, paging: Query[Paging]) -> dict[str, Any]:
    return page(request, paging, _copies(request, station_id), home_shown)


@router.get(
    "/workstations/{station_id}/copies/{copy_id}/files/", response=answers(Page[CopyFile], 403, 404), summary="What is in a copy"
)
def inside(request: HttpRequest, station_id: str, copy_id: int, paging: Query[Paging], folder: str = "") -> dict[str, Any]:
    """Everything below `folder`, however deep; of very large homes the first 200,000 entries."""
    copy, start = _copy(request, station_id, copy_id), f"{folder.strip('/')}/" if folder.strip("/") else ""
    entries = [entry for entry in _contents(copy).entries if entry.name.startswith(start)]
    return listed(request, paging, entries, lambda entry: _entry_shown(request, station_id, copy, entry))


@router.get(
    "/workstations/{station_id}/copies/{copy_id}/files/{index}/contents/",
    response=answers(Any, 403, 404),
    openapi_extra=CONTENTS,
    summary="The bytes of a file in it, with Range",
)
def contents(request: HttpRequest, station_id: str, copy_id: int, index: int) -> HttpResponseBase:
    copy = _copy(request, station_id, copy_id)
    entry = _contents(copy).at(index)
    if entry is None or entry.kind != "file":
        raise Http404("There is no such file in this copy.")
    path, made, part = names.path(entry.name), when(copy.made), copies.stretch(copy, entry)
    return sent(request, Found("", path, entry.size, "", 0, str(request.user), made, [part], f"{copy.code}-{index}"))


@router.post(
    "/workstations/{station_id}/copies/{copy_id}/take/",
    response=answers(Page[FileOut], 403, 404, 413, 507, status=201),
    summary="Files of a copy, over to one's own files",
)
def take(request: HttpRequest, station_id: str, copy_id: int, payload: TakeIn) -> Status:
    """`files` by their `index`, and all that is below `folder`; they are named from that folder on. A job may have them as inputs.

    400 if one of `files` does not lie in `folder`, or if none of their names can be had.
    """
    copy = _copy(request, station_id, copy_id)
    try:
        taken, wrong = copies.take(request.user, copy, _chosen(_contents(copy), payload), payload.folder.strip("/"))
    except copies.TooMuch:
        raise _too_much() from None
    except storing.NoRoom as full:
        raise HttpError(507, str(full)) from full
    if wrong and not taken:
        raise ValidationError({"files": wrong})
    work = copy.workstation.workload
    AuditEntry.note(request.user, "take from home", work, address_of(request), id=work.public_id, files=len(taken))
    return Status(201, whole([show(of_row(file), request) for file in taken]))


# --- private ----------------------------------------------------------------------------------------------------------
def _owned(request: HttpRequest, station_id: str) -> Workload:
    work = visible(request, station_id)
    if work.owner != request.user:
        raise HttpError(403, "Only its owner may do that.")
    return work


def _copies(request: HttpRequest, station_id: str) -> Any:
    work = _owned(request, station_id)
    return HomeCopy.objects.filter(workstation=work.pk, whole__isnull=False).select_related("workstation__workload")


def _copy(request: HttpRequest, station_id: str, copy_id: int) -> HomeCopy:
    found = _copies(request, station_id).filter(pk=_key(copy_id)).first()
    if found is None:
        raise Http404("There is no such copy of its home.")
    return found


def _key(number: int) -> int:
    """A number that the database can look for."""
    return number if 0 < number < 1 << 62 else 0


def _contents(copy: HomeCopy) -> copies.Contents:
    try:
        return copies.contents(copy)
    except (FileNotFoundError, ValueError) as error:
        raise Http404("The storage does not have this copy any more, or it is damaged.") from error


def _chosen(found: copies.Contents, asked: TakeIn) -> list[copies.Entry]:
    """Each once. Raises Http404 for an index that is no file, ValidationError for a file that does not lie in the folder."""
    folder = asked.folder.strip("/")
    entries = found.below(folder) if folder else []
    for index in asked.files:
        entry = found.at(index)
        if entry is None or entry.kind != "file":
            raise Http404(f"There is no file {index} in this copy.")
        _inside(entry, folder)
        entries.append(entry)
    return list(dict.fromkeys(entries))


def _inside(entry: copies.Entry, folder: str) -> None:
    try:
        entry.within(folder)
    except ValidationError as error:
        raise ValidationError({"files": f"{entry.name}: {error.messages[0]}"}) from error


def _as_own(user: Any, found: Sequence[Found]) -> list[StoredFile]:
    """What is not theirs yet becomes theirs. Raises HttpError."""
    foreign = [one for one in found if one.row is None or one.row.owner != user]
    if len(foreign) > copies.TAKEN_FILES or sum(one.size for one in foreign) > copies.TAKEN_BYTES:
        raise _too_much()
    try:
        return [one.row if one.row is not None and one.row.owner == user else _kept(user, one) for one in found]
    except storing.NoRoom as full:
        raise HttpError(507, str(full)) from full


def _too_much() -> HttpError:
    return HttpError(413, FULL.format(copies.TAKEN_FILES, words.size(copies.TAKEN_BYTES)))


def _kept(user: Any, found: Found) -> StoredFile:
    """An output, or a file that somebody shares in a job, as a file of one's own."""
    name = under("files", clean_path, names.shown(found.path))
    pieces = (piece for part in found.parts for piece in ([part] if isinstance(part, bytes) else part.pieces(0, len(part))))
    return storing.keep_once(user, name, found.size, found.sha256, pieces)


def _sent_shown(row: Sent) -> dict[str, Any]:
    status = "waiting" if row.waits else "failed" if row.arrived is None else "arrived"
    times = {"dateSent": when(row.made), "dateArrived": when(row.arrived)}
    file = {"fileId": row.file.public_id, "path": row.name, "size": row.file.size}
    return {"id": row.pk, **file, "status": status, "trouble": row.trouble or None, **times}


def _entry_shown(request: HttpRequest, station_id: str, copy: HomeCopy, entry: copies.Entry) -> dict[str, Any]:
    address = f"/api/v2/workstations/{station_id}/copies/{copy.pk}/files/{entry.index}/contents/"
    return {
        "index": entry.index,
        "path": entry.name,
        "kind": entry.kind,
        "size": entry.size,
        "dateModified": when(datetime.fromtimestamp(min(max(entry.mtime, 0), LAST), UTC)),
        "leadsTo": entry.detail or None,
        "downloadUrl": request.build_absolute_uri(address) if entry.kind == "file" else None,
    }
