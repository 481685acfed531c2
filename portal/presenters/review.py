"""The right column of New job: what is ready, what it costs in its first hour and at most, and the hardware cards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from django.utils import timezone

from jobs import ledger, scheduling
from jobs.lifecycle import Tone
from jobs.models import Coretype
from portal import words
from portal.forms import InputRow, JobForm
from portal.forms.choices import Shape

from .text import plural
from .values import Row


@dataclass(frozen=True)
class CoretypeCard:
    """A radio card: price, what is free now, what a node has."""

    coretype: Coretype
    chosen: bool
    hourly: Decimal  # a whole node
    rows: list[Row]
    used: float | None  # percent of its cores
    used_words: str
    tone: str
    icon: str
    fit: str


@dataclass(frozen=True)
class CheckRow:
    tone: str
    icon: str
    text: str
    more: str


@dataclass(frozen=True)
class Review:
    """`first_hour_to`: what the first hour costs at most, where there are choices of hardware with other prices.

    `first_hour_words`: what becomes of that money at the start.
    """

    checks: list[CheckRow]
    first_hour: Decimal | None
    rows: list[Row]
    note: str = ""
    first_hour_to: Decimal | None = None
    first_hour_words: str = ""


def cards(form: Any) -> list[CoretypeCard]:
    """Every coretype that is offered, with what is free now."""
    occupancy = scheduling.occupancy()
    chosen = str(form["coretype"].value() or "")
    return [_card(kind, occupancy.get(kind.pk), chosen == str(kind.pk)) for kind in form.fields["coretype"].queryset]  # type: ignore[attr-defined]


def economy(form: JobForm) -> str:
    """What economy work costs on the coretypes that offer it; empty where none does."""
    kinds = [kind for kind in form.fields["coretype"].queryset if kind.economy_price is not None]  # type: ignore[attr-defined]
    return ", ".join(f"{kind} {words.price(kind.economy_price)}" for kind in kinds[:4])


def review(form: JobForm, inputs: Sequence[InputRow]) -> Review:
    """What the form asks for as far as it is filled in; `form` has been validated."""
    data = form.cleaned_data if form.is_bound and form.errors is not None else {}
    kind, nodes, cores, wall = (data.get(name) for name in ("coretype", "nodes", "cores", "walltime"))
    checks = [_inputs(inputs), _command(form, data), _hardware(form, data)]
    if not (kind and nodes and cores):
        return Review(checks, None, [])
    cheap, shapes = bool(data.get("economy")), data.get("choices") or [(kind, nodes, cores)]
    firsts = [ledger.first_hour(*shape, cheap) for shape in shapes]
    rows = [_shape(shape, first) for shape, first in zip(shapes, firsts, strict=True)] if len(shapes) > 1 else []
    if wall:
        most = [ledger.due(one.price_of(cheap) * n * c, wall) for one, n, c in shapes]
        rows.append(Row(f"At most, walltime {words.duration(wall)}", _range(most)))
    budgets = ledger.budgets_for(form.user, data.get("project"))
    rows += [Row(f"{budget.name} free now", _free(budget)) for budget in budgets]
    checks.append(_money_of(budgets, shapes, cheap) if budgets else unpaid(form.user, data.get("project")))
    to = max(firsts)
    return Review(checks, min(firsts), rows, _starts(shapes), to if to > min(firsts) else None, first_hour_words(budgets, form.user))


def _shape(shape: Shape, first: Decimal) -> Row:
    kind, nodes, cores = shape
    return Row(f"{kind} {nodes} \u00d7 {plural(cores, 'core')}", f"{words.money(first)} the first hour")


def _range(amounts: Sequence[Decimal]) -> str:
    low, high = words.money(min(amounts)), words.money(max(amounts))
    return low if low == high else f"{low} to {high}"


def _starts(shapes: Sequence[Shape]) -> str:
    """What is free now, of the first choice that is, else of the first of all."""
    occupancy = scheduling.occupancy()
    told = [start(kind, nodes * cores, occupancy.get(kind.pk)) for kind, nodes, cores in shapes]
    return next((text for text in told if text.endswith("at once.")), told[0])


def _money_of(budgets: Sequence[Any], shapes: Sequence[Shape], cheap: bool) -> CheckRow:
    """Whether the first hour can be paid, of each choice."""
    found = [money(budgets, kind.price_of(cheap), nodes * cores) for kind, nodes, cores in shapes]
    poor = [str(kind) for (kind, _, _), row in zip(shapes, found, strict=True) if row.tone != Tone.PASS]
    good = next((row for row in found if row.tone == Tone.PASS), None)
    return replace(good, more=f"but not the first hour on {', '.join(poor)}") if good and poor else good or found[0]


def _card(kind: Coretype, room: Any, chosen: bool) -> CoretypeCard:
    free, total = (room.free, room.total) if room else (None, None)
    rows = [
        Row("Free now", "not known" if free is None else f"{free:,} of {total:,} cores"),
        Row("Node", f"{plural(kind.cores, 'core')}, {words.size(kind.memory)}"),
        Row("Nodes a job", f"up to {kind.max_nodes:,}"),
        Row("A node an hour", words.money(kind.hourly(1, kind.cores))),
    ]
    if room and room.queued:
        rows.append(Row("Waiting", plural(room.queued, "core")))
    used = 100 * (total - free) / total if total and free is not None else None
    tone, icon, fit = _fit(kind, room)
    return CoretypeCard(kind, chosen, kind.hourly(1, kind.cores), rows, used, f"{free} of {total} cores free", tone, icon, fit)


def _fit(kind: Coretype, room: scheduling.Occupancy | None) -> tuple[str, str, str]:
    free = room.free if room else None
    if room and room.old:
        since = timezone.localtime(room.old)
        return Tone.LOOK, "alert-triangle", f"Has not answered since {since:%H:%M}; jobs wait until it does"
    if free is None:
        return Tone.LOOK, "alert-triangle", "Can't be asked just now; jobs wait until it answers"
    if free >= kind.cores:
        return Tone.PASS, "circle-check", "A node is free now"
    if free:
        return Tone.WAIT, "hourglass-empty", f"{plural(free, 'core')} free, no whole node"
    return Tone.WAIT, "hourglass-empty", "All in use; jobs wait in line"


def _inputs(rows: Sequence[InputRow]) -> CheckRow:
    bad = [row for row in rows if row.error]
    if bad:
        return CheckRow(Tone.FAIL, "circle-x", "Inputs", f"{plural(len(bad), 'name')} to mend")
    if not rows:
        return CheckRow(Tone.WAIT, "info-circle", "No inputs", "the command runs in an empty folder")
    return CheckRow(Tone.PASS, "circle-check", plural(len(rows), "input"), words.size(sum(row.file.size for row in rows)))


def _command(form: JobForm, data: dict[str, Any]) -> CheckRow:
    wrong = [name for name in ("name", "software", "command", "environment") if form.is_bound and name in form.errors]
    if wrong:
        return CheckRow(Tone.FAIL, "circle-x", "Software and command", str(form.errors[wrong[0]][0]))
    if not data.get("command"):
        return CheckRow(Tone.WAIT, "circle-dashed", "Software and command", "to be filled in")
    lines = plural(data["command"].count("\n") + 1, "line")
    return CheckRow(Tone.PASS, "circle-check", str(data.get("software") or ""), f"{lines} of command")


def _hardware(form: JobForm, data: dict[str, Any]) -> CheckRow:
    other = [field.name for row in form.others for field in (row.coretype, row.nodes, row.cores)]
    wrong = [name for name in ("coretype", "nodes", "cores", "walltime", "project", *other) if form.is_bound and name in form.errors]
    if wrong:
        return CheckRow(Tone.FAIL, "circle-x", "Hardware", str(form.errors[wrong[0]][0]))
    kind = data.get("coretype")
    if kind is None:
        return CheckRow(Tone.WAIT, "circle-dashed", "Hardware", "to be chosen")
    more = f"{words.size(kind.memory)} a node"
    if others := (data.get("choices") or [])[1:]:
        more = "or else " + ", ".join(f"{one} {nodes} \u00d7 {cores}" for one, nodes, cores in others)
    return CheckRow(Tone.PASS, "circle-check", f"{kind} {data['nodes']} \u00d7 {plural(data['cores'], 'core')}", more)


def money(budgets: Sequence[Any], price: Decimal, cores: int) -> CheckRow:
    """Whether these budgets can pay the first hour."""
    now = timezone.now()
    for budget in budgets:
        if why := ledger.why_unusable(budget, now):
            kept = "it is kept and waits in Queued" if budget.active else "nothing can start on it"
            return CheckRow(Tone.LOOK, "alert-triangle", f"{budget.name} can't be used now", f"{why}; {kept}")
        needed = ledger.rate(budget, price, cores)
        if budget.left < needed:
            more = f"{_amount(budget, needed)} needed, {_free(budget)} free; it is kept and waits in Queued"
            return CheckRow(Tone.LOOK, "alert-triangle", f"{budget.name} can't pay the first hour", more)
    return CheckRow(Tone.PASS, "circle-check", f"{budgets[0].name} can pay", "the first hour is held at the start")


def unpaid(user: Any, project: Any) -> CheckRow:
    """No budget applies: it runs unpaid, or waits until somebody pays for it."""
    if ledger.may_run_unpaid(user):
        return CheckRow(Tone.WAIT, "info-circle", "No budget applies", "nothing is charged to you")
    more = f"{ledger.nobody_pays(project)}; it is kept and waits in Queued"
    return CheckRow(Tone.LOOK, "alert-triangle", "Nobody pays for it yet", more)


def first_hour_words(budgets: Sequence[Any], user: Any) -> str:
    """What becomes of the price of the first hour at the start."""
    if any(budget.unit == "money" for budget in budgets):
        return "First hour, held at the start"
    if budgets:
        return "First hour by its price; core-hours are held at the start, no money"
    return "First hour, charged to nobody" if ledger.may_run_unpaid(user) else "First hour, held once a budget pays for it"


def _amount(budget: Any, value: Decimal) -> str:
    return words.money(value) if budget.unit == "money" else f"{value:,.1f} core-hours"


def _free(budget: Any) -> str:
    return _amount(budget, budget.left)


def start(kind: Coretype, cores: int, room: scheduling.Occupancy | None) -> str:
    """Whether it is likely to start at once; empty if nobody can say."""
    if room is None or room.free is None or room.old:
        return ""
    if room.free >= cores and not room.queued:
        return f"{plural(cores, 'core')} of {kind} free now ({timezone.localtime():%H:%M}): likely to start at once."
    if room.free >= cores:
        return f"{kind} has {plural(room.free, 'core')} free, but jobs before it ask for {plural(room.queued, 'core')}."
    return f"{plural(room.free, 'core')} of {kind} free, {plural(cores, 'core')} needed: it will wait in line."
