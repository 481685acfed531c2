"""A file of a multipart request, written where uploads lie as it is parsed, so that keeping it copies no byte again."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import TemporaryUploadedFile
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.http import HttpRequest, HttpResponseBase

from jobs.models import StoredFile
from portal import storing


class Beside(TemporaryUploadedFile):
    """Django's own, but in the folder of uploads."""

    def __init__(self, name: str, content_type: str, size: int, charset: str | None, extra: Any = None) -> None:
        folder = Path(settings.UPLOADS_DIR)
        folder.mkdir(parents=True, exist_ok=True)
        file = tempfile.NamedTemporaryFile(suffix=".upload", dir=folder)  # noqa: SIM115  (closed, and so gone, with the request)
        super(TemporaryUploadedFile, self).__init__(file, name, content_type, size, charset, extra)


class Handler(TemporaryFileUploadHandler):
    def new_file(self, *args: Any, **named: Any) -> None:
        super(TemporaryFileUploadHandler, self).new_file(*args, **named)
        self.file = Beside(self.file_name, self.content_type, 0, self.charset, self.content_type_extra)


def spooled(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Files of this view's requests go beside the uploads."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **named: Any) -> HttpResponseBase:
        request.upload_handlers = [Handler(request)]
        return view(request, *args, **named)

    return wrapped


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
