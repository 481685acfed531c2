"""How much may run at once: the limits for each member and each project, in the hands of admins.

One idea: a limit ends nothing. A lower one lets what runs go on; a higher one is looked at by the queue at once.
"""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.views.decorators.http import require_http_methods, require_safe

from jobs.models import AuditEntry, Limit
from jobs.models.roles import is_admin, sees_all
from portal.forms.limit import LimitForm
from portal.presenters.values import Question

from .access import address
from .asking import ask
from .editing import first_to_save, locked, only_admins, wake

ADMINS = "Only admins change limits."
FIELDS = ("per", "member", "project", "coretype", "most_jobs", "most_cores")


@login_required
@require_safe
def limits(request: HttpRequest) -> HttpResponse:
    if not sees_all(request.user):
        raise PermissionDenied("Only admins and auditors see all limits.")
    rows = Limit.objects.select_related("member", "project", "coretype")
    return render(request, "hardware/limits.html", {"rows": rows, "admin": is_admin(request.user)})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def limit(request: HttpRequest, pk: int | None = None) -> HttpResponse:
    """A new one, or one that is changed."""
    only_admins(request, ADMINS)
    found = Limit() if pk is None else get_object_or_404(Limit, pk=pk)
    before = {} if pk is None else _values(found)
    form = LimitForm(request.POST if request.method == "POST" else None, instance=found, initial={"version": found.version})
    if request.method == "POST" and form.is_valid() and _save(request, form, before):
        messages.success(request, f"{found}. What runs goes on.")
        return redirect("limits")
    context = {"form": form, "limit": Limit.objects.filter(pk=pk).first()}
    return render(request, "hardware/limit.html", context, status=422 if form.errors else 200)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    only_admins(request, ADMINS)
    found = get_object_or_404(Limit, pk=pk)
    if request.method != "POST":
        text = "What waits because of it is looked at again at once."
        action, back = reverse("limit-delete", args=[pk]), reverse("limits")
        return ask(request, Question("Delete this limit?", "Delete", action, back, f"{found}. {text}", "trash"))
    with transaction.atomic():
        if locked(Limit.objects.all(), pk):
            gone = {name: [text, ""] for name, text in _values(found).items() if text}
            AuditEntry.note(request.user, "delete limit", found, address(request), values=gone)
            found.delete()
            wake()
    messages.success(request, "The limit was deleted.")
    return redirect("limits")


# --- private ----------------------------------------------------------------------------------------------------------
def _save(request: HttpRequest, form: LimitForm, before: dict[str, str]) -> bool:
    """False, with the message on the form, if somebody was faster."""
    found: Limit = form.instance
    try:
        with transaction.atomic():
            if found.pk and first_to_save(form, Limit.objects.all(), found.pk) is None:
                return False
            found.version = form.cleaned_data["version"] + 1 if found.pk else 1
            form.save()
            changed = {name: [before.get(name, ""), text] for name, text in _values(found).items() if before.get(name, "") != text}
            AuditEntry.note(request.user, "change limit" if before else "add limit", found, address(request), values=changed)
            wake()
    except IntegrityError:  # the form had seen none for the same: somebody made one since
        form.add_error(None, Limit.TWICE)
    return not form.errors


def _values(found: Limit) -> dict[str, str]:
    return {name: "" if (value := getattr(found, name)) is None else str(value) for name in FIELDS}


urlpatterns = [
    path("hardware/limits/", limits, name="limits"),
    path("hardware/limits/new/", limit, name="limit-new"),
    path("hardware/limits/<int:pk>/", limit, name="limit"),
    path("hardware/limits/<int:pk>/delete/", delete, name="limit-delete"),
]
