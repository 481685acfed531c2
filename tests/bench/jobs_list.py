"""The list of jobs over a million rows on PostgreSQL: pages by key, filters, search, for one who sees all and for a member.

Run: `uv run --group test python tests/bench/jobs_list.py [jobs]`. Goals: the deep page within 1.5 times the first, every
filter and search within 50 ms. `cpu` is what counts on a busy machine. Beside it the bare limit: the ids of one page by key.
"""

from __future__ import annotations

import sys
import time

from lifecycle import set_up

PAGES = {
    "first page": "", "900,000 rows down": "?before={deep}", "mine": "?view=mine", "active": "?view=active", "archived": "?view=archived",
    "status failed": "?status=failed", "status stopped": "?status=stopped", "a program": "?software=program1",
    "a rare program": "?software=program5", "a project": "?project={project}", "a program and failed": "?software=program2&status=failed",
    "search, 1 in 20 has it": "?q=wing", "search, all have it": "?q=study", "search, 1 has it": "?q=study-777777",
    "search, some have it": "?q=77777", "search, none has it": "?q=nothing-like-it", "search and failed": "?q=wing&status=failed",
}  # fmt: skip


def main(count: int) -> None:
    set_up()
    import million

    known = million.world(count)
    from jobs.models import Workload

    deep = Workload.objects.order_by("-pk").values_list("pk", flat=True)[0] - int(0.9 * count)
    member = known["people"][7]
    project = member.projects.first().code
    print(f"{'':<26} {'one who sees all':^34} {'a member':^34}   {million.load()}")
    print(f"{'page':<26} " + 2 * f"{'ms':>8} {'sql ms':>8} {'queries':>8} {'cpu ms':>7} ")
    seen: dict[str, list[float]] = {}
    for name, address in PAGES.items():
        figures = [million.Answers(user)("/jobs/" + address.format(deep=deep, project=project)) for user in (known["admin"], member)]
        seen[name] = [cpu for *_, cpu in figures]
        print(f"{name:<26} " + "".join(f"{whole:>8.0f} {sql:>8.0f} {count:>8} {cpu:>7.0f} " for whole, sql, count, cpu in figures), flush=True)
    ratios = [deep / first for first, deep in zip(seen["first page"], seen["900,000 rows down"], strict=True)]
    print(f"\nfar down by first page, cpu: {ratios[0]:.2f}, {ratios[1]:.2f} (goal 1.5); bare page of ids by key {bare(deep):.1f} ms; {million.load()}")


def bare(deep: int) -> float:
    from jobs.models import Workload

    begun = time.perf_counter()
    for _ in range(20):
        list(Workload.objects.filter(pk__lt=deep).order_by("-pk").values_list("pk", flat=True)[:26])
    return 1000 * (time.perf_counter() - begun) / 20


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
