"""The money of many clusters at once: loaded and locked, moved in memory, written down in a few statements.

Only ledger.py uses it. A transaction over 200 clusters costs the same handful of statements as one over a single cluster.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import F, Sum, Value

from . import succession
from .models import Budget, Charge, Cluster, Hold, MoneyField, Unit, Workload, insert, update_alike
from .models.fields import rounded
from .models.rows import columns, made

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
OF_A_HOLD = columns(Hold, "made")
"""What its money depends on; a cluster has many more columns."""


def rate(budget: Budget | None, price: Decimal, cores: int) -> Decimal:
    """What an hour of `cores` cores takes from this budget, in its unit."""
    return Decimal(cores) if budget is not None and budget.unit == Unit.CORE_HOURS else price * cores


def due(hourly: Decimal, seconds: int) -> Decimal:
    """What `seconds` cost at `hourly`: the one place where money is rounded."""
    return rounded(hourly * seconds / HOUR)


def seconds_between(start: datetime, end: datetime) -> int:
    """Whole seconds; a started second counts, less than none is none."""
    return max(0, math.ceil((end - start).total_seconds()))


def money(amount: Decimal) -> Value:
    """A constant for F() arithmetic on money columns."""
    return Value(amount, MoneyField())


def beyond(budget: Budget) -> str:
    """The note of a charge that the installation bears in place of a strict budget."""
    return f"beyond budget {budget.pk}"


def last_moment(budget: Budget) -> datetime | None:
    """Up to when it pays: a strict one until its end, a soft one for what runs as long as that takes."""
    return budget.ends if budget.is_strict else None


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
        booked = self._booked(keys)
        by_key: dict[tuple[int, int], list[Hold]] = defaultdict(list)
        for hold in made(holds.order_by("budget_id"), OF_A_HOLD, budget=self.budgets):
            by_key[hold.workload_id, hold.attempt].append(hold)
        self.accounts = [
            Account(self, cluster, by_key[cluster.workload_id, cluster.attempt], booked[cluster.workload_id, cluster.attempt])
            for cluster in clusters
        ]

    def move(self, budget: Budget, spent: Decimal = ZERO, held: Decimal = ZERO) -> None:
        budget.spent += spent
        budget.held += held
        self.moved[budget.pk][0] += spent
        self.moved[budget.pk][1] += held

    def write(self) -> None:
        changed = [account for account in self.accounts if account.changed]
        clusters = [account.cluster for account in changed]
        update_alike(clusters, ["charged_until", "paid_until", "settled", "orders"])
        holds = [hold for account in changed for hold in account.holds]
        update_alike([hold for hold in holds if hold.pk], ["amount", "released"])
        insert([hold for hold in holds if not hold.pk])
        for pk, (spent, held) in sorted(self.moved.items()):
            Budget.objects.filter(pk=pk).update(spent=F("spent") + money(spent), held=F("held") + money(held))
        self._name_charges()
        Charge.objects.bulk_create(self.charges)

    def _name_charges(self) -> None:
        rows = Workload.objects.filter(pk__any_of={charge.workload_id for charge in self.charges})
        whose = {pk: values for pk, *values in rows.values_list("pk", *WHOSE.values())}
        for charge in self.charges:
            for column, value in zip(WHOSE, whose[charge.workload_id], strict=True):
                setattr(charge, column, value or ("" if column == "software" else None))

    @staticmethod
    def _booked(keys: set[tuple[int, int]]) -> dict[tuple[int, int], dict[tuple[int | None, str], Decimal]]:
        """Sums booked before, by attempt and then by budget; those of the installation by their note."""
        sums: dict[tuple[int, int], dict[tuple[int | None, str], Decimal]] = defaultdict(lambda: defaultdict(lambda: ZERO))
        rows = Charge.objects.filter(workload__any_of=[pk for pk, _ in keys], kind=Charge.Kind.USE).order_by()
        for workload, attempt, budget, note, total in rows.values_list("workload", "attempt", "budget", "note").annotate(t=Sum("amount")):
            sums[workload, attempt][budget, note if budget is None else ""] += total
        return sums


@dataclass
class Account:
    """One cluster's money: its holds and what was booked before."""

    books: Books
    cluster: Cluster
    holds: list[Hold]
    booked: dict[tuple[int | None, str], Decimal]
    changed: bool = field(default=False, init=False)

    def meter(self) -> bool:
        """Charge if it is time, reach ahead with the holds; True if `paid_until` moved."""
        cluster, now = self.cluster, self.books.now
        if cluster.up is None or cluster.settled:
            return False
        if cluster.charged_until is None:  # looked at from now on; a job shorter than STEP is one row, booked at its end
            cluster.charged_until, self.changed = cluster.up, True
        if now - cluster.charged_until >= STEP:
            self._charge(now)
        if cluster.releasing is None:
            self.holds += succession.new_holds(self.holds, self.books.budgets.values(), now, AHEAD)
        paid = [(hold, self._reach_ahead(hold)) for hold in self.holds]
        until = min((end for hold, end in paid if hold.budget.is_strict and end is not None), default=None)
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
            self._charge(max(end, cluster.up, cluster.charged_until or cluster.up))
        for hold in self.holds:
            self.books.move(hold.budget, held=-hold.amount)
            hold.amount, hold.released = ZERO, self.books.now
        cluster.settled, cluster.paid_until, self.changed = self.books.now, None, True
        return True

    def _charge(self, end: datetime) -> None:
        """Book what is due until `end` and was not booked yet; what lies after the end of a strict budget is not its to pay."""
        cluster = self.cluster
        start = cluster.charged_until or cluster.up
        for hold in self.holds:
            hourly = rate(hold.budget, cluster.price, cluster.total_cores)
            own, others = self.booked[hold.budget_id, ""], self.booked[None, beyond(hold.budget)]
            first, last = min(hold.since or cluster.up, end), succession.handed_over(hold, self.holds)
            before = due(hourly, seconds_between(cluster.up, first))
            whole = due(hourly, seconds_between(cluster.up, min(end, last or end))) - before
            inside = due(hourly, seconds_between(cluster.up, min(end, self._last(hold) or end))) - before
            self._book(hold, whole - own - others, max(ZERO, inside - own), max(start, first), min(end, last or end))
        if not self.holds:
            total = due(cluster.price * cluster.total_cores, seconds_between(cluster.up, end))
            self._write(None, total - self.booked[None, ""], start, end)
        cluster.charged_until, self.changed = end, True

    def _book(self, hold: Hold, amount: Decimal, most: Decimal, start: datetime, end: datetime) -> None:
        """Take it, at most `most`, from the hold, then from what is free; the rest of a strict budget is borne by the installation."""
        if amount <= 0:
            return
        budget, from_hold = hold.budget, min(amount, most, hold.amount)
        free = min(amount, most) - from_hold
        if budget.is_strict:
            free = min(free, max(ZERO, budget.left))
        self.books.move(budget, spent=from_hold + free, held=-from_hold)
        hold.amount -= from_hold
        self._write(budget, from_hold + free, start, end)
        self._write(None, amount - from_hold - free, start, end, beyond(budget))

    def _write(self, budget: Budget | None, amount: Decimal, start: datetime, end: datetime, note: str = "") -> None:
        if amount <= 0:
            return
        cluster = self.cluster
        self.booked[budget.pk if budget else None, note] += amount
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

    def _reach_ahead(self, hold: Hold) -> datetime | None:
        """Extend the hold if it reaches less than AHEAD; until when it pays, or None if it costs nothing or others pay on then."""
        hourly = rate(hold.budget, self.cluster.price, self.cluster.total_cores)
        if hourly <= 0:
            return None
        until = self._until(hold, hourly)
        if until - self.books.now < AHEAD and self.cluster.releasing is None and hold.budget.active:
            amount = due(hourly, HOUR)
            if hold.budget.is_strict:
                amount = max(ZERO, min(amount, hold.budget.left, self._until_its_end(hold, hourly)))
            self.books.move(hold.budget, held=amount)
            hold.amount += amount
            self.changed = self.changed or amount > 0
            until = self._until(hold, hourly)
        others = succession.handed_over(hold, self.holds)
        return None if others is not None and self._until_its_end(hold, hourly) <= 0 else until

    def _until(self, hold: Hold, hourly: Decimal) -> datetime:
        paid = self._paid(hold) + timedelta(seconds=int(hold.amount * HOUR / hourly))
        return min(paid, self._last(hold) or paid)

    def _until_its_end(self, hold: Hold, hourly: Decimal) -> Decimal:
        """What this hold may still grow by before it reaches past the end of its budget."""
        last = self._last(hold)
        return due(hourly, HOUR) if last is None else due(hourly, seconds_between(self._paid(hold), last)) - hold.amount

    def _last(self, hold: Hold) -> datetime | None:
        """Up to when its budget pays for this cluster."""
        ends = (last_moment(hold.budget), succession.handed_over(hold, self.holds))
        return min((end for end in ends if end is not None), default=None)

    def _paid(self, hold: Hold) -> datetime:
        paid = self.cluster.charged_until or self.cluster.up
        return max(paid, hold.since or paid)
