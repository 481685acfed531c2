"""The list of jobs over a million rows on PostgreSQL: pages by key, filters, search, for one who sees all and for a member.

Run: `uv run --group test python tests/bench/jobs_list.py [jobs]`. Goals: the deep page within 1.5 times the first, every
filter and search within 50 ms as a whole page: session, rows, counts, choices, template. `ms` is the median on the clock, `cpu`
the processor time of web and database process, which is what counts on a busy machine. Jobs that are shown have what a job
leaves behind: events, hardware, a file. Beside it the bare limit: the ids of one page by key.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from lifecycle import set_up

GOAL = 50
ROAD = ["draft", "queued", "validating", "starting", "running", "stopping"]
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
    prepare(known["admin"], known["people"][7])
    figures(known["admin"], known["people"][7])


def addresses(member: Any) -> dict[str, str]:
    from jobs.models import Workload

    newest = Workload.objects.order_by("-pk").values_list("pk", flat=True)[0]
    told = {"deep": newest - int(0.9 * Workload.objects.count()), "project": member.projects.first().code}
    return {name: "/jobs/" + address.format(**told) for name, address in PAGES.items()}


def prepare(admin: Any, member: Any) -> None:
    """Budgets, and a history for each job that a page will show; that of the others would take disk alone."""
    import factories
    import million
    from django.db import connection

    from jobs.models import Project, Workload

    for project in Project.objects.all():
        factories.budget(project, 1000)
    shown = {found for user in (admin, member) for address in addresses(member).values() for found in ids(million.Answers(user).client, address)}
    leave_behind(Workload.objects.filter(public_id__in=shown), admin)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


def ids(client: Any, address: str) -> list[str]:
    return re.findall(r'id="job-(\w+)-row"', client.get(address).content.decode())


def leave_behind(works: Iterable[Any], owner: Any) -> None:
    from jobs.models import Cluster, Event, JobInput, StoredFile

    deck = StoredFile.objects.create(owner=owner, name="deck.inp", size=14, sha256="0" * 64)
    events, clusters, inputs = [], [], []
    for work in works:
        road = ROAD[: ROAD.index(work.status) + 1] if work.status in ROAD else [*ROAD, work.status]
        at = [work.since + timedelta(minutes=minute) for minute in range(7)]
        moves = zip(road, road[1:], at, strict=False)
        events += [Event(workload=work, at=when, before=before, after=after, source="engine") for before, after, when in moves]
        inputs.append(JobInput(job_id=work.pk, file=deck, name=deck.name))
        if len(road) > 3:
            over = {"exited": at[5], "charged_until": at[6], "settled": at[6]} if work.status not in ROAD else {}
            asked = {"token": work.public_id, "backend": "fake", "coretype_id": work.coretype_id, "nodes_wanted": 1, "cores": 1}
            clusters.append(Cluster(workload=work, attempt=1, price=1, asked=at[2], up=at[2], started=at[3], **asked, **over))
    for rows in (events, clusters, inputs):
        type(rows[0]).objects.bulk_create(rows, 5000)


def figures(admin: Any, member: Any) -> None:
    import million

    print(f"{'':<26} {'one who sees all':^34} {'a member':^34}   {million.load()}")
    print(f"{'page':<26} " + 2 * f"{'ms':>8} {'sql ms':>8} {'queries':>8} {'cpu ms':>7} ")
    seen: dict[str, list[tuple[float, float, int, float]]] = {}
    for name, address in addresses(member).items():
        seen[name] = [million.Answers(user)(address) for user in (admin, member)]
        print(f"{name:<26} " + "".join(f"{whole:>8.0f} {sql:>8.0f} {count:>8} {cpu:>7.0f} " for whole, sql, count, cpu in seen[name]), flush=True)
    within = [sum(found[column] <= GOAL for row in seen.values() for found in row) for column in (0, 1, 3)]
    print(f"\nwithin {GOAL} ms of {2 * len(seen)}: whole pages {within[0]}, SQL {within[1]}, whole pages by processor time {within[2]}")
    ratios = [deep[3] / first[3] for first, deep in zip(seen["first page"], seen["900,000 rows down"], strict=True)]
    print(f"far down by first page, cpu: {ratios[0]:.2f}, {ratios[1]:.2f} (goal 1.5); bare page of ids by key {bare():.1f} ms; {million.load()}")


def bare() -> float:
    from jobs.models import Workload

    middle = Workload.objects.order_by("-pk").values_list("pk", flat=True)[0] // 2
    begun = time.perf_counter()
    for _ in range(20):
        list(Workload.objects.filter(pk__lt=middle).order_by("-pk").values_list("pk", flat=True)[:26])
    return 1000 * (time.perf_counter() - begun) / 20


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
