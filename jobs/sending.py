"""Files that somebody sends into the home of a workstation: what waits, what the agent is told of it, what it says.

One idea: a row waits until its agent says that the file is there, or why it can't be. Nothing else counts, so neither a
suspend nor a lost node nor a report that comes twice changes what is owed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet

from . import lifecycle, names
from .models import Cluster, Sent, StoredFile, Workload, Workstation, touch
from .models.fields import fit
from .signals import announce

AT_ONCE = 50
"""Files that an agent is told of at a time; the next follow as these arrive."""
MOST = 500
"""Files that may wait for one workstation."""


class Refused(Exception):
    """It can't be sent; the message says why, in words for people."""


# --- what people do ---------------------------------------------------------------------------------------------------
def send(station: Workstation, files: Iterable[StoredFile], by: Any, now: datetime) -> list[Sent]:
    """Into its home, now or as soon as it is active; one that waits already is not sent twice. Raises Refused."""
    wanted = list(dict.fromkeys(file.pk for file in files))
    with transaction.atomic():
        may(station, by)
        rows = StoredFile.objects.select_for_update().filter(pk__in=wanted, owner=by, deleted__isnull=True)
        found = {row.pk: row for row in rows}
        if len(found) != len(wanted):
            raise Refused("Only your own files can be sent, and only while they are among My files.")
        if _waiting(station.pk).count() + len(wanted) > MOST:
            raise Refused(f"At most {MOST} files can wait for a workstation.")
        made = [_one(station, found[pk], by, now) for pk in wanted]
        _told(station, now)
    return made


def may(station: Workstation, by: Any) -> None:
    """Raises Refused for whom or where nothing can be sent."""
    work = Workload.objects.get(pk=station.pk)
    if work.owner != by:
        raise Refused("Only its owner may send files to a workstation.")
    if work.status in lifecycle.REST_CODES:
        raise Refused("It is over: nothing can be sent to it any more.")


def take_back(sent: Sent, now: datetime) -> None:
    """Off the list; what has arrived stays in the home."""
    with transaction.atomic():
        Sent.objects.filter(pk=sent.pk).delete()
        _told(sent.workstation, now)


# --- what agents are told, and tell -----------------------------------------------------------------------------------
def orders(workload_id: int) -> list[dict[str, Any]]:
    """The files that a workstation's agent shall fetch and put into its home, oldest first."""
    rows = _waiting(workload_id).select_related("file").order_by("pk")[:AT_ONCE]
    return [{"id": row.pk, "name": names.path(row.name), **_facts(row.file)} for row in rows]


def file_for(workload_id: int, pk: int) -> StoredFile | None:
    """The file of a row, while it waits."""
    row = _waiting(workload_id).filter(pk=pk).select_related("file").first()
    return row.file if row else None


def brought(workload_id: int, report: Mapping[str, Any], now: datetime) -> None:
    """It is there, under this name; or it can't be, and why. May be said again."""
    rows, error = Sent.objects.filter(pk=int(report["id"]), workstation=workload_id, arrived__isnull=True), report.get("error")
    with transaction.atomic():
        if error:
            changed = rows.filter(trouble="").update(trouble=fit(str(error), 500))
        else:
            changed = rows.update(arrived=now, trouble="", name=names.shown(report["name"])[:4200])
        if changed:
            touch([workload_id], now, due=False)


# --- for files --------------------------------------------------------------------------------------------------------
def needing(file: StoredFile) -> QuerySet[Workload]:
    """The workstations that a file still waits for."""
    waits = Workload.objects.filter(workstation__sent__file=file, workstation__sent__arrived__isnull=True, workstation__sent__trouble="")
    return waits.exclude(status__in=lifecycle.REST_CODES).distinct()


# --- private ----------------------------------------------------------------------------------------------------------
def _waiting(workload_id: int) -> QuerySet[Sent]:
    return Sent.objects.filter(workstation=workload_id, arrived__isnull=True, trouble="")


def _one(station: Workstation, file: StoredFile, by: Any, now: datetime) -> Sent:
    """A row that waits: one that could not be brought is tried again."""
    Sent.objects.filter(workstation=station, file=file, arrived__isnull=True).exclude(trouble="").delete()
    waits = _waiting(station.pk).filter(file=file).first()
    return waits or Sent.objects.create(workstation=station, file=file, name=file.name, by=by, made=now)


def _told(station: Workstation, now: datetime) -> None:
    """The agent and the pages; the cluster first, as agents lock."""
    Cluster.objects.filter(workload=station.pk, released__isnull=True).update(orders=F("orders") + 1)
    touch([station.pk], now, due=False)
    announce(f"orders:{station.workload.public_id}")


def _facts(file: StoredFile) -> dict[str, Any]:
    return {"size": file.size, "sha256": file.sha256, "mode": file.mode}
