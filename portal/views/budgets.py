"""Budgets: where the money is that one may spend, and its ledger. Nothing is changed here; see budget_edit.py."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import path
from django.utils import timezone
from django.views.decorators.http import require_safe

from jobs.models import Budget, Charge
from jobs.models.roles import is_admin, sees_all
from portal import purses, sheets
from portal.presenters import budgets as shown
from portal.presenters import ledger, spending
from portal.presenters.outlook import outlook

from .paging import page_of

SHOWN = 20
"""Budgets that one can switch between."""
ROWS = 25
"""Of the ledger, on one page."""


@login_required
@require_safe
def first(request: HttpRequest) -> HttpResponse:
    """The one that is used most, with the way to the others."""
    mine = list(purses.budgets_of(request.user)[:SHOWN])
    if mine:
        return _page(request, mine[0], mine)
    context = {"every": sees_all(request.user), "admin": is_admin(request.user), "text": shown.nothing(request.user)}
    return render(request, "budgets/none.html", context)


@login_required
@require_safe
def budget(request: HttpRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(purses.visible_to(request.user), pk=pk)
    return _page(request, found, list(purses.budgets_of(request.user)[:SHOWN]))


@login_required
@require_safe
def table(request: HttpRequest, pk: int) -> HttpResponseBase:
    """The ledger, as filtered, for a spreadsheet."""
    found = get_object_or_404(purses.visible_to(request.user), pk=pk)
    rows = ledger.entries(found, request.user, ledger.filter_of(request.GET))
    return sheets.answer(f"ledger-{pk}.csv", ledger.HEAD, rows, ledger.cells)


@login_required
@require_safe
def spend(request: HttpRequest, pk: int) -> JsonResponse:
    """Spend by day and by something, for the chart."""
    found = get_object_or_404(purses.visible_to(request.user), pk=pk)
    by = request.GET.get("by", "")
    return JsonResponse(spending.by_day(found, request.user, by if by in spending.BY else "owner", timezone.now()))


def _page(request: HttpRequest, budget: Budget, mine: list[Budget]) -> HttpResponse:
    asked, now = ledger.filter_of(request.GET), timezone.now()
    page = page_of(ledger.entries(budget, request.user, asked), request, ROWS, **asked.kept)
    mine = mine if budget in mine else [budget, *mine]
    context = {
        "dates": shown.dates(budget, now),
        "budget": budget, "figures": shown.figures(budget), "mine": mine, "holds": shown.holds(budget, request.user),
        "rows": ledger.rows(budget, page.rows, request.user), "newer": page.newer, "older": page.older,
        "asked": asked, "kinds": Charge.Kind.choices, "thresholds": shown.thresholds(budget, now), "periods": shown.periods(budget),
        "pace": spending.pace(budget, now), "by": spending.BY, "shares": spending.shares(budget, request.user, now),
        "outlook": outlook(budget, now),
        "admin": is_admin(request.user), "edits": purses.may_edit(request.user, budget), "every": sees_all(request.user),
    }
    return render(request, "budgets/budget.html", context)


urlpatterns = [
    path("budget/", first, name="budget"),
    path("budget/<int:pk>/", budget, name="budget-one"),
    path("budget/<int:pk>/ledger.csv", table, name="budget-csv"),
    path("budget/<int:pk>/spend.json", spend, name="budget-spend"),
]
