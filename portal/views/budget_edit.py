"""Budgets made and changed: by admins all of it, by leads of the project its name and thresholds. Each change is audited.

One idea: the sums of a budget belong to the ledger. A new limit and an adjustment go through it and become rows there.
"""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from jobs import ledger
from jobs.models import AuditEntry, Budget, Installation, Unpaid
from jobs.models.roles import is_admin, sees_all
from portal import purses
from portal.forms.budget import AdjustForm, BudgetForm, LeadForm, UnpaidForm
from portal.presenters import budgets as shown

from .access import address
from .asking import ask
from .editing import first_to_save, only_admins, switched, values, wake
from .paging import page_of, searched

ADMINS = "Only admins give out money."


@login_required
@require_safe
def every(request: HttpRequest) -> HttpResponse:
    """All budgets, for those who see everything."""
    if not sees_all(request.user):
        raise PermissionDenied("Only admins and auditors see every budget.")
    query, found = searched(request), Budget.objects.select_related("project", "member")
    found = found.filter(name__icontains=query) if query else found
    page = page_of(found, request, q=query)
    now = timezone.now()
    rows = [{"dates": shown.dates(budget, now), "figures": shown.figures(budget), "budget": budget} for budget in page.rows]
    context = {"rows": rows, "newer": page.newer, "older": page.older, "q": query, "admin": is_admin(request.user)}
    who = Installation.who_runs_unpaid()
    context |= {"unpaid": UnpaidForm(initial={"unpaid": who}), "who": who.label, "none": not Budget.objects.exists()}
    return render(request, "budgets/all.html", context)


@login_required
@require_POST
def unpaid(request: HttpRequest) -> HttpResponse:
    """Who may run what no budget pays for."""
    only_admins(request, ADMINS)
    form, before = UnpaidForm(request.POST), Installation.who_runs_unpaid()
    if not form.is_valid():
        messages.error(request, "Choose who may run without a budget.")
        return redirect("budgets-all")
    after = Unpaid(form.cleaned_data["unpaid"])
    with transaction.atomic():
        if after != before:
            Installation.let_run_unpaid(after)
            changed = {"unpaid": [before.label, after.label]}
            AuditEntry.note(request.user, "change who runs unpaid", "budgets", address(request), values=changed)
            wake(gate="budget")
    messages.success(request, f"What no budget pays for may be run by: {after.label.lower()}.")
    return redirect("budgets-all")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    only_admins(request, ADMINS)
    start = {"name": request.GET.get("name", "")[:120], "project": request.GET.get("project", "")[:20], "version": 1}
    form = BudgetForm(request.POST if request.method == "POST" else None, initial=start)
    if request.method == "POST" and form.is_valid():
        return redirect("budget-one", _make(request, form).pk)
    context = {"form": form, "first": not Budget.objects.exists() and Installation.who_runs_unpaid() != Unpaid.EVERYBODY}
    return render(request, "budgets/edit.html", context, status=422 if form.errors else 200)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, pk: int) -> HttpResponse:
    budget = _led(request, pk)
    kind = BudgetForm if is_admin(request.user) else LeadForm
    form = kind(request.POST if request.method == "POST" else None, instance=budget, initial={"version": budget.version})
    if request.method == "POST" and form.is_valid() and _change(request, pk, form):
        messages.success(request, f"{form.cleaned_data['name']} was changed.")
        return redirect("budget-one", pk)
    now = Budget.objects.select_related("project", "member").get(pk=pk)
    context = {"form": form, "budget": now, "figures": shown.figures(now), "lead": kind is LeadForm}
    return render(request, "budgets/edit.html", context, status=422 if form.errors else 200)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def close(request: HttpRequest, pk: int) -> HttpResponse:
    """GET asks, POST closes it, or opens it again."""
    only_admins(request, ADMINS)
    budget = get_object_or_404(Budget, pk=pk)
    if request.method != "POST":
        return ask(request, shown.close(budget))
    active = request.POST.get("active") == "1"
    with transaction.atomic():
        if switched(request, budget, active, ("open budget", "close budget"), id=pk):
            wake(gate="budget")
    messages.success(request, f"{budget.name} is {'open' if active else 'closed'}.")
    return redirect("budget-one", pk)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def adjust(request: HttpRequest, pk: int) -> HttpResponse:
    only_admins(request, ADMINS)
    budget = get_object_or_404(Budget.objects.select_related("project", "member"), pk=pk)
    form = AdjustForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid() and _adjust(request, budget, form):
        return redirect("budget-one", pk)
    context = {"form": form, "budget": budget, "figures": shown.figures(budget)}
    return render(request, "budgets/adjust.html", context, status=422 if form.errors else 200)


