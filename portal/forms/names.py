"""Names from outside: of files, jobs and variables. They are labels; nothing here is ever used as a path on the portal.

One idea: what cannot be the same on the node is refused with the reason, everything else stays exactly as it was typed.
"""

from __future__ import annotations

import re
import unicodedata

from django.core.exceptions import ValidationError

from jobs.names import raw, shown

LONGEST_PART = 255
LONGEST_PATH = 1024
LONGEST_SHOWN = 4 * LONGEST_PATH
"""Each byte may be written \\xHH."""
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
RESERVED = ("HEADRACE_", "LD_PRELOAD")


def given_path(name: str | bytes) -> str:
    """`clean_path` of a name that is not written as text yet: it comes from a file system, or from an archive."""
    return clean_path(shown(name))


def clean_path(text: str) -> str:
    """A relative POSIX path as the job folder will hold it, written as jobs.names says. Raises ValidationError with words for people."""
    try:
        name = raw(text)
    except UnicodeEncodeError:
        raise ValidationError("The name holds characters that no file name can hold.") from None
    if b"\0" in name:
        raise ValidationError("A name can't hold a NUL byte.")
    if name.startswith(b"/"):
        raise ValidationError("The name must be relative to the job folder; it can't start with a slash.")
    parts = [part for part in name.split(b"/") if part not in (b"", b".")]
    if not parts or name.endswith(b"/"):
        raise ValidationError("A file needs a name.")
    for part in parts:
        _clean_part(part)
    clean = b"/".join(parts)
    if len(clean.decode("utf-8", "surrogateescape")) > LONGEST_PATH:
        raise ValidationError(f"The path is longer than {LONGEST_PATH:,} characters.")
    return shown(clean)


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


def _clean_part(part: bytes) -> None:
    if part == b"..":
        raise ValidationError("The name can't lead out of the job folder; it can't hold \u201c..\u201d as a folder.")
    if len(part) > LONGEST_PART:
        raise ValidationError(f"A file or folder name can't be longer than {LONGEST_PART} bytes; this one has {len(part):,}.")
