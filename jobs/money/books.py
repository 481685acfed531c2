"""The money of many clusters at once: loaded and locked, moved in memory, written down in a few statements.

A transaction over 200 clusters costs the same handful of statements as one over a single cluster.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import F, Value

from ..models import Budget, Charge, Cluster, Hold, MoneyField, Unit, Workload, update_alike
from ..models.fields import rounded
from ..models.rows import columns, made
from . import succession
from .succession import Span

HOUR = 3600
AHEAD = timedelta(seconds=1800)
"""How far a hold must reach ahead; less, and the meter buys up to an hour more."""
STEP = timedelta(seconds=300)
"""After this much running time is charged for; until then it is only held."""
ZERO = Decimal(0)
WHOSE = {"label": "name", "owner_id": "owner", "project_id": "project", "software": "job__software__software__name"}
"""What a charge keeps of its workload, for when that is deleted."""
OF_A_CLUSTER = ("id", "workload_id", "attempt", "coretype_id", "nodes_wanted", "cores", "price", "up", "releasing", "charged_until",
                "paid_until", "settled", "orders")  # fmt: skip
"""What its money depends on; a cluster has many more columns."""
OF_A_HOLD = columns(Hold, "made")


def rate(budget: Budget | None, price: Decimal, cores: int) -> Decimal:
    """What an hour of `cores` cores takes from this budget, in its unit."""
    return Decimal(cores) if budget is not None and budget.unit == Unit.CORE_HOURS else price * cores


def due(hourly: Decimal, seconds: int) -> Decimal:
    """What `seconds` cost at `hourly`: the one place where money is rounded."""
    return rounded(hourly * seconds / HOUR)


def seconds_between(start: datetime, end: datetime) -> int:
    """Whole seconds; a started second counts, less than none is none."""
    return max(0, math.ceil((end - start).total_seconds()))


def as_money(amount: Decimal) -> Value:
    """A constant for F() arithmetic on money columns."""
    return Value(amount, MoneyField())


def beyond(budget: Budget) -> str:
    """The note of a charge that the installation bears in place of a strict budget."""
    return f"beyond budget {budget.pk}"


class Books:
    """Everything that the clusters' money needs, locked: clusters, then budgets, both in id order."""

    def __init__(self, cluster_ids: Sequence[int], now: datetime) -> None:
        self.now = now
        clusters = made(Cluster.objects.filter(pk__any_of=cluster_ids).select_for_update().order_by("pk"), OF_A_CLUSTER)
        keys = {(cluster.workload_id, cluster.attempt) for cluster in clusters}
        holds = Hold.objects.filter(workload__any_of=[pk for pk, _ in keys], released__isnull=True)
        ends = dict(holds.order_by().values_list("budget_id", "budget__ends"))
        ids = {*ends, *succession.heirs(ends, now, AHEAD)}
        self.budgets = {budget.pk: budget for budget in Budget.objects.filter(pk__any_of=ids).select_for_update().order_by("pk")}
        self.moved: dict[int, list[Decimal]] = defaultdict(lambda: [ZERO, ZERO])
        self.charges: list[Charge] = []
        by_key: dict[tuple[int, int], list[Hold]] = defaultdict(list)
        for hold in made(holds.order_by("budget_id"), OF_A_HOLD, budget=self.budgets):
            by_key[hold.workload_id, hold.attempt].append(hold)
        self.accounts = [Account(self, cluster, by_key[cluster.workload_id, cluster.attempt]) for cluster in clusters]

    def move(self, budget: Budget, spent: Decimal = ZERO, held: Decimal = ZERO) -> None:
        """In memory, in the budget's unit; `write` puts the sum of all moves down."""
        budget.spent += spent
        budget.held += held
        self.moved[budget.pk][0] += spent
        self.moved[budget.pk][1] += held

    def write(self) -> None:
        """Everything that was moved, in this transaction: clusters, holds, budgets, charges."""
        changed = [account for account in self.accounts if account.changed]
        clusters = [account.cluster for account in changed]
        update_alike(clusters, ["charged_until", "paid_until", "settled", "orders"])
        holds = [hold for account in changed for hold in account.holds]
        update_alike([hold for hold in holds if hold.pk], ["amount", "since", "released"])
        self._add([hold for hold in holds if not hold.pk])
        for pk, (spent, held) in sorted(self.moved.items()):
            Budget.objects.filter(pk=pk).update(spent=F("spent") + as_money(spent), held=F("held") + as_money(held))
        self._name_charges()
        Charge.objects.bulk_create(self.charges)

    @staticmethod
    def _add(holds: list[Hold]) -> None:
        """New ones; one that has stepped aside comes back as the same row."""
        names = {"unique_fields": ["budget", "workload", "attempt"], "update_fields": ["amount", "made", "since", "released"]}
        Hold.objects.bulk_create(holds, update_conflicts=True, **names)

    def _name_charges(self) -> None:
        rows = Workload.objects.filter(pk__any_of={charge.workload_id for charge in self.charges})
        whose = {pk: values for pk, *values in rows.values_list("pk", *WHOSE.values())}
        for charge in self.charges:
            for column, value in zip(WHOSE, whose[charge.workload_id], strict=True):
                setattr(charge, column, value or ("" if column == "software" else None))


