"""How gmx was called: which parts of a command are mdrun, and which files its options name.

The one idea: mdrun's files have usual names, which -deffnm and single options change.
"""

from __future__ import annotations

import posixpath
import re

from .base import Files
from .sources import Part
from .text import words


def mdruns_of(found: list[Part]) -> list[Part]:
    return [
        part for part in found if any(word == "mdrun" or re.match(r"^mdrun(?:_\w+)?$", posixpath.basename(word)) for word in part.words)
    ]


def files_of(part: Part, option: str, suffix: str, usual: str) -> list[str]:
    """The file that mdrun uses for an option: named, by -deffnm, or the usual one."""
    said = dict(zip(part.words, part.words[1:], strict=False))
    if option in said:
        name = said[option]
        return [part.place(name if "." in posixpath.basename(name) else name + suffix)]
    return [part.place(said["-deffnm"] + suffix) if "-deffnm" in said else part.place(usual)]


def called(folder: Files, log: str) -> str:
    """The command line that an md.log begins with."""
    match = re.search(r"Command line:\s*\n\s*(.+)", words(folder, log, 64 << 10))
    return match[1] if match else ""
