"""Kinds of workstations and their rules; copies of homes to be looked at."""

from __future__ import annotations

from django.contrib import admin

from jobs.models import HomeCopy, WorkstationKind
from portal import words

from .base import Audited, LookOnly, job_link

IDLE = "Judged by input, processor, graphics and solvers, never by an open tab. 0 switches a rule off."
ENDS = "A rule that is switched on, or made shorter, gives the workstations that exist the full time from then. 0 switches it off."


@admin.register(WorkstationKind)
class Kinds(Audited):
    list_display = ["name", "code", "session", "idle_after", "suspended_days", "max_life", "order", "active"]
    list_filter = ["active", "session"]
    search_fields = ["name", "code"]
    prepopulated_fields = {"code": ["name"]}
    filter_horizontal = ["groups", "coretypes"]
    fieldsets = [
        (None, {"fields": ["name", "code", "description", "active", "order"]}),
        ("Session", {"fields": ["session", "software", "start", "save_command", "grace"]}),
        ("Home", {"fields": ["home_limit", "copy_every"]}),
        ("Idle", {"fields": ["idle_after", "idle_warnings", "keep_limit"], "description": IDLE}),
        ("Ends", {"fields": ["suspended_days", "suspended_warnings", "max_life"], "description": ENDS}),
        ("Who and where", {"fields": ["groups", "coretypes"]}),
    ]


@admin.register(HomeCopy)
class HomeCopies(LookOnly):
    list_display = ["code", "job", "why", "size_words", "files", "made", "whole"]
    list_filter = [("whole", admin.EmptyFieldListFilter), "why"]
    list_select_related = ["workstation__workload"]
    search_fields = ["code", "workstation__workload__public_id"]

    @admin.display(description="Workstation")
    def job(self, copy: HomeCopy) -> str:
        return job_link(copy.workstation.workload)

    @admin.display(description="Size", ordering="size")
    def size_words(self, copy: HomeCopy) -> str:
        return words.size(copy.size)
