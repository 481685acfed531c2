"""Files of people: who uses one, and what deleting it means.

One idea: a job keeps its inputs. A file that an ended job used disappears from its owner's list when it is deleted, its
bytes only when the last such job is gone; a file that a draft or a running job needs can't be deleted at all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Count, F, Q, QuerySet, Window
from django.db.models.functions import RowNumber

from . import lifecycle, sending
from .models import JobInput, StoredFile, Workload


class InUse(Exception):
    """A job that is not over needs the file, or a workstation waits for it."""


@dataclass
class Uses:
    """The jobs that use a file: how many, and the newest of them."""

    count: int = 0
    newest: list[Workload] = field(default_factory=list)


def files_of(owner: Any) -> QuerySet[StoredFile]:
    """What a person has, newest first; not what was deleted."""
    return StoredFile.objects.filter(owner=owner, deleted__isnull=True).order_by("-pk")


def uses_of(files: Iterable[StoredFile], shown: int = 3) -> Mapping[int, Uses]:
    """The uses of all of these files in two queries, with the `shown` newest jobs of each."""
    ids = [file.pk for file in files]
    found: dict[int, Uses] = defaultdict(Uses)
    counts = JobInput.objects.filter(file__in=ids).order_by().values_list("file").annotate(count=Count("job", distinct=True))
    for pk, count in counts:
        found[pk].count = count
    place = Window(RowNumber(), partition_by=F("file"), order_by=F("job").desc())
    rows = JobInput.objects.filter(file__in=ids).annotate(place=place).filter(place__lte=shown)
    for use in rows.select_related("job__workload").order_by("file", "place"):
        known = found[use.file_id].newest
        if use.job.workload not in known:
            known.append(use.job.workload)
    return found


def jobs_with(file: StoredFile) -> QuerySet[Workload]:
    """Every job that uses it, newest first."""
    return Workload.objects.filter(job__inputs__file=file).distinct().order_by("-pk")


def needed_by(file: StoredFile) -> QuerySet[Workload]:
    """What is not over: the jobs that use it, drafts among them, and the workstations that it is on its way to."""
    jobs = jobs_with(file).exclude(status__in=lifecycle.REST_CODES).order_by().values("pk")
    return Workload.objects.filter(Q(pk__in=jobs) | Q(pk__in=sending.needing(file).values("pk"))).order_by("-pk")


def delete(file: StoredFile, now: datetime) -> bool:
    """Take it from its owner's list; True if its bytes go too. Raises InUse."""
    with transaction.atomic():
        row = StoredFile.objects.select_for_update().get(pk=file.pk)
        if needed_by(row).exists():
            raise InUse
        if row.uses.exists():
            StoredFile.objects.filter(pk=row.pk).update(deleted=now)
            return False
        _remove(row)
    return True


def forget_unused(owner: Any) -> int:
    """Remove the deleted files of a person that no job uses any more. How many they were."""
    with transaction.atomic():
        unused = list(StoredFile.objects.select_for_update(of=("self",)).filter(owner=owner, deleted__isnull=False, uses__isnull=True))
        for row in unused:
            _remove(row)
    return len(unused)


def _remove(row: StoredFile) -> None:
    """The row now, the bytes once that is certain."""
    key = row.key
    row.sent.all().delete()  # what arrived is in a home; nothing of it waits any more
    row.delete()
    if not StoredFile.objects.filter(key=key).exists():
        transaction.on_commit(lambda: default_storage.delete(key), robust=True)
