"""Charts over a million charges of one budget on PostgreSQL: spend by day for each kind of line, and the whole page.

Run: `uv run --group test python tests/bench/spend_charts.py [charges]`. Goal: 300 ms. Beside it the bare limit: the same sums
asked of the charges themselves, without the days added up.
"""

from __future__ import annotations

import importlib
import sys
import time
from decimal import Decimal

from lifecycle import set_up

BARE = "SELECT made::date, owner_id, sum(amount) FROM jobs_charge WHERE budget_id = %s AND kind = 'use' GROUP BY 1, 2"


def main(count: int) -> None:
    set_up()
    import million

    budget, admin = charges(count)
    ask = million.Answers(admin)
    print(f"{'asked':<30} {'ms':>7} {'sql ms':>7} {'queries':>8} {'cpu ms':>7} {'goal':>6}   {million.load()}")
    for by in ("owner", "project", "coretype", "software"):
        print(row(f"spend by day and {by}", ask(f"/budget/{budget}/spend.json?by={by}")), flush=True)
    print(row("the budget's page", ask(f"/budget/{budget}/")))
    print(row("its ledger, far down", ask(f"/budget/{budget}/?before={count // 10}")))
    begun = million.processor()
    print(f"{'bare: sums over the charges':<30} {bare(budget):>7.0f} {'':>16} {1000 * (million.processor() - begun):>7.0f}")


def row(name: str, figures: tuple[float, float, int, float]) -> str:
    whole, sql, queries, cpu = figures
    return f"{name:<30} {whole:>7.0f} {sql:>7.0f} {queries:>8} {cpu:>7.0f} {300:>6}"


def charges(count: int) -> tuple[int, object]:
    """Over 90 days, by 200 people in 50 projects, each with two programs on two coretypes."""
    import factories
    import million
    from django.apps import apps
    from django.db import connection
    from django.utils import timezone

    from jobs.models import Charge, Spend

    known = million.world(1000)
    budget, now = factories.budget(None, 10**9, name="Everybody"), timezone.now()
    first = Charge.objects.create(budget=budget, label="job", attempt=1, amount=Decimal("0.5"), cores=8, price=Decimal("0.05"), start=now, end=now, made=now)
    pick = {name: f"(ARRAY{[one.pk for one in known[rows]]})" for name, rows in {"p": "people", "q": "projects", "k": "kinds"}.items()}
    at = f"now() - i * interval '{90 * 86400 / count:.3f} seconds'"
    who = million.draw(million.PEOPLE, "p")
    columns = {"owner_id": f"{{p}}[1 + {who}]", "project_id": f"{{q}}[1 + {who} % {million.PROJECTS}]"}
    columns |= {"coretype_id": f"{{k}}[1 + ({who} + {million.draw(2, 'kind')}) % {million.KINDS}]"}
    columns |= {"software": f"'Program ' || ({who} + {million.draw(2, 'software')}) % {million.PROGRAMS}"}
    begun = time.perf_counter()
    million.multiply(first, count, keep=True, made=at, start=at, end=at, **{name: sql.format(**pick) for name, sql in columns.items()})
    Spend.objects.all().delete()
    importlib.import_module("jobs.migrations.0013_spend_by_day").add_up(apps, None)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE jobs_charge, jobs_spend")
    print(f"{count:,} charges written and added up in {time.perf_counter() - begun:.0f} s, as {Spend.objects.count():,} sums")
    return budget.pk, known["admin"]


def bare(budget: int) -> float:
    from django.db import connection

    begun = time.perf_counter()
    with connection.cursor() as cursor:
        cursor.execute(BARE, [budget])
        cursor.fetchall()
    return 1000 * (time.perf_counter() - begun)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