@dataclass
class Account:
    """One cluster's money: its holds, and up to when it is charged."""

    books: Books
    cluster: Cluster
    holds: list[Hold]
    changed: bool = field(default=False, init=False)

    def meter(self) -> bool:
        """Charge if it is time, reach ahead with the holds; True if `paid_until` moved."""
        cluster, now = self.cluster, self.books.now
        if cluster.up is None or cluster.settled:
            return False
        if cluster.charged_until is None:  # looked at from now on; a job shorter than STEP is one row, booked at its end
            cluster.charged_until, self.changed = cluster.up, True
        self._line_up()
        if now - cluster.charged_until >= STEP:
            self._charge(now)
        until = self._reach_ahead()
        if until == cluster.paid_until:
            return False
        cluster.paid_until, self.changed = until, True
        cluster.orders += 1  # the row is locked
        return True

    def settle(self, end: datetime) -> bool:
        """Book everything until `end`, free the holds; False if that was done before."""
        cluster = self.cluster
        if cluster.settled:
            return False
        if cluster.up is not None:
            self._line_up(more=False)
            self._charge(max(end, self._charged))
        for hold in self._open:
            self._free(hold)
        cluster.settled, cluster.paid_until, self.changed = self.books.now, None, True
        return True

    @property
    def _open(self) -> list[Hold]:
        return [hold for hold in self.holds if hold.released is None]

    @property
    def _charged(self) -> datetime:
        return self.cluster.charged_until or self.cluster.up

    def _line_up(self, more: bool = True) -> None:
        """Whose turn comes soon, by the dates as they stand: a hold of nothing yet for each, none for those that it no longer is."""
        now, charged = self.books.now, self._charged
        paying = [hold for hold in self._open if not hold.early(charged)]
        turns = succession.turns([hold.budget for hold in paying], self.books.budgets.values(), charged, now + AHEAD)
        for hold in [hold for hold in self._open if hold.early(charged)]:
            since = turns.pop(hold.budget_id, None)
            if since is None:
                self._free(hold)
            elif since != hold.since:
                hold.since, self.changed = since, True
        if more and self.cluster.releasing is None:
            of = {"workload_id": self.cluster.workload_id, "attempt": self.cluster.attempt, "amount": ZERO, "made": now}
            self.holds += [Hold(budget=self.books.budgets[pk], since=since, **of) for pk, since in turns.items()]
            self.changed = self.changed or bool(turns)

    def _free(self, hold: Hold) -> None:
        self.books.move(hold.budget, held=-hold.amount)
        hold.amount, hold.released, self.changed = ZERO, self.books.now, True

    def _charge(self, end: datetime) -> None:
        """Book what falls due from where it was charged to until `end`, each second to those whose it is then."""
        start, paying = self._charged, self._open
        for span in succession.spans(paying, start, end):
            hourly, last = rate(span.hold.budget, self.cluster.price, self.cluster.total_cores), span.last or end
            self._book(span, self._due(hourly, span.first, last), last)
        if not paying:
            self._write(None, self._due(self.cluster.price * self.cluster.total_cores, start, end), start, end)
        for hold in succession.outdated(paying, end):
            self._free(hold)
        self.cluster.charged_until, self.changed = end, True

    def _due(self, hourly: Decimal, start: datetime, end: datetime) -> Decimal:
        """What is due at `end` less what was at `start`, so that parts add up to the whole however it is split."""
        up = self.cluster.up
        return due(hourly, seconds_between(up, end)) - due(hourly, seconds_between(up, start))

    def _book(self, span: Span, amount: Decimal, end: datetime) -> None:
        """Take it from the hold, then from what is free; what a strict budget can't or may not pay is borne by the installation."""
        hold, budget = span.hold, span.hold.budget
        most = amount if span.allowed else ZERO
        from_hold = min(most, hold.amount)
        free = most - from_hold
        if budget.is_strict:
            free = min(free, max(ZERO, budget.left))
        self.books.move(budget, spent=from_hold + free, held=-from_hold)
        hold.amount -= from_hold
        self._write(budget, from_hold + free, span.first, end)
        self._write(None, amount - from_hold - free, span.first, end, beyond(budget))

    def _write(self, budget: Budget | None, amount: Decimal, start: datetime, end: datetime, note: str = "") -> None:
        if amount <= 0:
            return
        cluster = self.cluster
        self.books.charges.append(
            Charge(
                budget=budget,
                workload_id=cluster.workload_id,
                attempt=cluster.attempt,
                amount=amount,
                cores=cluster.total_cores,
                price=cluster.price,
                start=start,
                end=end,
                made=self.books.now,
                note=note,
                left=budget.amount - budget.spent if budget else None,
                coretype_id=cluster.coretype_id,
            )
        )

    def _reach_ahead(self) -> datetime | None:
        """Extend what reaches less than AHEAD; until when the strict ones pay, None if nothing ends that."""
        by_hold: dict[int, list[Span]] = defaultdict(list)
        for span in succession.spans(self._open, self._charged, None):
            by_hold[span.hold.budget_id].append(span)
        ends = [(hold, self._paid_until(hold, by_hold[hold.budget_id])) for hold in self._open]
        return min((end for hold, end in ends if hold.budget.is_strict and end is not None), default=None)

    def _paid_until(self, hold: Hold, spans: list[Span]) -> datetime | None:
        """None if it costs nothing, or pays for all that falls to it."""
        hourly = rate(hold.budget, self.cluster.price, self.cluster.total_cores)
        if hourly <= 0:
            return None
        until = _lasts(hold, spans, hourly)
        if until is None or until - self.books.now >= AHEAD or self.cluster.releasing is not None or not hold.budget.active:
            return until
        amount = min(due(hourly, HOUR), max(ZERO, _whole(spans, hourly) - hold.amount))
        if hold.budget.is_strict:
            amount = max(ZERO, min(amount, hold.budget.left))
        self.books.move(hold.budget, held=amount)
        hold.amount += amount
        self.changed = self.changed or amount > 0
        return _lasts(hold, spans, hourly)


def _lasts(hold: Hold, spans: Sequence[Span], hourly: Decimal) -> datetime | None:
    """The moment up to which the hold's money pays what falls to it; None: for all of it."""
    money = hold.amount
    for span in spans:
        needed = _cost(span, hourly)
        if money < needed or not span.allowed:
            return span.first + timedelta(seconds=int(money * HOUR / hourly) if span.allowed else 0)
        money -= needed
    return None


def _whole(spans: Sequence[Span], hourly: Decimal) -> Decimal:
    """What all that falls to a hold costs."""
    return sum((_cost(span, hourly) for span in spans if span.allowed), ZERO)


def _cost(span: Span, hourly: Decimal) -> Decimal:
    return due(hourly, seconds_between(span.first, span.last)) if span.last else Decimal("Infinity")
