"""Uploads in chunks with an offset: the tus protocol, version 1.0 (creation, core, termination).

One idea: the portal tells how much it has (HEAD), the browser goes on from there (PATCH); a cut costs one chunk at most.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path, reverse
from django.views.decorators.http import require_http_methods

from jobs.models import StoredFile, Upload
from portal import storing, words
from portal.api.v2.auth import token_or_session
from portal.forms.names import given_path
from portal.numbers import whole

VERSION = "1.0.0"
LARGEST = 1 << 42
CHUNK_TYPE = "application/offset+octet-stream"
View = Callable[..., HttpResponse]


def tus(view: View) -> View:
    """Headers of every answer; 412 for another version of the protocol."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **named: Any) -> HttpResponse:
        asked = request.headers.get("Tus-Resumable")
        if request.method != "OPTIONS" and asked is not None and asked != VERSION:
            answer = HttpResponse("Only tus 1.0.0 is spoken here.", status=412, content_type="text/plain")
            answer["Tus-Version"] = VERSION
        else:
            answer = view(request, *args, **named)
        answer["Tus-Resumable"] = VERSION
        answer["Cache-Control"] = "no-store"
        return answer

    return wrapped


@token_or_session
@tus
@require_http_methods(["POST", "OPTIONS"])
def upload(request: HttpRequest) -> HttpResponse:
    """Announce a file: its length and its name."""
    if request.method == "OPTIONS":
        answer = HttpResponse(status=204)
        answer["Tus-Version"], answer["Tus-Extension"], answer["Tus-Max-Size"] = VERSION, "creation,termination", str(LARGEST)
        return answer
    try:
        size = whole(request.headers.get("Upload-Length", ""))
        told = _metadata(request.headers.get("Upload-Metadata", ""))
        name = given_path(told.get("relativePath") or told.get("filename") or b"")
    except ValidationError as error:
        return _plain(error.messages[0], 400)
    except ValueError:
        return _plain("Upload-Metadata can't be read.", 400)
    if size is None:
        return _plain("Upload-Length says how many bytes there are.", 400)
    if size > LARGEST:
        return _plain("The file is too big.", 413)
    return _begin(request, name, size, 0o755 if told.get("mode") == b"755" else 0o644)


@token_or_session
@tus
@require_http_methods(["HEAD", "PATCH", "DELETE"])
def upload_part(request: HttpRequest, public_id: str) -> HttpResponse:
    """How much there is, the next chunk, or the end of it."""
    found = Upload.objects.filter(public_id=public_id, owner=request.user).select_related("file").first()  # type: ignore[misc]
    if found is None:
        raise Http404("There is no such upload.")
    if request.method == "DELETE":
        storing.drop(found)
        return HttpResponse(status=204)
    if request.method == "HEAD":
        answer = HttpResponse(status=200)
        have = storing.have(found)
        answer["Upload-Offset"], answer["Upload-Length"] = str(have), str(found.size)
        return _with_file(answer, storing.finish(found) if have == found.size else None)
    return _patch(request, found)


# --- private ----------------------------------------------------------------------------------------------------------
def _begin(request: HttpRequest, name: str, size: int, mode: int) -> HttpResponse:
    try:
        made = storing.begin(request.user, name, size, mode)
    except storing.NoRoom as full:
        return _full(full)
    answer = HttpResponse(status=201)
    answer["Location"] = reverse("upload-part", args=[made.public_id])
    answer["Upload-Offset"] = "0"
    return _with_file(answer, storing.finish(made) if size == 0 else None)


def _patch(request: HttpRequest, found: Upload) -> HttpResponse:
    if request.headers.get("Content-Type", "").partition(";")[0].strip() != CHUNK_TYPE:
        return _plain(f"A chunk is {CHUNK_TYPE}.", 415)
    offset = whole(request.headers.get("Upload-Offset", ""))
    if offset is None:
        return _plain("Upload-Offset says where the chunk starts.", 400)
    length = whole(request.headers.get("Content-Length") or "0")
    if length is None or length > settings.UPLOAD_CHUNK:
        return _plain(f"A chunk is at most {words.size(settings.UPLOAD_CHUNK)}.", 413)
    if found.file_id:
        return _offset(HttpResponse(status=409), found.size)
    return _append(request, found, offset)


def _append(request: HttpRequest, found: Upload, offset: int) -> HttpResponse:
    try:
        end = storing.append(found, offset, _pieces(request))
    except storing.WrongOffset as wrong:
        return _offset(_plain(f"Continue at {wrong.size}.", 409), wrong.size)
    except storing.NoRoom as full:
        return _full(full)
    except ValueError as error:
        return _plain(str(error), 413)
    return _offset(_with_file(HttpResponse(status=204), storing.finish(found) if end == found.size else None), end)


def _pieces(request: HttpRequest) -> Iterator[bytes]:
    left = settings.UPLOAD_CHUNK
    while piece := request.read(min(storing.PIECE, left)):
        yield piece
        left -= len(piece)
        if not left:
            return


def _metadata(header: str) -> dict[str, bytes]:
    """Upload-Metadata: pairs of a key and base64, separated by commas. Raises ValueError."""
    found = {}
    for pair in filter(None, (part.strip() for part in header.split(","))):
        key, _, value = pair.partition(" ")
        try:
            found[key] = base64.b64decode(value, validate=True)
        except binascii.Error as error:
            raise ValueError(key) from error
    return found


def _with_file(answer: HttpResponse, file: StoredFile | None) -> HttpResponse:
    """Tells the page which file the upload has become."""
    if file is not None:
        answer["Headrace-File"] = file.public_id
    return answer


def _offset(answer: HttpResponse, size: int) -> HttpResponse:
    answer["Upload-Offset"] = str(size)
    return answer


def _full(full: storing.NoRoom) -> HttpResponse:
    return _plain(f"{full} Nothing was kept of it.", 507)


def _plain(text: str, status: int) -> HttpResponse:
    return HttpResponse(text, status=status, content_type="text/plain; charset=utf-8")


urlpatterns = [
    path("uploads/", upload, name="upload"),
    path("uploads/<str:public_id>/", upload_part, name="upload-part"),
]
