"""Files up and down: in pieces, going on after a cut where it broke, with checksums.

One idea: the other side says how much it has. An upload asks the portal and goes on from there; a download goes on from its
own part file, and only if the portal still has the same bytes (If-Range). What does not have its checksum is not kept.
"""

from __future__ import annotations

import base64
import hashlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import httpx

from .api import TRIES, Api, Refused, reason

CHUNK = 8 << 20
PIECE = 1 << 20
Tell = Callable[[int], Any]
"""Called with the number of bytes that have moved since the last call; may be negative."""


def upload(api: Api, path: Path, name: str, tell: Tell) -> str:
    """The id of the file that it has become."""
    size, mode = path.stat().st_size, "755" if os.access(path, os.X_OK) else "644"
    told = ",".join(f"{key} {base64.b64encode(os.fsencode(value)).decode()}" for key, value in (("relativePath", name), ("mode", mode)))
    answer = api.ask("POST", "/uploads/", headers={"Tus-Resumable": "1.0.0", "Upload-Length": str(size), "Upload-Metadata": told})
    place, offset, tries = answer.headers["Location"], 0, 0
    with path.open("rb") as file:
        while "Headrace-File" not in answer.headers:
            file.seek(offset)
            try:
                answer = _chunk(api, place, offset, file.read(CHUNK))
                tries = 0
            except (httpx.TransportError, Refused) as error:
                tries += 1
                if tries == TRIES or (isinstance(error, Refused) and 0 < error.status < 500):
                    raise
                time.sleep(0.5 * 2**tries)
                answer = api.ask("HEAD", place)
            reached = int(answer.headers["Upload-Offset"])
            tell(reached - offset)
            offset = reached
    return str(answer.headers["Headrace-File"])


def _chunk(api: Api, place: str, offset: int, data: bytes) -> httpx.Response:
    headers = {"Tus-Resumable": "1.0.0", "Upload-Offset": str(offset), "Content-Type": "application/offset+octet-stream"}
    return api.ask("PATCH", place, good=(409,), content=data, headers=headers)


def download(api: Api, file: dict[str, Any], folder: Path, tell: Tell) -> Path:
    """The file below `folder`, under its own path; what is there with the same checksum is not fetched again."""
    target = inside(folder, path_of(file))
    if target.is_file() and file["sha256"] and digest(target) == file["sha256"]:
        tell(file["size"])
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name[:200]}.{file['id']}.part")
    _fetch(api, file, part, tell)
    if file["sha256"] and digest(part) != file["sha256"]:
        part.unlink()
        raise Refused(0, f"{file['relativePath']} did not arrive as it was sent; fetch it again.")
    part.replace(target)
    return target


def _fetch(api: Api, file: dict[str, Any], part: Path, tell: Tell) -> None:
    address = httpx.URL(file["downloadUrl"]).raw_path.decode()
    have = part.stat().st_size if part.exists() else 0
    tell(have)
    for number in range(TRIES):
        have = part.stat().st_size if part.exists() else 0
        headers = {"Range": f"bytes={have}-", "If-Range": f'"{file["sha256"]}"'} if have and file["sha256"] else {}
        try:
            with api.http.stream("GET", address, headers=headers) as answer:
                if answer.status_code == 416:
                    return
                _keep(answer, part, have, tell)
            return
        except httpx.TransportError as error:
            if number == TRIES - 1:
                raise Refused(0, f"{file['relativePath']}: {error or type(error).__name__}; run it again to go on.") from error
            time.sleep(0.5 * 2**number)


def _keep(answer: httpx.Response, part: Path, have: int, tell: Tell) -> None:
    if answer.status_code not in {200, 206}:
        answer.read()
        raise Refused(answer.status_code, reason(answer))
    if answer.status_code == 200 and have:
        tell(-have)
    with part.open("ab" if answer.status_code == 206 else "wb") as target:
        for piece in answer.iter_raw(PIECE):
            target.write(piece)
            tell(len(piece))


def path_of(file: dict[str, Any]) -> str:
    """Its path in the job folder, byte for byte, as Python writes paths."""
    exact = file.get("pathBytes")
    return os.fsdecode(base64.b64decode(exact)) if exact else str(file["relativePath"])


def inside(folder: Path, name: str) -> Path:
    """A path below `folder` and nowhere else, whatever the name says."""
    parts = [part for part in PurePosixPath(name.replace("\0", "")).parts if part not in {"/", "..", "."}]
    if not parts:
        raise Refused(0, f"{name!r} is no name for a file.")
    return folder.joinpath(*parts)


def found_in(folder: Path) -> Iterator[tuple[Path, str]]:
    """Every file below a folder with its path in the job folder; links are left out."""
    for place, names, files in os.walk(folder):
        names.sort()
        for name in sorted(files):
            path = Path(place) / name
            if path.is_file() and not path.is_symlink():
                yield path, path.relative_to(folder).as_posix()


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
