"""The list of jobs over a million rows on PostgreSQL: pages by key, filters, search, for one who sees all and for a member.

Run: `uv run --group test python tests/bench/jobs_list.py [jobs]`. Goals: the deep page within 1.5 times the first, every
filter and search within 50 ms. Beside it the bare limit: the ids of one page by key, nothing else.
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
    print(f"{'page':<26} {'admin ms':>9} {'sql ms':>7} {'queries':>8} {'member ms':>10} {'sql ms':>7} {'queries':>8}   {million.load()}")
    seen: dict[str, tuple[float, float]] = {}
    for name, address in PAGES.items():
        figures = [million.Answers(user)("/jobs/" + address.format(deep=deep, project=project)) for user in (known["admin"], member)]
        seen[name] = (figures[0][0], figures[1][0])
        (a, b, c), (d, e, f) = figures
        print(f"{name:<26} {a:>9.0f} {b:>7.0f} {c:>8} {d:>10.0f} {e:>7.0f} {f:>8}", flush=True)
    ratios = [deep / first for first, deep in zip(seen["first page"], seen["900,000 rows down"], strict=True)]
    print(f"\ndeep by first page: {ratios[0]:.2f}, {ratios[1]:.2f} (goal 1.5); bare page of ids by key {bare(deep):.1f} ms; {million.load()}")


def bare(deep: int) -> float:
    from jobs.models import Workload

    begun = time.perf_counter()
    for _ in range(20):
        list(Workload.objects.filter(pk__lt=deep).order_by("-pk").values_list("pk", flat=True)[:26])
    return 1000 * (time.perf_counter() - begun) / 20


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
