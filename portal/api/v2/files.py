"""Files: upload, list, search, metadata with checksums, contents with Range, lines, delete. An output is a file too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from django.core.files.storage import default_storage
from django.http import Http404, HttpRequest, HttpResponseBase
from django.utils import timezone
from ninja import File, Router
from ninja.errors import HttpError
from ninja.files import UploadedFile

from jobs import outputs, stored
from jobs.models import StoredFile, Workload
from portal import storing, streams
from portal.forms.names import clean_path

from .paging import page, whole

router = Router(tags=["files"])
OUTPUT = re.compile(r"([A-Za-z]{6})-(\d{1,6})-(\d{1,9})")
INPUT_TYPE, OUTPUT_TYPE = 1, 5
LINE = 10_000


@dataclass(frozen=True)
class Found:
    """A stored file or an output, as far as the API tells them apart."""

    id: str
    path: str
    size: int
    sha256: str
    type_id: int
    owner: str
    made: str
    row: StoredFile | None
    entry: outputs.Entry | None = None
    manifest: outputs.Manifest | None = None

    def open(self) -> BinaryIO:
        if self.row is not None:
            return default_storage.open(self.row.key, "rb")  # type: ignore[return-value]
        assert self.manifest is not None
        assert self.entry is not None
        return self.manifest.open(self.entry)


def shown_path(path: str) -> str:
    """A path as text that JSON can carry."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def show(found: Found, request: HttpRequest) -> dict[str, Any]:
    path = shown_path(found.path)
    base = request.build_absolute_uri("/api/v2/files/")
    return {
        "id": found.id,
        "name": path.rpartition("/")[2],
        "relativePath": path,
        "path": path,
        "typeId": found.type_id,
        "decryptedSize": found.size,
        "size": found.size,
        "isUploaded": True,
        "isDeleted": False,
        "md5": None,
        "sha256": found.sha256,
        "fileChecksums": [{"hashFunction": "sha256", "fileHash": found.sha256}],
        "owner": found.owner,
        "dateUploaded": found.made,
        "downloadUrl": f"{base}{found.id}/contents/",
    }


def of_row(row: StoredFile) -> Found:
    return Found(row.public_id, row.name, row.size, row.sha256, INPUT_TYPE, str(row.owner), row.made.isoformat(), row)


def of_entry(work: Workload, attempt: int, manifest: outputs.Manifest, entry: outputs.Entry) -> Found:
    made = (work.ended or work.since).isoformat()
    return Found(
        f"{work.public_id}-{attempt}-{entry.index}",
        entry.path,
        entry.size,
        entry.sha256,
        OUTPUT_TYPE,
        str(work.owner),
        made,
        None,
        entry,
        manifest,
    )


def find(request: HttpRequest, key: str) -> Found:
    """A file that the caller may see, by its id. 404 otherwise."""
    match = OUTPUT.fullmatch(key)
    if match:
        work = Workload.objects.visible_to(request.user).filter(public_id=match[1]).first()
        manifest = outputs.manifest(match[1], int(match[2])) if work else None
        entry = manifest.entry(int(match[3])) if manifest else None
        if work is None or manifest is None or entry is None or entry.kind != "file":
            raise Http404("There is no such file.")
        return of_entry(work, int(match[2]), manifest, entry)
    rows = StoredFile.objects.select_related("owner").filter(public_id=key)
    if not request.user.is_staff:
        rows = rows.filter(owner=request.user) | rows.filter(uses__job__workload__in=Workload.objects.visible_to(request.user))
    row = rows.distinct().first()
    if row is None or (row.deleted and not row.uses.exists()):
        raise Http404("There is no such file.")
    return of_row(row)


@router.post("/files/contents/", response={201: Any}, summary="Upload a file: multipart, part `file`")
def upload(request: HttpRequest, file: UploadedFile = File(...)) -> tuple[int, dict[str, Any]]:  # noqa: B008
    try:
        kept = storing.keep(request.user, clean_path(file.name or ""), file.file, file.size or 0)  # type: ignore[arg-type]
    except storing.NoRoom as full:
        raise HttpError(507, f"The portal's disk has no room: {full.need} bytes needed, {full.room} free.") from full
    return 201, show(of_row(kept), request)


@router.get("/files/", summary="One's own files, newest first")
def files(request: HttpRequest, search: str = "") -> dict[str, Any]:
    rows = stored.files_of(request.user).select_related("owner")
    if search:
        rows = rows.filter(name__icontains=search.replace("\0", ""))
    return page(request, rows, lambda row: show(of_row(row), request))


@router.get("/files/{key}/", summary="One file, with its checksum")
def file(request: HttpRequest, key: str) -> dict[str, Any]:
    return show(find(request, key), request)


@router.delete("/files/{key}/", response={204: None}, summary="Delete a file that no unfinished job needs")
def delete(request: HttpRequest, key: str) -> tuple[int, None]:
    found = find(request, key)
    if found.row is None:
        raise HttpError(409, "An output goes with its job; delete the job.")
    if found.row.owner != request.user and not request.user.is_staff:
        raise HttpError(403, "It belongs to somebody else.")
    try:
        stored.delete(found.row, timezone.now())
    except stored.InUse:
        raise HttpError(409, "A job that is not over needs it.") from None
    return 204, None


@router.get("/files/{key}/contents/", response=Any, summary="The bytes, with Range")
def contents(request: HttpRequest, key: str) -> HttpResponseBase:
    found = find(request, key)
    part = streams.Stretch(found.open, 0, found.size)
    return streams.response(request, [part], filename=found.path.rpartition("/")[2], etag=found.sha256)


@router.get("/files/{key}/lines/", summary="The last lines as text")
def lines(request: HttpRequest, key: str) -> dict[str, Any]:
    found, count = find(request, key), whole(request, "lines", 100, 1, LINE)
    return {"lines": list(last_lines(found, count))}


def last_lines(found: Found, count: int, reach: int = 4 << 20) -> Iterator[str]:
    with found.open() as file:
        file.seek(max(0, found.size - reach))
        rows = file.read(reach).split(b"\n")
    rows = rows[:-1] if rows and not rows[-1] else rows
    yield from (row.decode("utf-8", "replace") for row in rows[-count:])
