"""Budgets: where the money is that one may spend, and what was charged to it. Nothing is changed here."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path
from django.views.decorators.http import require_safe

from jobs.models import Budget
from portal import purses
from portal.presenters import budgets as shown

from .paging import page_of

SHOWN = 20
"""Budgets that one can switch between."""


@login_required
@require_safe
def first(request: HttpRequest) -> HttpResponse:
    """The one that is used most, with the way to the others."""
    mine = list(purses.budgets_of(request.user)[:SHOWN])
    return _page(request, mine[0], mine) if mine else render(request, "budgets/none.html")


@login_required
@require_safe
def budget(request: HttpRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(purses.visible_to(request.user), pk=pk)
    return _page(request, found, list(purses.budgets_of(request.user)[:SHOWN]))


def _page(request: HttpRequest, budget: Budget, mine: list[Budget]) -> HttpResponse:
    page = page_of(shown.charges(budget, request.user), request)
    context = {
        "budget": budget, "figures": shown.figures(budget), "mine": mine, "holds": shown.holds(budget, request.user),
        "charges": shown.charge_rows(budget, page.rows, request.user), "newer": page.newer, "older": page.older,
        "admin": request.user.is_superuser,  # type: ignore[union-attr]
    }
    return render(request, "budgets/budget.html", context)


urlpatterns = [
    path("budget/", first, name="budget"),
    path("budget/<int:pk>/", budget, name="budget-one"),
]
