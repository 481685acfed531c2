"""Names that files have in a home while they are brought, and that nothing else has.

The one idea: a name is drawn and marked before anything is written under it. So whoever dies, it is known what is the agent's
and what its user's own, and copies of the home leave it out.
"""
import os
import secrets
from typing import List, NamedTuple, Optional

from . import marks
from .config import Config
from .folder import parts
from .wire import raw, text

_PREFIX = b".bringing-"
_MARK, _END = "bringing-", ".json"  # around the file's number: {"path", "name"}


class Hidden(NamedTuple):
    """`path`: where the file is to be; `name`: what it has until then, in the same folder."""

    path: bytes
    name: bytes


def take(config: Config, code: str, path: bytes) -> Hidden:
    """The name of a file that is brought, as before if somebody died over it. Raises Refused for a path that may not be used."""
    known = of(config, code)
    if known is None:
        known = Hidden(b"/".join(parts(path)), _PREFIX + secrets.token_hex(16).encode("ascii"))
        marks.write(config.folder, _MARK + code + _END, {"path": text(known.path), "name": text(known.name)})
    return known


def of(config: Config, code: str) -> Optional[Hidden]:
    mark = marks.read(config.folder, _MARK + code + _END)
    return Hidden(raw(mark["path"]), raw(mark["name"])) if mark else None


def codes(config: Config) -> List[str]:
    """The numbers of the files that have one."""
    found = os.listdir(config.folder)
    return [name[len(_MARK):-len(_END)] for name in found if name.startswith(_MARK) and name.endswith(_END)]


def free(config: Config, code: str) -> None:
    """Nothing has it any more."""
    marks.forget(config.folder, _MARK + code + _END)


def is_one(config: Config, path: bytes) -> bool:
    """Whether a path of the home is such a name."""
    above, slash, name = path.rpartition(b"/")
    if not name.startswith(_PREFIX):
        return False
    known = (of(config, code) for code in codes(config))
    return any(one and one.name == name and one.path.rpartition(b"/")[0] == above for one in known)
