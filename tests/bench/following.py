"""How fast runs are followed through the whole path: from bytes in the log files to words on the rows of their jobs.

Run: `python tests/bench/following.py [MB]`. Each log is a real one whose second half is repeated. Beside it, in the same run:
the follower alone, fed in this process, and the reading of the file alone. Then, for many jobs that say little: a turn's cost.
Processor time counts, of this process and the child that reads, so that a busy machine does not blur the figures.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
CASES = ROOT / "tests" / "cases" / "verdicts"
LOGS = [
    ("openfoam", "openfoam-timeout-hidden", "log.simpleFoam", "stdout"),
    ("calculix", "calculix-plastic-bar", "bar.log", "stdout"),
    ("calculix", "calculix-plastic-bar", "bar.cvg", "bar.cvg"),
    ("lammps", "lammps-own-vars", "log.lammps", "log.lammps"),
    ("gromacs", "gromacs-own-killed", "md.log", "md.log"),
    ("quantum_espresso", "qe-own-relax", "h.out", "stdout"),
    ("nwchem", "nwchem-own-opt", "w.out", "stdout"),
]
COMMANDS = {"calculix": "ccx -i bar", "lammps": "lmp -in in.run", "gromacs": "gmx mdrun"}
MANY = 50


def main() -> None:
    set_up()
    size = int(sys.argv[1] if len(sys.argv) > 1 else 48) << 20
    print(f"{'log':38}{'MB/s':>8}{'follower alone':>16}{'file alone':>12}{'turns':>7}")
    for software, case, name, stream in LOGS:
        data = grown((CASES / case / name).read_bytes(), size)
        whole, turns = through(software, stream, data)
        print(f"{software + ' ' + name:38}{whole:8.0f}{alone(software, stream, data):16.0f}{bare(data):12.0f}{turns:7}")
    quiet()


def set_up() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    os.environ["LOG_LEVEL"] = "ERROR"
    os.environ["HEADRACE_DATA"] = tempfile.mkdtemp(prefix="headrace-bench-")
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)


def grown(log: bytes, size: int) -> bytes:
    """The log with its second half repeated up to `size`."""
    half = log.rfind(b"\n", 0, len(log) // 2) + 1
    return (log[:half] + log[half:] * (size // max(len(log) - half, 1) + 1))[:size]


def running(software: str):
    """A job that runs, as the turn finds it."""
    import factories

    from jobs.models import Job, Workload

    version = factories.software(software)
    version.software.streams = {"bar.cvg": "bar.cvg", "log.lammps": "log.lammps", "md.log": "md.log"}
    version.software.save()
    job = factories.job(command=COMMANDS.get(software, "bash run.sh"), software=version)
    Workload.objects.filter(pk=job.pk).update(status="running")
    return Job.objects.select_related("workload").get(pk=job.pk)


def over(job) -> None:
    from jobs import following
    from jobs.models import Workload

    Workload.objects.filter(pk=job.pk).update(status="draft")
    following._seen.clear()


def through(software: str, stream: str, data: bytes) -> tuple[float, int]:
    """MB/s of turns until everything is read, and how many it took."""
    from jobs import following, logs
    from jobs.models import Turn

    job = running(software)
    directory = logs.attempt_dir(job.workload.public_id, 1)
    for at in range(0, len(data), 1 << 20):
        logs.write(directory, stream, 0, at, data[at : at + (1 << 20)])
    following.children.ask("follow", following._question(job, [], False), 10)  # started, its modules imported
    began, turns = spent(), 0
    while job.workload.public_id not in following._seen:
        Turn.objects.filter(name="follow").update(until=None)
        following.turn()
        turns += 1
    seconds = spent() - began
    job.refresh_from_db()
    assert job.progress, f"nothing was said of {software}"
    over(job)
    return len(data) / seconds / 1e6, turns


def alone(software: str, stream: str, data: bytes) -> float:
    from jobs.verdicts import follow

    follower, began = follow(software), time.process_time()
    for at in range(0, len(data), 256 << 10):
        follower.feed(stream, data[at : at + (256 << 10)])
    return len(data) / (time.process_time() - began) / 1e6


def spent() -> float:
    """Seconds of processor time, the child's with it."""
    from jobs import following

    child = following.children.all[0].process
    words = Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split() if child else ["0"] * 20
    return time.process_time() + (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def bare(data: bytes) -> float:
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        began = time.process_time()
        with open(file.name, "rb", buffering=0) as again:
            while again.read(256 << 10):
                pass
        return len(data) / (time.process_time() - began) / 1e6


def quiet() -> None:
    """Many runs that each print a line in two seconds, and none that does."""
    from jobs import following, logs
    from jobs.models import Turn

    jobs = [running("calculix") for _ in range(MANY)]
    rows = (CASES / "calculix-plastic-bar" / "bar.cvg").read_bytes().splitlines(keepends=True)
    took = []
    for line in [rows[4], *rows[5:8]]:
        for job in jobs:
            directory = logs.attempt_dir(job.workload.public_id, 1)
            logs.write(directory, "bar.cvg", 0, logs.size(directory, "bar.cvg"), line)
        took.append(turn(following, Turn))
    print(
        f"\na turn over {MANY} runs that each wrote a line {min(took[1:]) * 1000:.0f} ms, over the same that wrote nothing {turn(following, Turn) * 1000:.0f} ms"
    )


def turn(following, leases) -> float:
    leases.objects.filter(name="follow").update(until=None)
    began = spent()
    following.turn()
    return spent() - began


if __name__ == "__main__":
    main()
