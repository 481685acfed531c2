"""What 5,000 live jobs cost: one tick of the engine over all of them, and the memory a job takes in the worker.

Run: `uv run --group test python tests/bench/live_jobs.py [jobs]`. The bare limit beside it is reading the same rows as plain values.
"""

from __future__ import annotations

import resource
import statistics
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "bench")]


def running_jobs(count: int) -> None:
    """Rows as they are in the middle of a run, nothing due for a while."""
    import factories
    from django.utils import timezone

    from jobs.models import Cluster, Job, Node, Workload

    owner, kind, version, now = factories.user(), factories.coretype(), factories.software(), timezone.now()
    later = now + timedelta(hours=1)
    works = Workload.objects.bulk_create(
        [
            Workload(owner=owner, name=f"j{i}", coretype=kind, walltime=36_000, status="running", submitted=now, due=later)
            for i in range(count)
        ]
    )
    Job.objects.bulk_create([Job(workload=work, software=version, commands=["true"]) for work in works])
    facts = {"coretype": kind, "backend": "fake", "nodes_wanted": 1, "cores": 1, "price": kind.price, "asked": now}
    facts |= {"created": now, "seen": now, "up": now, "started": now, "charged_until": now, "went": now}
    clusters = Cluster.objects.bulk_create(
        [Cluster(workload=work, attempt=1, token=f"t-{work.pk}", secret_hash="", **facts) for work in works]
    )
    Node.objects.bulk_create([Node(cluster=cluster, index=0, hostname="n", nonce="n", up=now) for cluster in clusters])


def median(call: Callable[[], object], rounds: int = 5) -> float:
    """Milliseconds."""
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        call()
        times.append((time.perf_counter() - begin) * 1000)
    return statistics.median(times)


def plant_clusters() -> None:
    """What the rows say is up, at the backend as well."""
    from jobs import backends
    from jobs.models import Cluster

    fake = backends.get("fake")
    spec = backends.Spec(coretype="c", nodes=1, cores=1, memory=1, walltime=1, portal="", secret="s", agent="a")
    for token in Cluster.objects.values_list("token", flat=True):
        fake.plant(token, spec)


def main() -> None:
    import lifecycle

    lifecycle.set_up()
    import playing
    from django.db import connection
    from django.utils import timezone

    from jobs import engine, rounds
    from jobs.models import Cluster, Workload

    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    running_jobs(count)
    plant_clusters()

    def poll() -> None:
        playing.rounds_again()
        rounds.poll()

    def meter() -> None:
        playing.rounds_again()
        rounds.meter()

    def look() -> None:
        """A look at every job at once, as after a start of the portal."""
        Workload.objects.update(due=timezone.now(), lease="")
        while engine._turn("running", None):
            pass

    bare = median(lambda: list(Cluster.objects.filter(released__isnull=True).values_list("pk", "token", "seen", "absent", "trouble")))
    print(f"{count:,} live jobs on {connection.vendor}")
    print(f"{'reading the rows (bare)':48}{bare:9.1f} ms")
    print(f"{'tick: what is due, when nothing is':48}{median(lambda: rounds.due_queues(timezone.now())):9.1f} ms")
    print(f"{'tick: ask the backend for all, compare':48}{median(poll):9.1f} ms")
    print(f"{'tick: meter all':48}{median(meter):9.1f} ms")
    print(f"{'a look at every job at once':48}{median(look, 3):9.1f} ms  ({median(look, 3) / count * 1000:.0f} us a job)")
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(f"{'memory grown in all, by job':48}{grown / count:9.2f} KiB")


if __name__ == "__main__":
    main()
