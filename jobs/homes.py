"""Copies of workstations' homes: bytes that agents send, in file storage; a row a copy.

One idea: room is reserved before a session is ended, and a copy counts only once the portal's own hash of the stored bytes
agrees. Nothing is deleted before something newer is whole: the last two whole copies stay. Names are made of ids here; no
path from a node is ever used.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import hashlib
import os
import re
import shutil
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from django.core.files.storage import default_storage
from django.db import transaction

from . import logs, places
from .models import HomeCopy, Workload, Workstation, touch
from .models.fields import fit
from .outputs import Damaged, PastEnd

KEPT = 2
"""Whole copies of a home that stay; older ones go."""
CODE = re.compile(r"[0-9a-f]{8,32}")
"""A copy's name, which its agent gives it."""
SKIPPED = 100
"""Paths that are kept of what a copy left out."""
KEEP_SIZE = 1
"""FALLOC_FL_KEEP_SIZE of fallocate(2): blocks are taken, the file stays as long as it is."""


HASHED_AT_ONCE = 256
"""Copies on their way whose hashes are kept up; of others it is read from the file in the end."""

_libc = ctypes.CDLL(None, use_errno=True)
_hashes: dict[str, tuple[int, Any]] = {}
"""By path of what arrives: how many bytes of it, and their hash so far."""


class Caller(Protocol):
    """Whose home it is: the agent that speaks (gateway.Caller)."""

    workload_id: int
    public_id: str
    attempt: int


