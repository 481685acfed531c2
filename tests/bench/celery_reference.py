"""What the engine is compared with: one Celery task per job that takes it through six durable transitions, one by one.

Each transition is a conditional UPDATE and an event in a transaction of its own, as straightforward code would do it;
connections are reused, the pool is threads: the best of the usual settings.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

sys.path[:0] = [os.path.dirname(__file__)]
STEPS = ("draft", "queued", "validating", "starting", "running", "stopping", "completed")

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")

from celery import Celery  # noqa: E402

app = Celery("reference", broker=os.environ.get("BENCH_BROKER", "memory://"))
app.conf.update(task_ignore_result=True, worker_prefetch_multiplier=4, broker_connection_retry_on_startup=True)


@app.task
def run(pk: int) -> None:
    from django.db import transaction
    from django.utils import timezone

    from jobs.models import Event, Workload

    for old, new in zip(STEPS, STEPS[1:], strict=False):
        with transaction.atomic():
            if not Workload.objects.filter(pk=pk, status=old).update(status=new, since=timezone.now()):
                return
            Event.objects.create(workload_id=pk, at=timezone.now(), before=old, after=new, source="engine")


def rate(count: int, broker: str) -> float:
    """Jobs per second of a burst, from the first message to the last end."""
    import factories

    from jobs.models import Workload

    owner, kind = factories.user(), factories.coretype()
    works = Workload.objects.bulk_create([Workload(owner=owner, name=f"r{i}", coretype=kind, walltime=60) for i in range(count)])
    app.conf.broker_url = broker
    environment = {**os.environ, "BENCH_BROKER": broker, "CELERY_DB_REUSE_MAX": "1000000"}
    command = [sys.executable, "-m", "celery", "-A", "celery_reference", "worker", "-P", "threads", "-c", "8", "--loglevel", "ERROR"]
    worker = subprocess.Popen([*command, "--without-gossip", "--without-mingle"], env=environment, cwd=os.path.dirname(__file__))
    try:
        warm = Workload.objects.create(owner=owner, name="warm", coretype=kind, walltime=60)
        run.delay(warm.pk)
        while Workload.objects.get(pk=warm.pk).status != "completed":
            time.sleep(0.05)
        begin = time.perf_counter()
        for work in works:
            run.delay(work.pk)
        ids = [work.pk for work in works]
        while Workload.objects.filter(pk__in=ids).exclude(status="completed").exists():
            time.sleep(0.02)
        return count / (time.perf_counter() - begin)
    finally:
        worker.terminate()
        worker.wait()
