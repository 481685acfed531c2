"""A portal that was in use for years: a million jobs and a million charges, written by SQL. What other benchmarks look at.

Not a benchmark by itself. One idea: a row made by the ORM is multiplied by the database; columns that differ are
expressions over the number `i`, all others are the row's, so a column that is new needs no change here.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "bench")]

PEOPLE, PROJECTS, KINDS, PROGRAMS = 200, 50, 4, 6
WORDS = "beam wing plate rotor valve frame hull shell duct blade mast strut crash modal creep fatigue buckling flutter weld gasket".split()


def draw(many: int, what: str) -> str:
    """SQL: a number below `many` that depends on `i` alone; other words, other draws."""
    return f"(abs(hashtextextended(i::text, {sum(map(ord, what))})) % {many})"


def one_of(what: str, many: int) -> str:
    return f"{{{what}}}[1 + {draw(many, what)}]"


NAME = f"(ARRAY{WORDS})[1 + {draw(20, 'name')}] || '-study-' || i"


def multiply(row: Any, count: int, keep: bool = False, **columns: str) -> None:
    """`count` rows like this one, which goes unless it is kept. `columns`: SQL by column, over `i` from 1 to `count`."""
    from django.db import connection

    fields = [field for field in row._meta.concrete_fields if not field.primary_key or field.column in columns]
    values = ", ".join(columns.get(field.column, f't."{field.column}"') for field in fields)
    names = ", ".join(f'"{field.column}"' for field in fields)
    table, key = row._meta.db_table, row._meta.pk.column
    with connection.cursor() as cursor:
        cursor.execute(
            f'INSERT INTO "{table}" ({names}) SELECT {values} FROM "{table}" t, generate_series(1, {count}) i WHERE t."{key}" = {row.pk}'  # noqa: S608
        )
    if not keep:
        type(row)._base_manager.filter(pk=row.pk)._raw_delete("default")


def world(count: int) -> dict[str, Any]:
    """People, projects, hardware, software, and `count` jobs that are over, but for the last thousand."""
    import factories
    from django.contrib.auth.models import User
    from django.utils import timezone

    from jobs.models import Job, Membership, Workload

    begun = time.perf_counter()
    people = User.objects.bulk_create([User(username=f"person{at}") for at in range(PEOPLE)])
    admin = factories.user("boss", is_staff=True)
    projects = [factories.project(name=f"Project {at}") for at in range(PROJECTS)]
    Membership.objects.bulk_create([Membership(project=projects[at % PROJECTS], user=user) for at, user in enumerate(people)])
    kinds = [factories.coretype(name=f"Kind {at}") for at in range(KINDS)]
    versions = [factories.software(f"program{at}") for at in range(PROGRAMS)]
    pick = {name: f"(ARRAY{[row.pk for row in rows]})" for name, rows in {"p": people, "q": projects, "k": kinds, "v": versions}.items()}
    now = timezone.now()
    job = factories.job(people[0], coretype=kinds[0], software=versions[0], status="completed", outcome="completed", reason="exit-0", submitted=now, ended=now)
    work, first = job.workload, Workload.objects.order_by("-pk").values_list("pk", flat=True)[0]
    over = f"CASE WHEN {draw(40, 'status')} = 0 THEN 'failed' WHEN {draw(90, 'stop')} = 0 THEN 'stopped' ELSE 'completed' END"
    status = f"CASE WHEN i > {count} - 500 THEN 'queued' WHEN i > {count} - 1000 THEN 'running' ELSE {over} END"
    gate = f"CASE WHEN i > {count} - 500 THEN 'capacity' ELSE '' END"
    at = f"now() - ({count} - i) * interval '60 seconds'"
    columns = {"public_id": "lpad(i::text, 7, 'x')", "name": NAME, "owner_id": one_of("p", PEOPLE), "project_id": one_of("q", PROJECTS)}
    columns |= {"coretype_id": one_of("k", KINDS), "status": status, "gate": gate, "gate_text": "'8 cores are not free'", "archived": f"{draw(50, 'shelf')} = 0", "submitted": at, "made": at, "since": at}
    columns = {name: sql.format(**pick) for name, sql in columns.items()}
    Job.objects.filter(pk=job.pk).update(verdict="converged")
    job.refresh_from_db()
    multiply_jobs(job, work, count, first, columns, pick)
    print(f"{count:,} jobs written in {time.perf_counter() - begun:.0f} s")
    return {"people": people, "admin": admin, "projects": projects, "kinds": kinds, "versions": versions}


@contextmanager
def names_at_once() -> Iterator[None]:
    """The table of names is written after the workloads and not with each of them, its index last."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_get_indexdef('headrace_names_tokens'::regclass)")
        (index,) = cursor.fetchone()
        cursor.execute("ALTER TABLE jobs_workload DISABLE TRIGGER USER; DROP INDEX headrace_names_tokens")
        yield
        cursor.execute("ALTER TABLE jobs_workload ENABLE TRIGGER USER; TRUNCATE headrace_names")
        cursor.execute("INSERT INTO headrace_names SELECT id, name, owner_id, project_id FROM jobs_workload")
        cursor.execute(index)


