"""The Slurm backend on its own figures: one look at many jobs, and `true` through the portal beside `sbatch --wait`.

Run: `uv run --group test python tests/bench/slurm.py [jobs] [rounds]`. The first part needs no Slurm (a program of ours
prints what squeue would), the second needs slurm-wlm and munge, and root for the daemons.
"""

from __future__ import annotations

import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "bench")]

import submit  # noqa: E402

from jobs.backends.slurm import Slurm  # noqa: E402
from jobs.backends.slurm_queue import FIELDS  # noqa: E402
from tests.jobs.backends import slurm_daemons  # noqa: E402

CORETYPE = (
    "from jobs.models import *; Coretype.objects.create(code='slurm', name='Slurm', region=Region.objects.first(), backend='slurm',"
    " cores=1, memory=1 << 28, price=1)"
)


def row(values: dict[str, str]) -> str:
    """As squeue prints it: padded columns."""
    return "|".join(values.get(name, "").ljust(size) for name, size in FIELDS.items()) + "|\n"


def look(jobs: int, rounds: int) -> None:
    """One tick over all jobs: the engine's poll with its rows, one describe in it, and what that is made of."""
    with tempfile.TemporaryDirectory() as place:
        tokens = clusters(jobs, place)
        whose = {"UserID": str(os.geteuid()), "State": "PENDING", "Reason": "Priority"}
        rows = [row({"JobID": str(number), "Name": token, **whose}) for number, token in enumerate(tokens)]
        Path(place, "answer").write_text(row({name: name.upper() for name in FIELDS}) + "".join(rows))
        program = Path(place, "squeue")
        program.write_text(f"#!/bin/sh\necho >> {place}/calls\nexec cat {place}/answer\n")
        program.chmod(0o755)
        backend = Slurm("slurm", notes=Path(place, "notes"), path=place)
        bare = [timed(lambda: subprocess.run([str(program)], capture_output=True, check=True)) for _ in range(rounds)]
        Path(place, "calls").unlink()
        times = [timed(lambda: backend.describe(tokens)) for _ in range(rounds)]
        processes = Path(place, "calls").read_text().count("\n") / rounds
        first, before = timed(tick), time.process_time()
        ticks = [timed(tick) for _ in range(rounds)]
        used = (time.process_time() - before) / rounds
    print(f"{f'one look at {jobs:,} jobs':42}{'median ms':>10}{'worst ms':>10}{'processes':>11}")
    print(f"{'  the poll, nothing new':42}{statistics.median(ticks) * 1000:10.0f}{max(ticks) * 1000:10.0f}{1:11}")
    print(f"{'  its processor time, which others on the machine hardly lengthen':65}{used * 1000:5.0f} ms")
    print(f"{'  the poll that sees all for the first time':42}{first * 1000:10.0f}{'':10}{1:11}")
    print(f"{'  describe':42}{statistics.median(times) * 1000:10.0f}{max(times) * 1000:10.0f}{processes:11.0f}")
    print(f"{'  the program alone':42}{statistics.median(bare) * 1000:10.0f}{max(bare) * 1000:10.0f}{1:11}")


def clusters(count: int, place: str) -> list[str]:
    """That many in a database of their own, asked for and not seen yet; their tokens."""
    os.environ |= {"HEADRACE_DATA": f"{place}/data", "DJANGO_SETTINGS_MODULE": "tests.settings", "LOG_LEVEL": "ERROR"}
    import django
    from django.conf import settings
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    options = {"notes": f"{place}/notes", "path": place}
    settings.BACKENDS["slurm"] = {"BACKEND": "jobs.backends.slurm.Slurm", "OPTIONS": options}
    import factories
    from django.utils import timezone

    from jobs.models import Cluster, Workload

    kind, owner, now = factories.coretype(backend="slurm"), factories.user(), timezone.now()
    plain = {"owner": owner, "coretype": kind, "walltime": 3600, "status": "starting", "name": "one of many"}
    works = Workload.objects.bulk_create([Workload(public_id=f"{number:06}", **plain) for number in range(count)], batch_size=500)
    shape = {"attempt": 1, "backend": "slurm", "coretype": kind, "nodes_wanted": 1, "cores": 1, "price": 1, "asked": now, "created": now}
    rows = [Cluster(workload=work, token=f"hrbench-job-{work.public_id}-1", **shape) for work in works]
    Cluster.objects.bulk_create(rows, batch_size=500)
    return [row.token for row in rows]