# --- private ----------------------------------------------------------------------------------------------------------
def _led(request: HttpRequest, pk: int) -> Budget:
    budget = get_object_or_404(purses.visible_to(request.user), pk=pk)
    if not purses.may_edit(request.user, budget):
        raise PermissionDenied("Only admins and leads of the project change a budget.")
    return budget


def _make(request: HttpRequest, form: BudgetForm) -> Budget:
    now = timezone.now()
    with transaction.atomic():
        budget: Budget = form.save(commit=False)
        for name in ("member", *_derived(form.cleaned_data)):
            setattr(budget, name, form.cleaned_data[name])
        budget.save()
        ledger.opened(budget, request.user, now)
        AuditEntry.note(request.user, "add budget", budget, address(request), id=budget.pk, values=values(form))
        wake(gate="budget")
    messages.success(request, f"{budget.name} was made.")
    return budget


def _change(request: HttpRequest, pk: int, form: LeadForm) -> bool:
    """False, with the error on the form, if somebody was faster or the ledger can't do it."""
    given, now = form.cleaned_data, timezone.now()
    names = [name for name in form.changed_data if name not in ("version", "amount", "first_day", "last_day")]
    try:
        with transaction.atomic():
            row = first_to_save(form, Budget.objects.all(), pk)
            if row is None:
                return False
            _limit_first(row, given, request.user, now)
            Budget.objects.filter(pk=pk).update(**{name: given[name] for name in {*names, *_derived(given)}}, version=F("version") + 1)
            if {"recurrence", "zone"} & set(names):
                ledger.schedule(row, now)
            AuditEntry.note(request.user, "change budget", row, address(request), id=pk, values=values(form))
            wake(gate="budget")
    except ledger.Refused as error:
        form.add_error("amount" if "amount" in form.fields else None, str(error))
        return False
    return True


def _limit_first(row: Budget, given: dict[str, Any], by: Any, now: Any) -> None:
    """A softer budget before its lower limit, a higher limit before its strictness: the database checks each step."""
    if "amount" not in given:
        return
    if given["strictness"] != row.strictness and given["strictness"] != "strict":
        Budget.objects.filter(pk=row.pk).update(strictness=given["strictness"])
    if given["strictness"] == "strict" and given["amount"] < row.spent + row.held:
        taken = row.spent + row.held
        raise ledger.Refused(f"{taken.normalize():f} is spent or held already; a strict budget can't be less. Make it soft, or close it.")
    ledger.set_limit(row, given["amount"], by, now)


def _derived(given: dict[str, Any]) -> list[str]:
    """Columns that the form works out of what was typed; a lead's form has none."""
    return [name for name in ("grant", "begins", "ends") if name in given]


def _adjust(request: HttpRequest, budget: Budget, form: AdjustForm) -> bool:
    try:
        with transaction.atomic():
            made = ledger.adjust(budget, form.signed, form.cleaned_data["reason"], request.user, timezone.now())
            detail = {"id": budget.pk, "amount": str(made.amount), "reason": made.note}
            AuditEntry.note(request.user, "adjust budget", budget, address(request), **detail)
            wake(gate="budget")
    except ledger.Refused as error:
        form.add_error("reason" if "reason" in str(error) else "amount", str(error))
        return False
    messages.success(request, "The adjustment stands in the ledger.")
    return True


urlpatterns = [
    path("budget/all/", every, name="budgets-all"),
    path("budget/unpaid/", unpaid, name="budget-unpaid"),
    path("budget/new/", new, name="budget-new"),
    path("budget/<int:pk>/edit/", edit, name="budget-edit"),
    path("budget/<int:pk>/close/", close, name="budget-close"),
    path("budget/<int:pk>/adjust/", adjust, name="budget-adjust"),
]
