"""What all pages of the administration have in common: the audit log, money fields, pages that may only be looked at."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.db.models import Field, Model, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from unfold.admin import ModelAdmin
from unfold.widgets import UnfoldAdminDecimalFieldWidget

from jobs.models import AuditEntry, MoneyField, Workload, touch
from portal.views.access import address

SECRET = ("password", "password1", "password2", "usable_password")
WOKEN = 1000


class Audited(ModelAdmin):
    """Every change goes to the audit log, with the values before and after."""

    show_full_result_count = False

    def save_model(self, request: HttpRequest, obj: Model, form: forms.ModelForm, change: bool) -> None:
        request.audit_values = changes(form) if change else {}  # type: ignore[attr-defined]
        super().save_model(request, obj, form, change)

    def log_addition(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        self.note(request, "add", obj)
        return super().log_addition(request, obj, message)

    def log_change(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        if message:
            self.note(request, "change", obj, values=getattr(request, "audit_values", {}), message=message)
        return super().log_change(request, obj, message)

    def log_deletions(self, request: HttpRequest, queryset: QuerySet[Any]) -> Any:
        for obj in queryset:
            self.note(request, "delete", obj)
        return super().log_deletions(request, queryset)

    def formfield_for_dbfield(self, db_field: Field, request: HttpRequest, **kwargs: Any) -> Any:
        if not isinstance(db_field, MoneyField):
            return super().formfield_for_dbfield(db_field, request, **kwargs)
        field = db_field.formfield()
        field.widget = UnfoldAdminDecimalFieldWidget(attrs={"step": "any"})
        return field

    @staticmethod
    def note(request: HttpRequest, action: str, obj: Model, **detail: Any) -> None:
        AuditEntry.note(request.user, f"{action} {obj._meta.verbose_name}", obj, address(request), id=obj.pk, **detail)


class LookOnly(ModelAdmin):
    """Rows that nobody adds, changes or deletes by hand, not even a superuser."""

    show_full_result_count = False
    actions = None

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def changes(form: forms.ModelForm) -> dict[str, list[str]]:
    """Name, value before, value after of all that was changed; secrets only by their name."""
    found = {}
    for name in form.changed_data:
        secret = name in SECRET
        found[name] = [] if secret else [str(form.initial.get(name, ""))[:500], str(form.cleaned_data.get(name, ""))[:500]]
    return found


def job_link(work: Workload | None, word: str = "") -> str:
    return format_html('<a href="/{}s/{}/">{}</a>', work.kind, work.public_id, word or work.name) if work else ""


def wake(waiting: QuerySet[Workload]) -> None:
    """The queue looks at these again at once, not with its next turn."""
    ids: Iterable[int] = waiting.values_list("pk", flat=True)[:WOKEN]
    touch(list(ids))
