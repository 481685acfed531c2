"""The catalogue in the hands of admins: coretypes, regions, prices, import and export, and the release of a cluster.

One idea: nothing here reaches a backend. A release is a request row that the engine carries out; a coretype that is no
longer offered ends what waits for it through the queue, which says so on each job.
"""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.db.models import ProtectedError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods, require_safe

from jobs import cataloguing
from jobs.models import AuditEntry, Cluster, Coretype, Limit, Region, Request, touch
from jobs.models.roles import is_admin, sees_all
from jobs.signals import announce
from portal.forms.coretype import CatalogueForm, CoretypeForm, RegionForm
from portal.presenters import catalogue as shown

from .access import address
from .asking import ask
from .editing import TAKEN, first_to_save, locked, only_admins, switched, values, wake

PRICES = 30
ADMINS = "Only admins change the catalogue."


@login_required
@require_safe
def coretypes(request: HttpRequest) -> HttpResponse:
    """All of them, those that are not offered too."""
    if not sees_all(request.user):
        raise PermissionDenied("Only admins and auditors see the whole catalogue.")
    context = {"rows": shown.rows(), "regions": Region.objects.all(), "admin": is_admin(request.user)}
    return render(request, "hardware/coretypes.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def coretype(request: HttpRequest, code: str = "") -> HttpResponse:
    """A new one, or one that is changed."""
    only_admins(request, ADMINS)
    kind = get_object_or_404(Coretype, code=code) if code else Coretype()
    before = shown.about(kind) if code else {}
    initial = {"version": kind.version, **({} if code else {"memory": 16})}
    form = CoretypeForm(request.POST if request.method == "POST" else None, instance=kind, initial=initial)
    if request.method == "POST" and form.is_valid() and _save(request, form, before):
        return redirect("coretypes")
    prices = kind.prices.select_related("by")[:PRICES] if code else []
    known = Coretype.objects.filter(code=code).first()
    context = {"form": form, "kind": known, "prices": prices, "now": shown.goes_on(kind) if code else None}
    return render(request, "hardware/coretype.html", context, status=422 if form.errors else 200)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def offer(request: HttpRequest, code: str) -> HttpResponse:
    """GET says what becomes of queued and running work, POST withdraws it or offers it again."""
    only_admins(request, ADMINS)
    kind = get_object_or_404(Coretype, code=code)
    if request.method != "POST":
        return ask(request, shown.withdraw(kind))
    active = request.POST.get("active") == "1"
    with transaction.atomic():
        if switched(request, kind, active, ("offer coretype", "withdraw coretype"), code=code):
            _wake(kind)
    messages.success(request, f"{kind} is {'on offer' if active else 'not offered any more; what runs there goes on'}.")
    return redirect("coretypes")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, code: str) -> HttpResponse:
    """Only one that no job ever used; others are withdrawn, so that the ledger keeps its names."""
    only_admins(request, ADMINS)
    kind = get_object_or_404(Coretype, code=code)
    if why := shown.kept_by(kind):
        messages.error(request, why)
        return redirect("coretype", code)
    if request.method != "POST":
        return ask(request, shown.delete(kind))
    if _deleted(request, kind):
        messages.success(request, f"{kind} was deleted.")
    else:
        messages.info(request, f"{kind} was deleted already, or somebody has just begun to use it.")
    return redirect("coretypes")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def region(request: HttpRequest, code: str = "") -> HttpResponse:
    only_admins(request, ADMINS)
    found = get_object_or_404(Region, code=code) if code else Region()
    form = RegionForm(request.POST if request.method == "POST" else None, instance=found)
    if request.method == "POST" and form.is_valid() and _named(request, form, "change region" if code else "add region"):
        return redirect("coretypes")
    return render(request, "hardware/region.html", {"form": form, "region": found if code else None}, status=422 if form.errors else 200)


@login_required
@require_safe
def export(request: HttpRequest) -> HttpResponse:
    if not sees_all(request.user):
        raise PermissionDenied("Only admins and auditors export the catalogue.")
    answer = HttpResponse(cataloguing.written(), content_type="application/yaml; charset=utf-8")
    answer["Content-Disposition"] = 'attachment; filename="hardware.yaml"'
    return answer


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def take(request: HttpRequest) -> HttpResponse:
    """Import: all of a file or nothing of it."""
    only_admins(request, ADMINS)
    form, faults = CatalogueForm(request.POST or None, request.FILES or None), []
    if request.method == "POST" and form.is_valid():
        try:
            with transaction.atomic():
                before = _standing()
                done = cataloguing.read(form.cleaned_data["catalogue"], request.user)
                AuditEntry.note(request.user, "import catalogue", "hardware", address(request), **done)
                _note_changes(request, before, _standing())
                _wake()
        except cataloguing.Faults as error:
            faults = error.all[:50]
        else:
            messages.success(request, f"{len(done['added'])} added, {len(done['changed'])} changed.")
            return redirect("coretypes")
    return render(request, "hardware/import.html", {"form": form, "faults": faults}, status=422 if faults or form.errors else 200)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def release(request: HttpRequest, pk: int) -> HttpResponse:
    """GET says what is lost, POST writes the request; the engine does it."""
    only_admins(request, ADMINS)
    cluster = get_object_or_404(Cluster.objects.select_related("workload__owner"), pk=pk)
    if cluster.released is not None:
        messages.info(request, f"{cluster} is released already.")
        return redirect("hardware")
    if request.method != "POST":
        return ask(request, shown.release(cluster))
    with transaction.atomic():
        Request.ask(Request.Kind.RELEASE, cluster, request.user)
        AuditEntry.note(request.user, "release cluster", cluster, address(request), id=cluster.workload.public_id)
        touch([cluster.workload_id])
        announce("hardware")
    messages.success(request, f"{cluster} is being released.")
    return redirect("hardware")


