"""The form of a new workstation; one address, and the review is asked for again as it is filled in."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods

from jobs.models import AuditEntry, Coretype, Workload, WorkstationKind
from portal.forms import usual
from portal.forms.job import new_key
from portal.forms.workstation import WorkstationForm
from portal.presenters.workstations import asking

from .access import address, may_make


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return _page(request, WorkstationForm(request.user, initial=_initial(request)))
    may_make(request)
    form = WorkstationForm(request.user, request.POST)
    if request.POST.get("action") == "review" and request.htmx:  # type: ignore[attr-defined]
        form.is_valid()
        return render(request, "workstations/_review.html", {"review": asking.ask(form)})
    if not form.is_valid():
        return _page(request, form, 422)
    return redirect("workstation", _start(request, form).public_id)


# --- private ----------------------------------------------------------------------------------------------------------
def _start(request: HttpRequest, form: WorkstationForm) -> Workload:
    """Made and sent off; two clicks are one workstation."""
    key = form.cleaned_data.get("key", "")
    try:
        with transaction.atomic():
            made = form.save()
            made.workload.refresh_from_db()
            if request.POST.get("action") != "draft" and made.workload.submit(request.user):
                AuditEntry.note(request.user, "start workstation", made.workload, address(request), id=made.workload.public_id)
            return made.workload
    except IntegrityError:
        return get_object_or_404(Workload, owner=request.user, submit_key=key)


def _initial(request: HttpRequest) -> dict[str, Any]:
    kinds = WorkstationKind.objects.offered_to(request.user)
    kind = kinds.filter(code=request.GET.get("kind", "")).first() or kinds.first()
    fitting = Coretype.objects.offered_to(request.user)
    if kind and kind.coretypes.exists():
        fitting = fitting.filter(workstation_kinds=kind)
    chosen = {"kind": kind, "coretype": fitting.first(), "project": usual.project(request.user)}
    return {"key": new_key(), **{name: one.pk for name, one in chosen.items() if one}}


def _page(request: HttpRequest, form: WorkstationForm, status: int = 200) -> HttpResponse:
    tried = form if form.is_bound else _unsent(request, form)
    context = {"form": form, "kinds": asking.kinds(form), "cards": asking.hardware(form), "review": asking.ask(tried)}
    return render(request, "workstations/new.html", context, status=status)


def _unsent(request: HttpRequest, form: WorkstationForm) -> WorkstationForm:
    """The first values, checked as if they had been posted, without their messages."""
    tried = WorkstationForm(request.user, form.initial)  # type: ignore[arg-type]
    tried.is_valid()
    tried.errors.clear()
    return tried


urlpatterns = [path("new/", new, name="workstation-new")]
