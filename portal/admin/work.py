"""Workloads, clusters, events, audit entries: to be looked at. Strays: an admin decides, the engine acts."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest

from jobs import hardware
from jobs.models import AuditEntry, Cluster, Event, StoredFile, Stray, Workload
from portal import words

from .base import Audited, LookOnly, changes, job_link


@admin.register(Workload)
class Workloads(LookOnly):
    list_display = ["public_id", "name", "owner", "project", "status", "coretype", "made", "page"]
    list_filter = ["status", "kind", "coretype"]
    list_select_related = ["owner", "project", "coretype"]
    search_fields = ["public_id", "name", "owner__username"]
    ordering = ["-pk"]

    @admin.display(description="Page")
    def page(self, work: Workload) -> str:
        return job_link(work, "Open")


@admin.register(Cluster)
class Clusters(LookOnly):
    list_display = ["token", "job", "backend", "coretype", "nodes_wanted", "cores", "asked", "up", "released"]
    list_filter = [("released", admin.EmptyFieldListFilter), "backend", "coretype"]
    list_select_related = ["workload", "coretype"]
    search_fields = ["token"]
    exclude = ["secret_hash", "asker"]
    ordering = ["-pk"]

    @admin.display(description="Job")
    def job(self, cluster: Cluster) -> str:
        return job_link(cluster.workload)


@admin.register(Event)
class Events(LookOnly):
    list_display = ["at", "job", "attempt", "before", "after", "source", "by", "reason"]
    list_filter = ["source", "after"]
    list_select_related = ["workload", "by"]
    search_fields = ["workload__public_id"]
    ordering = ["-pk"]

    @admin.display(description="Job")
    def job(self, event: Event) -> str:
        return job_link(event.workload)


@admin.register(AuditEntry)
class AuditEntries(LookOnly):
    list_display = ["at", "who", "action", "target", "address"]
    list_filter = ["action"]
    search_fields = ["who", "target"]
    date_hierarchy = "at"


@admin.register(StoredFile)
class StoredFiles(LookOnly):
    list_display = ["name", "owner", "size_words", "made", "deleted"]
    list_select_related = ["owner"]
    search_fields = ["name", "owner__username", "public_id"]

    @admin.display(description="Size", ordering="size")
    def size_words(self, file: StoredFile) -> str:
        return words.size(file.size)


class StrayForm(forms.ModelForm):
    decision = forms.ChoiceField(choices=[("destroy", "Destroy it"), ("keep", "Keep it")], widget=forms.RadioSelect)


@admin.register(Stray)
class Strays(Audited):
    form = StrayForm
    list_display = ["token", "backend", "first_seen", "last_seen", "decision", "gone"]
    list_filter = [("gone", admin.EmptyFieldListFilter), "decision", "backend"]
    search_fields = ["token"]
    readonly_fields = ["backend", "token", "first_seen", "last_seen", "gone"]
    ordering = ["-pk"]

    def save_model(self, request: HttpRequest, obj: Stray, form: forms.ModelForm, change: bool) -> None:
        request.audit_values = changes(form)  # type: ignore[attr-defined]
        hardware.decide(obj, form.cleaned_data["decision"])

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
