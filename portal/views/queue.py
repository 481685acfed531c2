"""What people change on a job that waits or runs: take an offer that starts it now, or give it a longer walltime.

One idea: an offer is named, never trusted: it is looked up again when the button is pressed, with the check of the input as it
would be then, so what is taken is still true and is not refused afterwards.
"""

from __future__ import annotations

from datetime import timedelta

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from jobs import hardware, ledger, lifecycle, offering
from jobs.models import AuditEntry, Job, Request, Workload
from jobs.models.roles import is_admin
from portal import words
from portal.forms import walltime
from portal.presenters import budgets

from .access import address, job_changed


@login_required
@require_POST
def take(request: HttpRequest, public_id: str) -> HttpResponse:
    """Change what a queued job asks for, as offered."""
    work = job_changed(request, public_id)
    key = request.POST.get("offer", "")[:400]
    found = next((one for one in offering.offers(work, timezone.now()) if one.sentence == key), None)
    if found is None:
        messages.info(request, "That is not true any more; here is how it stands now.")
        return redirect("job", public_id)
    before = {name: str(getattr(work, name)) for name in found.fields}
    with transaction.atomic():
        if work.ask_for(request.user, **found.fields):
            Job.objects.filter(workload=work).update(checked=None)
            values = {name: [before[name], str(value)] for name, value in found.fields.items()}
            AuditEntry.note(request.user, "ask for something else", work, address(request), id=work.public_id, values=values)
        else:
            messages.info(request, "It has left the queue already; nothing was changed.")
    return redirect("job", public_id)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def extend(request: HttpRequest, public_id: str) -> HttpResponse:
    """GET says what more time costs, POST asks for it; the engine asks the backend."""
    work = job_changed(request, public_id)
    cluster, typed, error = work.cluster, request.POST.get("more", "1 h")[:40], ""
    why = why_not(work)
    if request.method == "POST" and not why:
        try:
            error = _ask(request, work, walltime.parse(typed))
        except ValidationError as problem:
            error = problem.messages[0]
        if not error:
            messages.success(request, "More time was asked for; the end below changes once the backend has agreed.")
            return redirect("job", public_id)
    hourly = cluster.price * cluster.total_cores if cluster else None
    context = {"work": work, "cluster": cluster, "why": why, "error": error, "typed": typed, "hourly": hourly}
    return render(request, "jobs/extend.html", context, status=422 if error else 200)


# --- private ----------------------------------------------------------------------------------------------------------
def why_not(work: Workload) -> str:
    """Why it can't get more time now; empty if it can."""
    cluster = work.cluster
    if work.status != lifecycle.RUNNING or cluster is None or cluster.walltime_until is None or work.wish != lifecycle.Wish.RUN:
        return "Only a running job can get more time."
    if cluster.requests.filter(kind=Request.Kind.EXTEND, done__isnull=True).exists():
        return "More time was asked for already; the backend has not answered yet."
    return hardware.why_no_longer(cluster)


def _ask(request: HttpRequest, work: Workload, more: int) -> str:
    """Write the request; what is wrong with it in words, or nothing."""
    cluster, whole = work.cluster, work.walltime + more
    if whole > work.coretype.walltime_max and not is_admin(request.user):
        return f"At most {words.duration(work.coretype.walltime_max)} in all on {work.coretype}; an admin can give more."
    if whole > 366 * 86400:
        return "That is more than a year."
    for budget in ledger.budgets_for(work.owner, work.project):
        hourly = ledger.rate(budget, cluster.price, cluster.total_cores)
        if budget.is_strict and budget.left < (needed := ledger.due(hourly, more)):
            pays = words.duration(int(budget.left * 3600 / hourly))
            free = budgets.amount(budget, budget.left)
            return f"{budget.name} has not enough left: that takes {budgets.amount(budget, needed)}, and the {free} free pay {pays}."
    with transaction.atomic():
        Request.ask(Request.Kind.EXTEND, cluster, request.user, cluster.walltime_until + timedelta(seconds=more))
        values = {"walltime": [str(work.walltime), str(whole)]}
        AuditEntry.note(request.user, "longer walltime", work, address(request), id=work.public_id, values=values)
        work.touch()
    return ""


urlpatterns = [
    path("<str:public_id>/offer/", take, name="job-offer"),
    path("<str:public_id>/extend/", extend, name="job-extend"),
]
