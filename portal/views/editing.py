"""What the pages on which admins change something have in common: who may, who was first, the audit entry, who is woken.

One idea: `version` counts the edits of a row. A form carries the one that it was opened with; of two that carry the same
the first is saved, and the second is told and keeps what was typed.
"""

from __future__ import annotations

from typing import Any, TypeVar

from django import forms
from django.core.exceptions import PermissionDenied
from django.db.models import F, Model, QuerySet
from django.http import HttpRequest

from jobs import lifecycle
from jobs.models import AuditEntry, Workload, touch
from jobs.models.roles import is_admin

from .access import address

Row = TypeVar("Row", bound=Model)

LATER = "Somebody else changed it while you did. What you typed is still here; what holds now is on its page."
GONE = "Somebody else deleted it while you did. What you typed is still here."
TAKEN = "Somebody else has just made one with this code."
LONGEST = 300
WOKEN = 1000


def only_admins(request: HttpRequest, why: str) -> None:
    """Raises PermissionDenied with these words."""
    if not is_admin(request.user):
        raise PermissionDenied(why)


def first_to_save(form: forms.BaseForm, rows: QuerySet[Row], pk: int) -> Row | None:
    """The row, locked; None, with the error on the form, if it was changed since the form was opened. In a transaction."""
    row = locked(rows, pk)
    if row is not None and row.version == form.cleaned_data["version"]:  # type: ignore[attr-defined]
        return row
    form.add_error(None, LATER if row is not None else GONE)  # type: ignore[attr-defined]
    return None


def locked(rows: QuerySet[Row], pk: int) -> Row | None:
    """The row, locked; None if somebody has deleted it. In a transaction."""
    return rows.select_for_update().filter(pk=pk).first()


def switched(request: HttpRequest, row: Model, active: bool, words: tuple[str, str], **detail: Any) -> bool:
    """Make it active, or no longer so, and note it in these words (on, off); False if it stood so already. In a transaction."""
    rows = type(row)._default_manager.filter(pk=row.pk, active=not active)
    if not rows.update(active=active, version=F("version") + 1):
        return False
    AuditEntry.note(request.user, words[0 if active else 1], row, address(request), values={"active": [not active, active]}, **detail)
    return True


def values(form: Any) -> dict[str, list[str]]:
    """Before and after of every field that was changed, by its name, for the audit log."""
    found = {}
    for name in form.changed_data:
        before = form.initial.get(name, "")
        found[name] = [str("" if before is None else before)[:LONGEST], str(form.cleaned_data.get(name, ""))[:LONGEST]]
    found.pop("version", None)
    return found


def wake(**which: Any) -> None:
    """Queued work is looked at again at once: all of it, or that with these columns."""
    touch(list(Workload.objects.filter(status=lifecycle.QUEUED, **which).values_list("pk", flat=True)[:WOKEN]))
