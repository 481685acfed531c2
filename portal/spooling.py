"""Files of multipart requests, written where uploads lie as they are parsed, so that keeping one copies no byte again.

One idea: settings put it in the place of Django's own, so a name means the same bytes in a form, in the API and in chunks.
"""

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
    """Django's own, but in the folder of uploads. `given` is its name as it was sent, without folders; `told` the same as text."""

    def __init__(self, given: bytes) -> None:
        folder = Path(settings.UPLOADS_DIR)
        folder.mkdir(parents=True, exist_ok=True)
        file = tempfile.NamedTemporaryFile(suffix=".upload", dir=folder)  # noqa: SIM115  (closed, and so gone, with the request)
        super(TemporaryUploadedFile, self).__init__(file, "upload", "", 0, None)
        self.given = given.rpartition(b"/")[2]
        self.told = names.shown(self.given)


class Handler(FileUploadHandler):
    """Takes the whole body in Django's place. A file without name and bytes is what browsers send where none was chosen."""

    def handle_raw_input(self, input_data: Any, META: Any, content_length: int, boundary: bytes, encoding: str | None = None) -> Any:
        fields, files = QueryDict(mutable=True, encoding=encoding), MultiValueDict[str, Beside]()
        left, room = settings.DATA_UPLOAD_MAX_MEMORY_SIZE, settings.DATA_UPLOAD_MAX_NUMBER_FILES
        for part in parts_of(input_data, boundary, settings.DATA_UPLOAD_MAX_NUMBER_FIELDS + room):
            if part.filename is None:
                value = part.body.read(left + 1)
                left -= len(value) + len(part.name)
                fields.appendlist(part.name, self.text(value, encoding or settings.DEFAULT_CHARSET))
            elif room:
                room -= 1
                file = _written(part)
                if file.size or part.filename:
                    files.appendlist(part.name, file)
            else:
                raise RequestDataTooBig(f"There are more than {settings.DATA_UPLOAD_MAX_NUMBER_FILES} files.")
            if left < 0:
                raise RequestDataTooBig("There are too many fields beside the file.")
        fields._mutable = False
        return fields, files

    def text(self, value: bytes, encoding: str) -> str:
        """A field's value."""
        return value.decode(encoding, "replace")


class Exact(Handler):
    """Fields hold names too: any bytes, written as jobs.names says."""

    def text(self, value: bytes, encoding: str) -> str:
        return names.shown(value)


def exact(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Fields of this view's requests are names."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **named: Any) -> HttpResponseBase:
        request.upload_handlers = [Exact(request)]
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
