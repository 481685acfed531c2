"""What admins and leads say about a budget: how much, of whom, how strict, how often, and when people are told.

One idea: `version` is the one that the form was opened with. Who saves a later one first wins; the other is told, and
keeps what was typed.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from jobs.models import Budget, Project, Unpaid
from jobs.models.budget import known_zone, usual_thresholds
from jobs.money import periods
from portal.numbers import whole

from . import names
from .account import styled
from .groups import Group, Grouped
from .people import PersonField

MOST_THRESHOLDS = 8
AMOUNT = {"max_digits": 18, "decimal_places": 6}
TOLD = "Percent of the limit; empty: nobody is told."
YEARS = range(2000, 2200)


class Day(forms.DateField):
    """A day of the calendar, chosen or typed as 2026-12-31."""

    def __init__(self, label: str, help_text: str) -> None:
        widget = forms.DateInput({"type": "date"}, format="%Y-%m-%d")
        super().__init__(label=label, help_text=help_text, required=False, widget=widget, input_formats=["%Y-%m-%d"])

    def clean(self, value: Any) -> date | None:
        day = super().clean(value)
        if day is not None and day.year not in YEARS:
            raise ValidationError(f"A year from {YEARS[0]} to {YEARS[-1]}.")
        return day


class Thresholds(forms.CharField):
    """Percents with commas between them: a list of whole numbers."""

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(str(one) for one in value) if isinstance(value, list) else value

    def clean(self, value: Any) -> list[int]:
        parts = [part for part in super().clean(value).replace("%", " ").replace(",", " ").replace(";", " ").split() if part]
        if not all(1 <= (whole(part) or 0) <= 1000 for part in parts) or len(parts) > MOST_THRESHOLDS:
            raise ValidationError(f"At most {MOST_THRESHOLDS} whole percents from 1 to 1000, such as 75, 90, 100.")
        return sorted({int(part) for part in parts})

    def has_changed(self, initial: Any, data: Any) -> bool:
        """By what is meant, not by how it is written."""
        try:
            return sorted(initial or []) != self.clean(data)
        except ValidationError:
            return True


class LeadForm(Grouped, forms.ModelForm):
    """What a lead of the project may change: its name, and when people are told."""

    GROUPS = (
        Group("The budget", ("name", "project", "member")),
        Group("How much", ("unit", "amount", "strictness", "recurrence")),
        Group("Its days", ("first_day", "last_day"), "when-once"),
        Group("Its periods", ("grant", "carry"), "when-renewed"),
        Group("Time zone and warnings", ("zone", "thresholds")),
    )
    version = forms.IntegerField(widget=forms.HiddenInput)
    thresholds = Thresholds(required=False, max_length=100, label="Tell people at", initial=usual_thresholds, help_text=TOLD)

    class Meta:
        model = Budget
        fields = ["name", "thresholds"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        styled(self)

    def clean_name(self) -> str:
        name = names.clean_title(self.cleaned_data["name"])
        if not name:
            raise ValidationError("A name of at least one letter.")
        return name


class BudgetForm(LeadForm):
    """All of it, for admins. Whose it is and what it counts is said once, when it is made."""

    amount = forms.DecimalField(label="Limit", min_value=Decimal(0), help_text="What may be spent, in money or in core-hours.", **AMOUNT)
    grant = forms.DecimalField(label="Each period begins with", min_value=Decimal(0), required=False,
                               help_text="Left empty: the limit.", **AMOUNT)
    member = PersonField(required=False, label="Of a person")
    first_day = Day("First day", "Nothing starts on it before. Empty: of use at once.")
    last_day = Day("Last day", "Of use until midnight; what is left then is of no use any more. Empty: no end.")

    class Meta(LeadForm.Meta):
        fields = ["name", "project", "unit", "strictness", "amount", "recurrence", "grant", "zone", "carry", "thresholds"]
        labels = {"project": "Of a project", "unit": "Counts", "recurrence": "Renewed", "zone": "Time zone",
                  "carry": "What is left goes over to the next period", "strictness": "When it is used up"}
        help_texts = {"carry": "", "project": "Neither a project nor a person: it is of the whole organization.",
                      "recurrence": "One that is renewed has no first and last day.",
                      "zone": "Days and periods begin at midnight there, such as Europe/Berlin."}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        budget = self.instance
        self.initial["first_day"] = periods.day_of(budget.begins, budget.zone)
        self.initial["last_day"] = periods.day_of(budget.ends, budget.zone, last=True)
        self.fields["project"].queryset = Project.objects.filter(active=True)  # type: ignore[attr-defined]
        self.fields["project"].empty_label = "No project"  # type: ignore[attr-defined]
        if self.instance.pk:
            for name in ("project", "member", "unit"):
                del self.fields[name]

    def clean_zone(self) -> str:
        known_zone(self.cleaned_data["zone"])  # before the days are read in it
        return str(self.cleaned_data["zone"])

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("member") and cleaned.get("project"):
            self.add_error("member", "A budget is of a person or of a project, not of both.")
        if cleaned.get("grant") is None:
            cleaned["grant"] = cleaned.get("amount") or Decimal(0)
        self._clean_days(cleaned)
        return cleaned

    def _clean_days(self, cleaned: dict[str, Any]) -> None:
        """From the days that were typed to the moments that are kept."""
        first, last = cleaned.get("first_day"), cleaned.get("last_day")
        if first and last and last < first:
            self.add_error("last_day", "It ends before it begins.")
        if cleaned.get("recurrence") and (first or last):
            why = "A budget that is renewed has no first and last day; choose Once, or leave this empty."
            self.add_error("first_day" if first else "last_day", why)
        if not self.errors:
            cleaned["begins"], cleaned["ends"] = periods.days(first, last, cleaned["zone"])


class AdjustForm(forms.Form):
    """Money taken or given back by hand, with the reason that the ledger keeps."""

    way = forms.ChoiceField(label="What", choices=[("back", "Give back: less is spent"), ("take", "Take: more is spent")])
    amount = forms.DecimalField(label="How much", min_value=Decimal("0.000001"), **AMOUNT)
    reason = forms.CharField(label="Why", max_length=180, help_text="Stands in the ledger beside your name, for good.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        styled(self)

    @property
    def signed(self) -> Decimal:
        """What it takes from the budget."""
        amount: Decimal = self.cleaned_data["amount"]
        return amount if self.cleaned_data["way"] == "take" else -amount


class UnpaidForm(forms.Form):
    """Who may run what no budget pays for."""

    unpaid = forms.ChoiceField(label="Who may run what no budget pays for", choices=Unpaid.choices)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        styled(self)
