"""Safe fixes of findings, with one click on the form: a byte-order mark, Windows line ends, the x bit, a name.

One idea: a stored file is never changed, for other jobs may use it; the fix makes a new file and the row of the form takes it.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.core.files.storage import default_storage

from portal import storing, words

from .job import InputRow, fresh
from .names import clean_path

LARGEST = 64 << 20
"""Bytes of a file that is rewritten with one click."""
MARK = b"\xef\xbb\xbf"
REWRITES: dict[str, Callable[[bytes], bytes]] = {
    "strip-bom": lambda data: data.removeprefix(MARK),
    "unix-line-ends": lambda data: data.replace(b"\r\n", b"\n"),
    "executable": lambda data: data,
}
WORDS = {"strip-bom": "Strip it", "unix-line-ends": "Write Unix line ends", "executable": "Make it executable"}


def word_of(code: str | None, file: str | None) -> str:
    """What the button says; empty for a fix that is not offered here."""
    if not code or not file:
        return ""
    name, _, to = code.partition(":")
    return f"Rename to {to}" if name == "rename" and to else WORDS.get(code, "")


def apply(code: str, path: str, rows: Sequence[InputRow], owner: Any) -> str:
    """Fix the input that the job folder calls `path`; a sentence if that can't be done, else empty."""
    row = next((row for row in rows if row.path == path), None)
    if row is None:
        return f"{path} is not among the inputs; it may lie inside an archive."
    name, _, to = code.partition(":")
    if name == "rename":
        return _rename(row, to)
    if code not in REWRITES:
        return "There is no such fix."
    if row.file.size > LARGEST:
        return f"{path} is larger than {words.size(LARGEST)}; mend it on your side and upload it again."
    return _rewrite(row, code, owner)


def _rename(row: InputRow, to: str) -> str:
    try:
        row.path = clean_path(to)
    except ValidationError as error:
        return error.messages[0]
    return ""


def _rewrite(row: InputRow, code: str, owner: Any) -> str:
    with default_storage.open(row.file.key, "rb") as file:
        data = REWRITES[code](file.read())
    mode = 0o755 if code == "executable" else row.file.mode
    try:
        made = fresh(storing.keep(owner, row.file.name, io.BytesIO(data), len(data), mode))
    except storing.NoRoom as full:
        return str(full)
    row.key, row.file = made.key, made.file
    return ""