# --- private ----------------------------------------------------------------------------------------------------------
def _deleted(request: HttpRequest, kind: Coretype) -> bool:
    """False if somebody was faster: with deleting it, or with using it."""
    try:
        with transaction.atomic():
            found = locked(Coretype.objects.all(), kind.pk)
            if found is None or shown.kept_by(found):
                return False
            gone = [str(limit) for limit in found.limits.all()]
            AuditEntry.note(request.user, "delete coretype", found, address(request), code=found.code, limits=gone)
            found.delete()
            announce("hardware")
    except ProtectedError:
        return False
    return True


def _named(request: HttpRequest, form: RegionForm, action: str) -> bool:
    """False, with the message on the form, if somebody was faster with the same code."""
    try:
        with transaction.atomic():
            form.save()
            AuditEntry.note(request.user, action, form.instance, address(request), values=values(form))
    except IntegrityError:
        form.add_error("code", TAKEN)
    return not form.errors


def _save(request: HttpRequest, form: CoretypeForm, before: dict[str, str]) -> bool:
    """False, with the message on the form, if somebody was faster."""
    try:
        return _saved(request, form, before)
    except IntegrityError:  # the form had seen none of this code
        form.add_error("code", TAKEN)
        return False


def _saved(request: HttpRequest, form: CoretypeForm, before: dict[str, str]) -> bool:
    kind: Coretype = form.instance
    with transaction.atomic():
        if kind.pk:
            if first_to_save(form, Coretype.objects.all(), kind.pk) is None:
                return False
            kind.version = form.cleaned_data["version"] + 1
        kind.changed_by = request.user
        form.save()
        after = shown.about(kind)
        changed = {name: [before.get(name, ""), text] for name, text in after.items() if before.get(name, "") != text}
        action = "change coretype" if before else "add coretype"
        AuditEntry.note(request.user, action, kind, address(request), code=kind.code, values=changed)
        _wake(kind)
    messages.success(request, f"{kind} was saved.")
    return True


def _standing() -> dict[str, tuple[Coretype | Limit, dict[str, str]]]:
    """What a file may change, by what it is, each with its values as text."""
    kinds = {f"coretype {kind.code}": (kind, shown.about(kind)) for kind in Coretype.objects.select_related("region")}
    limits = {f"limit {one.key}": (one, {"limit": str(one)}) for one in Limit.objects.select_related("member", "project", "coretype")}
    return {**kinds, **limits}


def _note_changes(request: HttpRequest, before: Any, after: Any) -> None:
    """An entry for each that a file has made or changed, as if it had been done by hand."""
    for name, (row, now) in after.items():
        was = before[name][1] if name in before else {}
        if values := {one: [was.get(one, ""), text] for one, text in now.items() if was.get(one, "") != text}:
            action = f"{'change' if was else 'add'} {name.partition(' ')[0]}"
            AuditEntry.note(request.user, action, row, address(request), values=values, by_file=True)


def _wake(kind: Coretype | None = None) -> None:
    """What waits for it is looked at again, and the pages are told."""
    wake(**({"coretype": kind} if kind else {}))
    announce("hardware")


urlpatterns = [
    path("hardware/coretypes/", coretypes, name="coretypes"),
    path("hardware/coretypes/new/", coretype, name="coretype-new"),
    path("hardware/coretypes/<slug:code>/edit/", coretype, name="coretype"),
    path("hardware/coretypes/<slug:code>/offer/", offer, name="coretype-offer"),
    path("hardware/coretypes/<slug:code>/delete/", delete, name="coretype-delete"),
    path("hardware/regions/new/", region, name="region-new"),
    path("hardware/regions/<slug:code>/", region, name="region"),
    path("hardware/export.yaml", export, name="hardware-export"),
    path("hardware/import/", take, name="hardware-import"),
    path("hardware/clusters/<int:pk>/release/", release, name="cluster-release"),
]
