"""Names from outside: of files, jobs and variables. They are labels; nothing here is ever used as a path on the portal.

One idea: what cannot be the same on the node is refused with the reason, everything else stays exactly as it was typed.
"""

from __future__ import annotations

import re
import unicodedata

from django.core.exceptions import ValidationError

LONGEST_PART = 255
LONGEST_PATH = 1024
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
RESERVED = ("HEADRACE_", "LD_PRELOAD")


def clean_path(text: str) -> str:
    """A relative POSIX path as the job folder will hold it. Raises ValidationError with words for people."""
    if not text:
        raise ValidationError("A file needs a name.")
    if "\0" in text:
        raise ValidationError("A name can't hold a NUL byte.")
    if any(letter in text for letter in "\n\r"):
        raise ValidationError("A name can't hold a line break.")
    if text.startswith("/"):
        raise ValidationError("The name must be relative to the job folder; it can't start with a slash.")
    parts = [part for part in text.split("/") if part not in ("", ".")]
    if not parts or text.endswith("/"):
        raise ValidationError("A file needs a name.")
    for part in parts:
        _clean_part(part)
    path = "/".join(parts)
    if len(path) > LONGEST_PATH:
        raise ValidationError(f"The path is longer than {LONGEST_PATH:,} characters.")
    return path


def clean_title(text: str) -> str:
    """The name of a job: one line of anything but control characters."""
    if any(unicodedata.category(letter) == "Cc" for letter in text):
        raise ValidationError("A name is one line without control characters.")
    return text.strip()


def clean_environment(text: str) -> dict[str, str]:
    """NAME=value, one a line; empty lines and lines that start with # are left out."""
    found: dict[str, str] = {}
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, equals, value = line.partition("=")
        name = name.strip().removeprefix("export ").strip()
        if not equals or not VARIABLE.match(name):
            raise ValidationError(f"Line {number} is not NAME=value.")
        if name.startswith(RESERVED):
            raise ValidationError(f"Line {number}: {name} can't be set for a job.")
        found[name] = value
    return found


def _clean_part(part: str) -> None:
    if part == "..":
        raise ValidationError("The name can't lead out of the job folder; it can't hold \u201c..\u201d as a folder.")
    try:
        size = len(part.encode())
    except UnicodeEncodeError:
        raise ValidationError("The name holds characters that no file name can hold.") from None
    if size > LONGEST_PART:
        raise ValidationError(f"A file or folder name can't be longer than {LONGEST_PART} bytes; this one has {size:,}.")
