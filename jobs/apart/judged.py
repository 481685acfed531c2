"""The child's answer to "judge": the verdict on a run that is over."""

from __future__ import annotations

from typing import Any

from .. import verdicts
from .files import received


def judge(values: dict[str, Any]) -> dict[str, Any]:
    """`values`: software, version, files, ending, command, log (the name of the file with stdout, or None)."""
    ending = dict(values["ending"])
    ending["pipe"] = tuple(ending["pipe"]) if ending["pipe"] else None
    files, version = received(values["files"]), values.get("version", "")
    found = verdicts.judge(values["software"], files, verdicts.Ending(**ending), values["command"], values["log"], version)
    return found.as_dict() | {"at": found.at}