def tick() -> None:
    from jobs import rounds
    from jobs.models import Turn

    Turn.objects.update(until=None)
    rounds.poll()


def through(rounds: int) -> None:
    """`true` from submit to Completed, and by sbatch alone on the same daemons."""
    daemons = slurm_daemons.Daemons((4,))
    try:
        options = {"config": str(daemons.config), "folder": str(daemons.home / "jobs")}
        os.environ |= {"SLURM": "1", "SLURM_OPTIONS": json.dumps(options)}
        submit.JOB["hardware"]["coreType"] = "slurm"
        with submit.portal(CORETYPE, str(daemons.home / "data")) as (address, token):
            submit.one(address, token)
            rows = [one_of_each(daemons, address, token) for _ in range(rounds)]
            parts = parts_of(daemons.home / "data" / "headrace.sqlite3", rounds)
    finally:
        daemons.close()
    wholes = [row.pop("whole") for row in rows]
    show("`true`, submit to Completed, on Slurm", wholes)
    for name in submit.STAGES.values():
        show(f"  {name}", [row.get(name, 0.0) for row in rows])
        if name == "Starting Cluster":
            for part, times in parts.items():
                show(f"    {part}", times)
    references = {name: [row[name] for row in rows] for name in ("sbatch --wait", "sbatch, watched", "srun true")}
    for name, times in references.items():
        show(name, times)
    for name, times in references.items():
        print(f"{f'times {name}':42}{statistics.median(wholes) / statistics.median(times):10.2f}")
    print("sbatch --wait looks every 2 s whether its job is over; watched: squeue is asked every 10 ms; srun is told.")


def one_of_each(daemons: slurm_daemons.Daemons, address: str, token: str) -> dict[str, float]:
    whole, stages = submit.one(address, token)
    waits = timed(lambda: batch(daemons, "--wait"))
    return {"whole": whole, **stages, "sbatch --wait": waits, "sbatch, watched": timed(lambda: watched(daemons)), "srun true": timed(lambda: daemons.ask("srun", "true"))}


def batch(daemons: slurm_daemons.Daemons, *more: str) -> str:
    words = ["sbatch", "--parsable", "--output=/dev/null", *more, "--wrap=srun true"]
    return subprocess.run(words, env=daemons.environment, capture_output=True, check=True, timeout=60, text=True).stdout.strip()


def watched(daemons: slurm_daemons.Daemons) -> None:
    """A batch job from sbatch to the moment at which Slurm calls it over."""
    number = batch(daemons)
    while daemons.ask("squeue", "-h", "-j", number, "-t", "all", "-o", "%T").strip() != "COMPLETED":
        time.sleep(0.01)


def parts_of(database: Path, rounds: int) -> dict[str, list[float]]:
    """What Starting Cluster is made of, from the facts of the last clusters."""
    columns = ["asked", "created", "up", "staged", "went", "started"]
    names = ["sbatch and the looks around it", "Slurm starts it, Python, hello", "inputs", "go", "the command begins"]
    with sqlite3.connect(database) as known:
        rows = known.execute(f"select {', '.join(columns)} from jobs_cluster order by id desc limit {rounds}").fetchall()
    moments = [[datetime.fromisoformat(value) for value in row] for row in rows if all(row)]
    return {name: [(row[at + 1] - row[at]).total_seconds() for row in moments] for at, name in enumerate(names)}


def show(name: str, times: list[float]) -> None:
    print(f"{name:42}{statistics.median(times):10.3f}{max(times):10.3f}")


def timed(act) -> float:
    begin = time.perf_counter()
    act()
    return time.perf_counter() - begin


def main() -> None:
    jobs = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    before = dict(os.environ)
    look(jobs, rounds)
    os.environ.clear()  # the portal that comes has settings of its own
    os.environ.update(before)
    if why := slurm_daemons.missing():
        print(f"through the portal: not measured, {why}")
        return
    print(f"{'':42}{'median s':>10}{'worst s':>10}")
    through(rounds)


if __name__ == "__main__":
    main()
