"""The form of a new workstation: kinds with their rules, hardware with its two prices, and what it will cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jobs import ledger, scheduling
from jobs.lifecycle import Tone
from jobs.models import Coretype, WorkstationKind
from portal import words
from portal.forms.workstation import WorkstationForm

from .. import review
from ..values import Row
from .cost import NIGHT

ICONS = {"desktop": "device-desktop", "terminal": "terminal-2", "jupyter": "notebook"}


@dataclass(frozen=True)
class KindCard:
    kind: WorkstationKind
    chosen: bool
    icon: str
    software: list[str]
    rules: list[Row]


@dataclass(frozen=True)
class HardwareCard:
    """A radio card: what a node costs in an hour, active and suspended, and whether one is free."""

    base: review.CoretypeCard
    rows: list[Row]


def kinds(form: WorkstationForm) -> list[KindCard]:
    chosen = str(form["kind"].value() or "")
    return [_kind(kind, chosen == str(kind.pk)) for kind in form.fields["kind"].queryset]  # type: ignore[attr-defined]


def hardware(form: WorkstationForm) -> list[HardwareCard]:
    return [HardwareCard(card, _prices(card.coretype, card.rows)) for card in review.cards(form)]


def ask(form: WorkstationForm) -> review.Review:
    """What the form asks for as far as it is filled in; `form` has been validated."""
    data = form.cleaned_data if form.is_bound and form.errors is not None else {}
    kind, hardware, cores = (data.get(name) for name in ("kind", "coretype", "cores"))
    checks = [_checked(form, "kind", str(kind or ""), kind and kind.get_session_display()), _hardware(form, hardware, cores)]
    if not (hardware and cores):
        return review.Review(checks, None, [])
    budgets = ledger.budgets_for(form.user, data.get("project"))
    checks.append(review.money(budgets, hardware.price, cores) if budgets else review.unpaid(form.user, data.get("project")))
    first = ledger.first_hour(hardware, 1, cores)
    rows = [
        Row("Suspended, a GiB of its home", f"{words.price(hardware.disk_price)} an hour"),
        Row(f"A night, {NIGHT} h, left active", words.money(NIGHT * first)),
        *[Row(f"{budget.name} free now", words.money(budget.left)) for budget in budgets if budget.unit == "money"],
    ]
    note, held = review.start(hardware, cores, scheduling.occupancy().get(hardware.pk)), review.first_hour_words(budgets, form.user)
    return review.Review(checks, first, rows, note, first_hour_words=held)


def rules(kind: WorkstationKind) -> list[Row]:
    """What its admin has set, in words."""
    idle = f"after {words.duration(kind.idle_after)} without work" if kind.idle_after else "never"
    found = [
        Row("Suspended when idle", idle),
        Row("Can be kept on", f"up to {words.duration(kind.keep_limit)}" if kind.keep_limit and kind.idle_after else "no need"),
        Row("Home", f"up to {words.size(kind.home_limit)}, copied every {words.duration(kind.copy_every)}"),
    ]
    if kind.max_life:
        found.append(Row("Ended", f"{words.duration(kind.max_life)} after its first start"))
    if kind.suspended_days:
        found.append(Row("Ended when suspended", f"for {kind.suspended_days} day{'' if kind.suspended_days == 1 else 's'}"))
    return found


# --- private ----------------------------------------------------------------------------------------------------------
def _kind(kind: WorkstationKind, chosen: bool) -> KindCard:
    software = [line.strip() for line in kind.software.splitlines() if line.strip()][:6]
    return KindCard(kind, chosen, ICONS[kind.session], software, rules(kind))


def _prices(kind: Coretype, known: list[Row]) -> list[Row]:
    """Its two prices before what a job's card says of it."""
    disk = f"{words.price(kind.disk_price)} /h a GiB" if kind.disk_price else "nothing"
    kept = [row for row in known if row.term in ("Free now", "Node", "Waiting")]
    return [Row("Active", f"{words.price(kind.hourly(1, kind.cores))} /h"), Row("Suspended", disk), *kept]


def _checked(form: WorkstationForm, name: str, text: str, more: Any) -> review.CheckRow:
    if form.is_bound and name in form.errors:
        return review.CheckRow(Tone.FAIL, "circle-x", name.capitalize(), str(form.errors[name][0]))
    if not text:
        return review.CheckRow(Tone.WAIT, "circle-dashed", name.capitalize(), "to be chosen")
    return review.CheckRow(Tone.PASS, "circle-check", text, str(more or ""))


def _hardware(form: WorkstationForm, kind: Coretype | None, cores: int | None) -> review.CheckRow:
    wrong = [name for name in ("coretype", "cores", "project") if form.is_bound and name in form.errors]
    if wrong:
        return review.CheckRow(Tone.FAIL, "circle-x", "Hardware", str(form.errors[wrong[0]][0]))
    if kind is None:
        return review.CheckRow(Tone.WAIT, "circle-dashed", "Hardware", "to be chosen")
    much = f"{cores} core{'' if cores == 1 else 's'}, {words.size(kind.memory)}"
    return review.CheckRow(Tone.PASS, "circle-check", f"{kind}, one node", much)
