"""Uploads on their way to become stored files: bytes in a part file, then one move into storage.

One idea: a part file grows only at its own end, under a lock, so that whatever is sent twice or from two tabs lands once;
it becomes a StoredFile only when it is whole, with its sha256.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone

from jobs import places
from jobs.models import StoredFile, Upload
from jobs.models.installation import public_id
from portal import words

PIECE = 1 << 20
OLD = timedelta(days=7)
"""Age after which an unfinished upload is dropped."""


class NoRoom(Exception):
    """The disk can't take it: a sentence for people. `need` and `room` in bytes."""

    def __init__(self, need: int, room: int) -> None:
        super().__init__(f"The portal's disk has no room: {words.size(need)} needed, {words.size(room)} free.")


class WrongOffset(Exception):
    """The piece does not start where the part file ends; `size` is where it does."""

    def __init__(self, size: int) -> None:
        super().__init__(f"continue at {size}")
        self.size = size


def begin(owner: Any, name: str, size: int, mode: int = 0o644) -> Upload:
    """A new upload. Raises NoRoom before a byte is taken."""
    folder = Path(settings.UPLOADS_DIR)
    folder.mkdir(parents=True, exist_ok=True)
    _forget_old(owner)
    room = max(0, places.room(folder) - _promised())
    if size > room:
        raise NoRoom(size, room)
    upload = Upload.objects.create(public_id=public_id(20), owner=owner, name=name, size=size, mode=mode)
    part_of(upload).touch()
    return upload


def have(upload: Upload) -> int:
    """Bytes that have arrived."""
    if upload.file_id:
        return upload.size
    try:
        return part_of(upload).stat().st_size
    except FileNotFoundError:
        return 0


def append(upload: Upload, offset: int, pieces: Iterable[bytes]) -> int:
    """Write what comes at `offset`; what arrived is kept even if the rest never comes. Raises WrongOffset, NoRoom, ValueError."""
    with open(part_of(upload), "ab") as part:
        fcntl.flock(part, fcntl.LOCK_EX)
        end = part.seek(0, os.SEEK_END)
        if offset != end:
            raise WrongOffset(end)
        try:
            for piece in pieces:
                if end + len(piece) > upload.size:
                    raise ValueError("more bytes than were announced")
                part.write(piece)
                end += len(piece)
        except OSError as error:
            if places.is_full(error):
                raise NoRoom(upload.size - end, 0) from error
            raise
    return end


def finish(upload: Upload) -> StoredFile:
    """The whole part file becomes a stored file; a second call returns the same."""
    with open(part_of(upload), "ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        upload.refresh_from_db()
        if upload.file is None:
            _finish(upload)
    part_of(upload).unlink(missing_ok=True)
    return upload.file  # type: ignore[return-value]


def _finish(upload: Upload) -> None:
    """Hash and store outside of the transaction: both take long for big files."""
    part = part_of(upload)
    with open(part, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    key = _stored(part, upload.owner_id)
    with transaction.atomic():
        upload.file = StoredFile.objects.create(
            owner_id=upload.owner_id, name=upload.name, size=upload.size, sha256=digest, key=key, mode=upload.mode
        )
        upload.save(update_fields=["file"])


def keep(owner: Any, name: str, content: BinaryIO, size: int, mode: int = 0o644) -> StoredFile:
    """A small file that is here already: what a form without JavaScript sends, or a sample. Raises NoRoom."""
    upload = begin(owner, name, size, mode)
    append(upload, 0, iter(lambda: content.read(PIECE), b""))
    return finish(upload)


def keep_once(owner: Any, name: str, size: int, sha256: str, pieces: Iterable[bytes]) -> StoredFile:
    """A file that lies elsewhere in storage, for this owner too; the same bytes under the same name once. Raises NoRoom."""
    same = StoredFile.objects.filter(owner=owner, deleted__isnull=True, name=name, sha256=sha256, size=size)
    known = same.first() if sha256 else None
    if known is None:
        upload = begin(owner, name, size)
        append(upload, 0, pieces)
        known = finish(upload)
    return known


def drop(upload: Upload) -> None:
    """Forget an upload that nobody will finish."""
    part_of(upload).unlink(missing_ok=True)
    upload.delete()


def part_of(upload: Upload) -> Path:
    return Path(settings.UPLOADS_DIR) / f"{upload.public_id}.part"


def _forget_old(owner: Any) -> None:
    """Drop what this owner began long ago and never finished."""
    for upload in Upload.objects.filter(owner=owner, file__isnull=True, made__lt=timezone.now() - OLD):
        drop(upload)


def _promised() -> int:
    """Bytes that uploads of the last day may still bring."""
    living = Upload.objects.filter(file__isnull=True, made__gt=timezone.now() - timedelta(days=1))
    return sum(max(0, upload.size - have(upload)) for upload in living)


def _stored(part: Path, owner: int) -> str:
    """The part file's bytes in storage; where storage is a folder on the same disk no second copy is made."""
    name = f"inputs/{owner}/{public_id(12)}"
    inside = places.path_of(name)
    if inside is None:
        with open(part, "rb") as file:
            return default_storage.save(name, File(file))
    target = Path(inside)
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(part, target)
    except OSError:
        shutil.copyfile(part, target)
    return name
