"""A file of a multipart request, written where uploads lie as it is parsed, so that keeping it copies no byte again."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadedfile import TemporaryUploadedFile
from django.core.files.uploadhandler import FileUploadHandler
from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.utils.datastructures import MultiValueDict

from jobs import names
from jobs.models import StoredFile
from portal import storing

from .parts import Part, parts_of


class Beside(TemporaryUploadedFile):
    """Django's own, but in the folder of uploads. `given` is its name as it was sent, without folders."""

    def __init__(self, given: bytes) -> None:
        folder = Path(settings.UPLOADS_DIR)
        folder.mkdir(parents=True, exist_ok=True)
        file = tempfile.NamedTemporaryFile(suffix=".upload", dir=folder)  # noqa: SIM115  (closed, and so gone, with the request)
        super(TemporaryUploadedFile, self).__init__(file, "upload", "", 0, None)
        self.given = given.rpartition(b"/")[2]


class Handler(FileUploadHandler):
    """Takes the whole body in Django's place."""

    def handle_raw_input(self, input_data: Any, META: Any, content_length: int, boundary: bytes, encoding: str | None = None) -> Any:
        fields, files = QueryDict(mutable=True), MultiValueDict[str, Beside]()
        left, room = settings.DATA_UPLOAD_MAX_MEMORY_SIZE, settings.DATA_UPLOAD_MAX_NUMBER_FILES
        for part in parts_of(input_data, boundary, settings.DATA_UPLOAD_MAX_NUMBER_FIELDS + room):
            if part.filename is None:
                value = part.body.read(left + 1)
                left -= len(value) + len(part.name)
                fields.appendlist(part.name, names.shown(value))
            elif room:
                files.appendlist(part.name, _written(part))
                room -= 1
            else:
                raise RequestDataTooBig(f"There are more than {settings.DATA_UPLOAD_MAX_NUMBER_FILES} files.")
            if left < 0:
                raise RequestDataTooBig("There are too many fields beside the file.")
        return fields, files


def spooled(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Files of this view's requests go beside the uploads."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **named: Any) -> HttpResponseBase:
        request.upload_handlers = [Handler(request)]
        return view(request, *args, **named)

    return wrapped


def _written(part: Part) -> Beside:
    file = Beside(part.filename or b"")
    for piece in part.body:
        file.file.write(piece)
        file.size += len(piece)
    file.file.seek(0)
    return file


def keep(owner: Any, name: str, file: Any) -> StoredFile:
    """The parsed file as a stored one. Raises NoRoom."""
    upload = storing.begin(owner, name, file.size)
    part = storing.part_of(upload)
    try:
        part.unlink()
        os.link(file.temporary_file_path(), part)
    except (OSError, AttributeError):
        part.touch()
        storing.append(upload, 0, iter(lambda: file.read(storing.PIECE), b""))
    return storing.finish(upload)
