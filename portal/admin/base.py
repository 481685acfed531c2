"""What all pages of the administration have in common: the audit log, money fields, pages that may only be looked at."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Field, Model, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from unfold.admin import ModelAdmin
from unfold.widgets import UnfoldAdminDecimalFieldWidget

from jobs.models import AuditEntry, MoneyField, Workload, touch
from portal.views.access import address
from portal.views.editing import LATER

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

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> tuple[Any, Any, Any, Any]:
        """One at a time and many together: what `why_kept` has a reason for stays."""
        found, counts, lacking, kept = super().get_deleted_objects(objs, request)
        return found, counts, lacking, [*kept, *filter(None, map(self.why_kept, objs))]

    def why_kept(self, obj: Any) -> str:
        """Why it can't be deleted; empty if it can."""
        return ""

    def formfield_for_dbfield(self, db_field: Field, request: HttpRequest, **kwargs: Any) -> Any:
        if not isinstance(db_field, MoneyField):
            return super().formfield_for_dbfield(db_field, request, **kwargs)
        field = db_field.formfield()
        field.widget = UnfoldAdminDecimalFieldWidget(attrs={"step": "any"})
        return field

    @staticmethod
    def note(request: HttpRequest, action: str, obj: Model, **detail: Any) -> None:
        AuditEntry.note(request.user, f"{action} {obj._meta.verbose_name}", obj, address(request), id=obj.pk, **detail)


class Opened(forms.IntegerField):
    """Never a change by itself."""

    widget = forms.HiddenInput

    def has_changed(self, initial: Any, data: Any) -> bool:
        return False


class Versioned(forms.ModelForm):
    """`opened` is the version that the page was opened with: who saves an older one is told, here as on the portal's own pages."""

    opened = Opened(required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["opened"] = self.instance.version

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        opened = cleaned.pop("opened", None)
        row = type(self.instance)._default_manager.select_for_update().filter(pk=self.instance.pk).first()
        if row is not None and opened not in (None, row.version):
            raise ValidationError(LATER)
        return cleaned


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
        found[name] = [] if secret else [_said(form.initial.get(name, "")), _said(form.cleaned_data.get(name, ""))]
    return found


def _said(value: Any) -> str:
    """A value for the audit log; many things by their names."""
    many = isinstance(value, list | tuple | QuerySet)
    return (", ".join(sorted(str(one) for one in value)) if many else str(value))[:500]


def job_link(work: Workload | None, word: str = "") -> str:
    return format_html('<a href="/{}s/{}/">{}</a>', work.kind, work.public_id, word or work.name) if work else ""


def wake(waiting: QuerySet[Workload]) -> None:
    """The queue looks at these again at once, not with its next turn."""
    ids: Iterable[int] = waiting.values_list("pk", flat=True)[:WOKEN]
    touch(list(ids))
