"""Its home in words: how old the last copy is, what it has, what is not in it; who is connected; the links that were shared."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from jobs import lifecycle
from jobs.models import HomeCopy
from portal import words

from ..text import plural, who
from .facts import WorkstationFacts


@dataclass(frozen=True)
class CopyRow:
    code: str
    at: datetime
    why: str
    size: int
    files: str
    skipped: list[tuple[str, str]]
    more: str
    current: bool
    lacks: str = ""


@dataclass(frozen=True)
class HomeCard:
    """`at` None: there is no copy yet."""

    at: datetime | None
    says: str
    every: str
    rows: list[CopyRow]
    lacks: str = ""
    older: datetime | None = None
    """When the newest copy was made that lacks nothing, if that is another one."""


@dataclass(frozen=True)
class ViewerRow:
    name: str
    looks: bool


@dataclass(frozen=True)
class ShareRow:
    pk: int
    by: str
    made: datetime
    expires: datetime
    anyone: bool


def card(facts: WorkstationFacts) -> HomeCard | None:
    if facts.work.status == lifecycle.DRAFT:
        return None
    home = facts.home
    if home is None:
        filled = facts.cluster is not None and facts.cluster.started is not None
        says = "What is in it would be lost with its node." if filled else "It begins empty."
        return HomeCard(None, says, _every(facts), [])
    return HomeCard(home.whole, summary(home), _every(facts), rows(facts), lacks(home), _older(facts) if home.unread else None)


def rows(facts: WorkstationFacts) -> list[CopyRow]:
    return [_row(copy, at == 0) for at, copy in enumerate(facts.copies)]


def summary(copy: HomeCopy) -> str:
    """1.2 GiB, 4,102 files, 3 skipped."""
    parts = [words.size(copy.size), plural(copy.files, "file")]
    if copy.unread:
        parts.append(f"{words.count(copy.unread)} could not be read")
    if skipped := max(0, len(copy.skipped) - copy.unread):
        parts.append(f"{words.count(skipped)} skipped")
    if copy.changed:
        parts.append(f"{words.count(copy.changed)} changed while it was made")
    return ", ".join(parts)


def lacks(copy: HomeCopy) -> str:
    """What a failing disk kept out of it, the first by name."""
    if not copy.unread:
        return ""
    names = ", ".join(str(path) for path, _ in copy.skipped[: min(3, copy.unread)])
    more = f" and {words.count(copy.unread - 3)} more" if copy.unread > 3 else ""
    return f"The disk of its node did not give {names}{more}; not in this copy."


def viewers(facts: WorkstationFacts) -> list[ViewerRow]:
    return [ViewerRow(one["viewer"], one["mode"] != "act") for one in facts.viewers]


def shares(facts: WorkstationFacts) -> list[ShareRow]:
    return [ShareRow(one.pk, who(one.made_by), one.made, one.expires, not one.signed_in) for one in facts.shares]


# --- private ----------------------------------------------------------------------------------------------------------
def _row(copy: HomeCopy, current: bool) -> CopyRow:
    skipped = [(str(path), str(why)) for path, why in copy.skipped]
    made = copy.whole or copy.made
    files = plural(copy.files, "file")
    return CopyRow(copy.code, made, copy.get_why_display(), copy.size, files, skipped, summary(copy), current, lacks(copy))


def _older(facts: WorkstationFacts) -> datetime | None:
    return next((copy.whole for copy in facts.copies if not copy.unread), None)


def _every(facts: WorkstationFacts) -> str:
    if facts.is_over:
        return "The last copies are kept until it is deleted."
    often = words.duration(facts.kind.copy_every)
    return f"A copy is made every {often} while anything changes, at suspend and at the end; the last two are kept."
