"""My files: each with the jobs that use it, and what is asked before one goes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from jobs import stored
from jobs.models import StoredFile, Workload
from portal import words

from .text import plural
from .values import Question

SHOWN = 30


@dataclass(frozen=True)
class Use:
    """A job that uses a file; without an address where the viewer may not see it."""

    name: str
    href: str
    status: Any


@dataclass(frozen=True)
class FileRow:
    file: StoredFile
    uses: list[Use]
    more: int

    @property
    def folder(self) -> str:
        return self.file.name.rpartition("/")[0]

    @property
    def name(self) -> str:
        return self.file.name.rpartition("/")[2]


def rows(files: Iterable[StoredFile], user: Any) -> list[FileRow]:
    files = list(files)
    uses = stored.uses_of(files)
    seen = _seen({work.pk for one in uses.values() for work in one.newest}, user)
    return [_row(file, uses.get(file.pk) or stored.Uses(), seen) for file in files]


def used(file: StoredFile, user: Any) -> str:
    """The sentence for a file that can't be deleted now."""
    works = list(stored.needed_by(file)[: SHOWN + 1])
    names = [use.name for use in _uses(works[:3], _seen({work.pk for work in works}, user))]
    rest = f" and {plural(len(works) - 3, 'other')}" if len(works) > 3 else ""
    return f"{', '.join(names)}{rest} {'needs' if len(works) == 1 else 'need'} it. Stop or delete what needs it first."


def delete(file: StoredFile, user: Any) -> Question:
    """What goes: the bytes, or only the entry in the list where jobs that are over keep it."""
    works = list(stored.jobs_with(file)[: SHOWN + 1])
    uses = _uses(works[:SHOWN], _seen({work.pk for work in works}, user))
    loses = [(use.name, use.status.label) for use in uses]
    if len(works) > SHOWN:
        loses.append((f"and {stored.jobs_with(file).count() - SHOWN} more", ""))
    text = f"No job uses it. Its {words.size(file.size)} are gone for good."
    if works:
        text = ("It goes from My files. These jobs are over and keep it among their inputs; they can be cloned with it. "
                f"Its {words.size(file.size)} are freed when the last of them is deleted.")
    action, back = reverse("file-delete", args=[file.public_id]), reverse("files")
    return Question(f"Delete {words_of(file.name)}?", "Delete", action, back, text, "trash", "fail", "Keep it", loses=loses)


def words_of(name: str) -> str:
    """A file's name that fits into a title."""
    return name if len(name) <= 60 else f"{name[:28]}…{name[-30:]}"


def _row(file: StoredFile, uses: stored.Uses, seen: set[int]) -> FileRow:
    return FileRow(file, _uses(uses.newest, seen), max(0, uses.count - len(uses.newest)))


def _uses(works: Iterable[Workload], seen: set[int]) -> list[Use]:
    return [_use(work, work.pk in seen) for work in works]


def _use(work: Workload, seen: bool) -> Use:
    if not seen:
        return Use("A job of somebody else", "", work.row)
    return Use(work.name, reverse("job", args=[work.public_id]), work.row)


def _seen(ids: set[int], user: Any) -> set[int]:
    return set(Workload.objects.visible_to(user).filter(pk__in=ids).values_list("pk", flat=True))
