"""Budgets, which admins give out, and holds and charges, which nobody changes by hand.

One idea: `spent` and `held` belong to the ledger. A budget is saved by the columns that were edited, under a lock, so that
a charge booked meanwhile is never overwritten.
"""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import F
from django.http import HttpRequest
from django.utils import timezone

from jobs import ledger, lifecycle
from jobs.models import Budget, Charge, Hold, Strictness, Workload
from portal import words

from .base import Audited, LookOnly, Versioned, changes, job_link, wake


class BudgetForm(Versioned):
    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("member") and cleaned.get("project"):
            raise ValidationError("A budget is of a member, of a project, or of neither: then of the whole organization.")
        if (cleaned.get("amount") or 0) < 0:
            raise ValidationError({"amount": "An amount can't be negative."})
        self._clean_strict(cleaned)
        return cleaned

    def _clean_strict(self, cleaned: dict[str, Any]) -> None:
        """A strict budget is at least what is spent and held; locked, so that it is still true when it is saved."""
        known = Budget.objects.select_for_update().filter(pk=self.instance.pk).first()
        if known is None or "amount" not in cleaned:
            return
        taken = known.spent + known.held
        if cleaned.get("strictness", known.strictness) == Strictness.STRICT and cleaned["amount"] < taken:
            why = f"{taken:,.6f} is spent or held already; a strict budget can't be less. Make it soft, or close it."
            raise ValidationError({"amount": why})


@admin.register(Budget)
class Budgets(Audited):
    form = BudgetForm
    list_display = ["name", "target", "unit", "amount_words", "spent_words", "held_words", "left_words", "strictness", "active"]
    list_filter = ["active", "strictness", "unit"]
    search_fields = ["name", "project__name", "member__username"]
    list_select_related = ["project", "member"]
    autocomplete_fields = ["member", "project"]
    fieldsets = [
        (None, {"fields": ["name", "member", "project", "unit", "opened"]}),
        ("How much", {"fields": ["amount", "strictness", "active"], "description": "A closed budget starts nothing new."}),
        ("Written by the ledger", {"fields": ["spent", "held", "made"]}),
    ]

    def get_readonly_fields(self, request: HttpRequest, obj: Budget | None = None) -> list[str]:
        return ["spent", "held", "made", *(["member", "project", "unit"] if obj else [])]

    def save_model(self, request: HttpRequest, obj: Budget, form: forms.ModelForm, change: bool) -> None:
        if not change:
            super().save_model(request, obj, form, change)
            ledger.opened(obj, request.user, timezone.now())
            return
        request.audit_values = changes(form)  # type: ignore[attr-defined]
        values = {name: form.cleaned_data[name] for name in form.changed_data if name != "amount"}
        Budget.objects.filter(pk=obj.pk).update(**values, version=F("version") + 1)
        if "amount" in form.changed_data:
            ledger.set_limit(obj, form.cleaned_data["amount"], request.user, timezone.now())
        wake(Workload.objects.filter(status=lifecycle.QUEUED, gate="budget"))

    @admin.display(description="Of")
    def target(self, budget: Budget) -> str:
        return str(budget.member or budget.project or "the organization")

    @admin.display(description="Amount", ordering="amount")
    def amount_words(self, budget: Budget) -> str:
        return _amount(budget, budget.amount)

    @admin.display(description="Spent", ordering="spent")
    def spent_words(self, budget: Budget) -> str:
        return _amount(budget, budget.spent)

    @admin.display(description="Held", ordering="held")
    def held_words(self, budget: Budget) -> str:
        return _amount(budget, budget.held)

    @admin.display(description="Left")
    def left_words(self, budget: Budget) -> str:
        return _amount(budget, budget.left)


@admin.register(Hold)
class Holds(LookOnly):
    list_display = ["budget", "job", "attempt", "amount", "made", "released"]
    list_select_related = ["budget", "workload"]
    search_fields = ["budget__name", "workload__public_id"]
    ordering = ["-pk"]

    @admin.display(description="Job")
    def job(self, hold: Hold) -> str:
        return job_link(hold.workload)


@admin.register(Charge)
class Charges(LookOnly):
    list_display = ["made", "budget", "job", "attempt", "amount", "cores", "price", "start", "end", "note"]
    list_select_related = ["budget", "workload"]
    search_fields = ["budget__name", "label", "workload__public_id"]

    @admin.display(description="Job")
    def job(self, charge: Charge) -> str:
        return job_link(charge.workload, charge.label) or charge.label


def _amount(budget: Budget, value: Any) -> str:
    return words.money(value) if budget.unit == "money" else f"{value:,.2f} core-hours"