# --- what agents send -------------------------------------------------------------------------------------------------
def room(caller: Caller, report: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """Reserve room for a copy of at most `size` bytes, or say in words why there is none. Older unfinished ones are dropped."""
    code, why, size = _code(report["copy"]), HomeCopy.Why(str(report["why"])), int(report["size"])
    station = Workstation.objects.select_related("kind").get(pk=caller.workload_id)
    _drop_unfinished(station, but=code)
    if station.copies.filter(code=code, whole__isnull=False).exists():
        return _no("This copy is whole already.")
    if size > station.kind.home_limit:
        return _no(f"The home has {_words(size)}; at most {_words(station.kind.home_limit)} are kept. Delete something from it.")
    try:
        _reserve(_part(caller.public_id, caller.attempt, code), size)
    except OSError as error:
        if not places.is_full(error):
            raise
        free = _words(shutil.disk_usage(_folder(caller.public_id, caller.attempt)).free)
        text = f"The home needs {_words(size)} in the file storage, which has {free} free and keeps {_words(places.SPARE)} of that."
        return _no(f"{text} Ask an admin for room.")
    values = {"attempt": caller.attempt, "why": why, "size": size, "files": int(report.get("files") or 0), "made": now}
    HomeCopy.objects.get_or_create(workstation=station, code=code, defaults=values)
    return {"ok": True, "message": ""}


def write(caller: Caller, copy: str, offset: int, data: bytes) -> int:
    """Keep a piece; how many bytes are there. Raises PastEnd, and OSError (ENOSPC) if the reservation did not hold."""
    part = _part(caller.public_id, caller.attempt, _code(copy))
    with part.open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        have = file.seek(0, os.SEEK_END)
        if offset > have or offset + len(data) < have:
            raise PastEnd(have)
        fresh = memoryview(data)[have - offset :]
        file.write(fresh)
        file.flush()
        _hashed(str(part), have, fresh)
        return have + len(fresh)


def whole(caller: Caller, report: Mapping[str, Any], now: datetime) -> None:
    """The copy is complete: checked by its hash, moved into storage, current from now on. Raises Damaged. May be repeated."""
    copy = HomeCopy.objects.get(workstation=caller.workload_id, code=_code(report["copy"]))
    if copy.whole:
        return
    size, digest = int(report["size"]), str(report["sha256"])
    key = _store(caller, copy.code, size, digest)
    facts = {"size": size, "sha256": digest, "key": key, "whole": now, "skipped": _skipped(report.get("skipped"))}
    counts = {name: int(report.get(name) or 0) for name in ("files", "changed", "unread")}
    with transaction.atomic():
        HomeCopy.objects.filter(pk=copy.pk, whole__isnull=True).update(**facts, **counts)
        touch([caller.workload_id], now, due=False)
    prune(caller.workload_id)


# --- for the engine and the pages -------------------------------------------------------------------------------------
def latest(ids: list[int]) -> dict[int, HomeCopy]:
    """The last whole copy by workload id."""
    found: dict[int, HomeCopy] = {}
    if not ids:
        return found
    for copy in HomeCopy.objects.filter(workstation__in=ids, whole__isnull=False).order_by("pk"):
        found[copy.workstation_id] = copy
    return found


def trouble(copy: HomeCopy) -> str:
    """What is wrong with the stored bytes, as far as their length tells; empty if nothing. Asks the storage."""
    try:
        size = default_storage.size(copy.key)
    except FileNotFoundError:
        return f"The copy of the home from {copy.whole:%Y-%m-%d %H:%M} UTC is not in the file storage any more."
    if size != copy.size:
        return f"The copy of the home from {copy.whole:%Y-%m-%d %H:%M} UTC is damaged: {size} of {copy.size} bytes are there."
    return ""


def open_copy(copy: HomeCopy) -> BinaryIO:
    """Its bytes, a tar. Raises FileNotFoundError."""
    return default_storage.open(copy.key, "rb")  # type: ignore[return-value]


def prune(workload: int) -> None:
    """Delete all but the last KEPT whole copies, and the last one before them that lacks nothing, if they all do."""
    copies = list(HomeCopy.objects.filter(workstation=workload, whole__isnull=False).order_by("-pk"))
    kept = copies[:KEPT]
    if all(copy.unread for copy in kept):
        kept += [copy for copy in copies[KEPT:] if not copy.unread][:1]
    for copy in (copy for copy in copies if copy not in kept):
        key = copy.key
        copy.delete()
        default_storage.delete(key)


def forget_unfinished(works: list[Workload]) -> None:
    """Their clusters are gone: what has not arrived never will."""
    for station in Workstation.objects.filter(pk__in=[work.pk for work in works if work.kind == "workstation"]):
        _drop_unfinished(station)


def keys_of(work: Workload) -> list[str]:
    """Where its copies are in storage."""
    return list(HomeCopy.objects.filter(workstation=work.pk).exclude(key="").values_list("key", flat=True))


def delete(keys: list[str]) -> None:
    """The bytes of copies whose rows are gone."""
    for key in keys:
        default_storage.delete(key)


# --- private ----------------------------------------------------------------------------------------------------------
def _code(text: Any) -> str:
    if not isinstance(text, str) or not CODE.fullmatch(text):
        raise ValueError("a copy's name is 8 to 32 hexadecimal digits")
    return text


def _no(message: str) -> dict[str, Any]:
    return {"ok": False, "message": message}


def _words(size: int) -> str:
    return f"{size / (1 << 30):.1f} GiB" if size >= 1 << 30 else f"{size / (1 << 20):.1f} MiB"


def _drop_unfinished(station: Workstation, but: str = "") -> None:
    for copy in station.copies.filter(whole__isnull=True).exclude(code=but):
        _part(station.workload.public_id, copy.attempt, copy.code).unlink(missing_ok=True)
        copy.delete()


def _part(public_id: str, attempt: int, code: str) -> Path:
    """Where a copy arrives: within storage where that is a folder, so that it becomes current by one rename."""
    return _folder(public_id, attempt) / f"{code}.part"


def _folder(public_id: str, attempt: int) -> Path:
    inside = places.path_of(f"homes/{public_id}")
    return Path(inside) if inside else Path(logs.attempt_dir(public_id, attempt)) / "home"


def _reserve(part: Path, size: int) -> None:
    """Take the blocks now, so that they are there when the session has ended. Raises OSError (ENOSPC)."""
    part.parent.mkdir(parents=True, exist_ok=True)
    with part.open("ab") as file:
        if size > places.room(part.parent):
            part.unlink(missing_ok=True)
            raise places.full_disk()
        if size and _libc.fallocate(file.fileno(), KEEP_SIZE, ctypes.c_long(0), ctypes.c_long(size)) != 0:
            number = ctypes.get_errno()
            if number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                part.unlink(missing_ok=True)
                raise OSError(errno.ENOSPC, os.strerror(number))  # others: the file system cannot reserve, free space must do


def _store(caller: Caller, code: str, size: int, digest: str) -> str:
    """The checked bytes in storage; their key. What a crash left between the move and the row is taken as it is."""
    part, key = _part(caller.public_id, caller.attempt, code), f"homes/{caller.public_id}/{code}"
    if not part.exists() and default_storage.exists(key):
        with default_storage.open(key, "rb") as stored:
            if hashlib.file_digest(stored, "sha256").hexdigest() == digest:  # type: ignore[arg-type]
                return key
    with part.open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if file.seek(0, os.SEEK_END) != size or _digest_of(part, file) != digest:
            file.truncate(0)
            raise Damaged(code)
        file.truncate(size)  # gives back what was reserved beyond
        os.fsync(file.fileno())
    return _moved(part, key)


def _hashed(name: str, have: int, data: memoryview) -> None:
    """Of a copy whose parts all come through this process the hash is known with its last one. Under the lock of its file."""
    known = (0, hashlib.sha256()) if have == 0 else _hashes.pop(name, None)
    if known is None or known[0] != have:
        return
    known[1].update(data)
    _hashes[name] = (have + len(data), known[1])
    while len(_hashes) > HASHED_AT_ONCE:
        _hashes.pop(list(_hashes)[0], None)


def _digest_of(part: Path, file: BinaryIO) -> str:
    """Of all its bytes; read again only if some of them came through another process."""
    size, known = _hashes.pop(str(part), (-1, None))
    if known is not None and size == file.seek(0, os.SEEK_END):
        return known.hexdigest()
    file.seek(0)
    return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]


def _moved(part: Path, key: str) -> str:
    try:
        return places.moved(part, key)
    except FileNotFoundError:
        if not default_storage.exists(key):  # else the same report came twice, and the other one was through first
            raise
    return key


def _skipped(pairs: Any) -> list[list[str]]:
    """Pairs of path and reason, as text that a column takes."""
    found = [pair for pair in pairs or [] if isinstance(pair, list | tuple) and len(pair) == 2][:SKIPPED]
    return [[fit(str(part), 1024) for part in pair] for pair in found]
