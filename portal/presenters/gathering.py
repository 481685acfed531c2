"""What the rows of a list of jobs refer to: fetched for all of them at once, and only for those whose row shows it.

One idea: every job leads to one owner, project, coretype and software, so these are joined to it; what it has many of, or seldom any
of, is a query for all jobs. Rows are made plainly (jobs.models.rows): a prefetch makes a queryset for each job, which costs more than
all the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Model

from jobs import lifecycle
from jobs.models import Check, Cluster, Event, Hold, JobInput, Node, Workload
from jobs.models.rows import Prepared, at_hand, columns

SELDOM = "flagged submit_key lease leased_until due version restarts tries again wished_at ended latest_start".split()
"""What no row looks at is left out."""
OF_A_PERSON = ("id", "username", "first_name", "last_name")
WORKS = Prepared(
    Workload,
    columns(Workload, *SELDOM),
    owner=OF_A_PERSON,
    project=("id", "name"),
    coretype=("id", "name", "price", "economy_price"),
    job=("workload_id", "software_id", "checked_id", "commands", "verdict", "verdict_detail", "progress"),
    job__software=("id", "software_id", "name"),
    job__software__software=("id", "name"),
)
CLUSTERS, EVENTS = Prepared(Cluster, columns(Cluster)), Prepared(Event, columns(Event))
PEOPLE, CHECKS = Prepared(User, OF_A_PERSON), Prepared(Check, columns(Check))


def gathered(keys: Sequence[int]) -> list[Workload]:
    """The jobs with these keys, newest first; whatever rows.row looks at is at hand in them, without a query."""
    works = WORKS("-pk", pk__any_of=keys)
    for work in works:
        at_hand(work.job, workload=work)
    clusters = CLUSTERS(workload__any_of=keys)
    _bring(works, "clusters", "workload", clusters)
    _bring(works, "events", "workload", EVENTS("pk", workload__any_of=keys))
    _refer([work for work in works if work.status == lifecycle.STOPPED], "wished_by", PEOPLE)
    _refer([work.job for work in works if work.status != lifecycle.COMPLETED], "checked", CHECKS)
    _gather_active([work for work in works if work.is_active], clusters)
    return works


# --- private ----------------------------------------------------------------------------------------------------------
def _gather_active(works: Sequence[Workload], clusters: Iterable[Cluster]) -> None:
    """What only a job under way shows: its files, its nodes, the money that is held for it."""
    if not works:
        return
    active = {work.pk for work in works}
    theirs = [cluster for cluster in clusters if cluster.workload_id in active]
    _bring(theirs, "nodes", "cluster", Node.objects.filter(cluster__any_of=[cluster.pk for cluster in theirs]))
    _bring(works, "holds", "workload", Hold.objects.select_related("budget").filter(workload__any_of=active))
    _bring([work.job for work in works], "inputs", "job", JobInput.objects.select_related("file").filter(job__any_of=active))


def _refer(rows: Sequence[Model], name: str, prepared: Prepared[Any]) -> None:
    """The row that the foreign key `name` of each leads to, where it leads anywhere."""
    keys = {key for row in rows if (key := row.__dict__[f"{name}_id"]) is not None}
    known = {one.pk: one for one in prepared(pk__in=keys)} if keys else {}
    for row in rows:
        if one := known.get(row.__dict__[f"{name}_id"]):
            at_hand(row, **{name: one})


def _bring(rows: Sequence[Model], name: str, back: str, found: Iterable[Model]) -> None:
    """The rows whose foreign key `back` leads to each, under `name`: as after a prefetch, but a list, of which all() is all one can ask."""
    theirs: dict[int, list[Model]] = {row.pk: [] for row in rows}
    for one in found:
        if (key := one.__dict__[f"{back}_id"]) in theirs:
            theirs[key].append(one)
    for row in rows:
        row.__dict__.setdefault("_prefetched_objects_cache", {})[name] = theirs[row.pk]