def multiply_jobs(job: Any, work: Any, count: int, first: int, columns: dict[str, str], pick: dict[str, str]) -> None:
    """Workloads first, their jobs by the ids that those got; one program is rare."""
    from django.db import connection

    from jobs.models import Workload

    copy = Workload.objects.get(pk=work.pk)
    copy.pk, copy.public_id = None, "yyyyyyy"
    copy.save()
    with names_at_once():
        multiply(copy, count, **columns)
    low = Workload.objects.filter(public_id__startswith="x").order_by("pk").values_list("pk", flat=True)[0] if count < 10**6 else first + 2
    rare = f"CASE WHEN i % 5000 = 0 THEN {pick['v']}[{PROGRAMS}] ELSE {one_of('v', PROGRAMS - 1).format(**pick)} END"
    multiply(job, count, workload_id=f"i + {low - 1}", software_id=rare)
    Workload.objects.filter(pk=work.pk)._raw_delete("default")
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


class Answers:
    """What a page costs: milliseconds on the clock, those of them in the database, statements, and processor time.

    Processor time is that of this process and of its connection's process; it hardly depends on what else the machine does.
    """

    def __init__(self, user: Any) -> None:
        from django.test import Client

        self.client = Client()
        self.client.force_login(user)

    def __call__(self, address: str, rounds: int = 9) -> tuple[float, float, int, float]:
        """The medians of so many, after one that nobody counts; that of the processor time is its own."""
        self._once(address)
        found = [self._once(address) for _ in range(rounds)]
        whole, sql, count, _ = sorted(found)[rounds // 2]
        return whole, sql, count, sorted(used for *_, used in found)[rounds // 2]

    def _once(self, address: str) -> tuple[float, float, int, float]:
        with statements() as took:
            begun, used = time.perf_counter(), processor()
            answer = self.client.get(address)
            whole, used = time.perf_counter() - begun, processor() - used
        assert answer.status_code == 200, address
        return 1000 * whole, 1000 * sum(took), len(took), 1000 * used


def processor() -> float:
    """Seconds of processor time that this process and its connection's process have used."""
    return time.process_time() + of_database()


def of_database() -> float:
    """Seconds of processor time that PostgreSQL has used for our connection; 0 if it can't be seen from here."""
    from django.db import connection

    connection.ensure_connection()
    try:
        return int(Path(f"/proc/{connection.connection.info.backend_pid}/schedstat").read_text().split()[0]) / 1e9
    except (AttributeError, OSError):  # SQLite; another machine
        return 0.0


@contextmanager
def statements() -> Iterator[list[float]]:
    """Seconds of each statement."""
    from django.db import connection

    took: list[float] = []

    def timed(execute: Callable[..., Any], *given: Any) -> Any:
        begun = time.perf_counter()
        try:
            return execute(*given)
        finally:
            took.append(time.perf_counter() - begun)

    with connection.execute_wrapper(timed):
        yield took


def load() -> str:
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
