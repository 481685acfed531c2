"""What can be asked for: regions, coretypes with their prices, software with its versions."""

from __future__ import annotations

from django import forms
from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from unfold.admin import StackedInline

from jobs import lifecycle
from jobs.models import Coretype, Region, Software, SoftwareVersion, Workload
from portal.presenters.catalogue import alone, kept_by

from .base import Audited, Versioned, wake

NEW_PRICE = "A new price holds for clusters asked for after it; those that run keep theirs."


@admin.register(Region)
class Regions(Audited):
    list_display = ["name", "code"]
    search_fields = ["name", "code"]
    prepopulated_fields = {"code": ["name"]}


@admin.register(Coretype)
class Coretypes(Audited):
    form = Versioned
    list_display = ["name", "code", "region", "backend", "cores", "memory_gib", "max_nodes", "price", "active"]
    list_filter = ["active", "region", "backend"]
    search_fields = ["name", "code", "processor"]
    list_select_related = ["region"]
    fieldsets = [
        (None, {"fields": ["name", "code", "region", "active", "order", "opened"]}),
        ("A node", {"fields": ["processor", "cores", "memory"]}),
        ("Where it comes from", {"fields": ["backend", "options", "max_nodes"]}),
        ("Who and what for", {"fields": ["gpu", "groups", "software"]}),
        ("Price", {"fields": ["price", "economy_price", "disk_price"], "description": NEW_PRICE}),
        ("Walltime", {"fields": ["walltime_default", "walltime_max"]}),
    ]

    @admin.display(description="Memory a node")
    def memory_gib(self, coretype: Coretype) -> str:
        return f"{coretype.memory / (1 << 30):.1f} GiB"

    def save_model(self, request: HttpRequest, obj: Model, form: forms.ModelForm, change: bool) -> None:
        obj.changed_by = request.user  # type: ignore[attr-defined]
        obj.version += 1 if change else 0  # type: ignore[attr-defined]
        super().save_model(request, obj, form, change)
        wake(Workload.objects.filter(status=lifecycle.QUEUED, coretype=obj))

    def why_kept(self, obj: Coretype) -> str:
        return kept_by(obj)


class Versions(StackedInline):
    model = SoftwareVersion
    extra = 0


@admin.register(Software)
class Programs(Audited):
    list_display = ["name", "code", "grace", "order", "active"]
    list_filter = ["active"]
    search_fields = ["name", "code"]
    inlines = [Versions]

    def why_kept(self, obj: Software) -> str:
        only = alone(obj.coretypes.all(), "software")
        return f"{only}: nothing else is offered there, so everything would be" if only else ""
