"""A workstation in every status, by direct rows: what the pages must be able to show."""

from __future__ import annotations

import io
import tarfile
import time
from datetime import timedelta
from decimal import Decimal
from typing import Any

import factories
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone

from jobs import lifecycle, logs, tokens
from jobs.models import Cluster, Coretype, DiskUse, Event, HomeCopy, Node, Workload, WorkstationKind

ROAD = [lifecycle.QUEUED, lifecycle.VALIDATING, lifecycle.STARTING, lifecycle.ACTIVE]
FILES = {"notes.txt": b"mesh first\n", "case/system/controlDict": b"endTime 5;\n", "case/0/U": b"U\n", "a b/\U0001f680.csv": b"x,y\n"}


def kind(session: str = "desktop", **fields: Any) -> WorkstationKind:
    names = {"desktop": "Linux desktop", "terminal": "Terminal", "jupyter": "JupyterLab"}
    given = {
        "name": names[session],
        "session": session,
        "software": "ParaView 5.13\nOpenFOAM 12",
        "description": "A light desktop for meshes and results.",
        **fields,
    }
    made, _ = WorkstationKind.objects.get_or_create(code=session, defaults=given)
    return made


def desk(
    owner: Any, status: str, session: str = "desktop", *, last: str = "", reason: str = "", failed: str = "", **fields: Any
) -> Workload:
    """One that went along the road up to `status`; for one that is suspended or over, `last` is the stage before."""
    kind(session)
    work = factories.workstation(
        owner,
        session=session,
        name=fields.pop("name", f"{session}-{status}"),
        coretype=fields.pop("coretype", None) or hardware(),
        **fields,
    ).workload
    Workload.objects.filter(pk=work.pk).update(cores=8)
    start = timezone.now() - timedelta(minutes=40)
    if status != lifecycle.DRAFT:
        _walk(work, status, last, start, reason, failed)
    if (last or status) not in (lifecycle.DRAFT, *ROAD[:2]):
        _cluster(work, last or status, status, start)
    work.refresh_from_db()
    return work


def hardware() -> Any:
    """The one kind of hardware of all of them."""
    return Coretype.objects.filter(name="Basalt").first() or factories.coretype(
        name="Basalt", price=Decimal("0.048"), disk_price=Decimal("0.000083")
    )


def copy(work: Workload, ago: float = 12, why: str = "periodic", files: dict[str, bytes] | None = None, **fields: Any) -> HomeCopy:
    """A whole copy of its home, with its bytes in storage."""
    data = packed(FILES if files is None else files)
    key = default_storage.save(f"homes/{work.public_id}/{time.monotonic_ns():016x}", ContentFile(data))
    at = timezone.now() - timedelta(minutes=ago)
    given = {"size": len(data), "files": len(FILES), "skipped": [["run/pipe", "a pipe"], ["x.sock", "a socket"]], "changed": 1, **fields}
    return HomeCopy.objects.create(
        workstation=work.workstation, code=key.rpartition("/")[2][:16], attempt=work.attempt, why=why, key=key, made=at, whole=at, **given
    )


def packed(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mtime, info.mode = len(data), 1_700_000_000, 0o644
            tar.addfile(info, io.BytesIO(data))
        link = tarfile.TarInfo("latest")
        link.type, link.linkname = tarfile.SYMTYPE, "case"
        tar.addfile(link)
        folder = tarfile.TarInfo("empty")
        folder.type = tarfile.DIRTYPE
        tar.addfile(folder)
    return out.getvalue()


def beats(work: Workload, idle_for: float = 0) -> None:
    """Half an hour of beats: at work until `idle_for` seconds ago."""
    directory, now = logs.attempt_dir(work.public_id, work.attempt), time.time()
    for ago in range(1800, 0, -30):
        busy = 4.2 + (ago // 30) % 3 if ago > idle_for else 0.04
        record = {
            "cpu": busy + 0.1,
            "busy": busy,
            "memory": 3 << 30,
            "memory_total": 16 << 30,
            "disk_used": 2 << 30,
            "disk_free": 20 << 30,
            "net_in": 0,
            "net_out": 0,
            "processes": 31,
            "files_total": 212,
            "bytes_total": 1_290_000_000,
            "files": [],
            "input_at": now - ago if ago > idle_for and ago % 120 else None,
        }
        logs.append_beat(directory, 0, record, now - ago)
    logs.heard(directory, 0, now)
    for sign in ("input", "processor"):
        logs.touched(directory, sign, now - idle_for)


def all_of_them(owner: Any, project: Any) -> dict[str, Workload]:
    made = {status: desk(owner, status, project=project) for status in [lifecycle.DRAFT, *ROAD]}
    for session in ("terminal", "jupyter"):
        made[session] = desk(owner, lifecycle.ACTIVE, session, project=project)
        beats(made[session])
    beats(made[lifecycle.ACTIVE])
    made["idle"] = desk(owner, lifecycle.ACTIVE, name="desktop-idle", project=project)
    beats(made["idle"], 1080)
    WorkstationKind.objects.filter(code="desktop").update(idle_after=1800)
    made["unsaved"] = desk(owner, lifecycle.ACTIVE, name="desktop-unsaved", project=project)
    Cluster.objects.filter(workload=made["unsaved"]).update(unsaved="The home needs 3.1 GiB in the file storage, which has 1.2 GiB free.")
    beats(made["unsaved"])
    made[lifecycle.SUSPENDING] = desk(owner, lifecycle.SUSPENDING, last=lifecycle.ACTIVE, project=project)
    made[lifecycle.SUSPENDED] = desk(owner, lifecycle.SUSPENDED, last=lifecycle.ACTIVE, reason="wish", project=project)
    made["lost"] = desk(owner, lifecycle.SUSPENDED, last=lifecycle.ACTIVE, reason="node-lost", name="desktop-lost", project=project)
    made[lifecycle.STOPPING] = desk(owner, lifecycle.STOPPING, last=lifecycle.ACTIVE, project=project)
    made[lifecycle.STOPPED] = desk(owner, lifecycle.STOPPED, last=lifecycle.ACTIVE, reason="stopped", project=project)
    made[lifecycle.FAILED] = desk(
        owner, lifecycle.FAILED, last=lifecycle.STARTING, reason="not-up", failed=lifecycle.STARTING, project=project
    )
    for name in (lifecycle.ACTIVE, "idle", lifecycle.SUSPENDING, lifecycle.SUSPENDED, "lost", lifecycle.STOPPING, lifecycle.STOPPED):
        copy(made[name], 42)
        copy(made[name], 12)
    DiskUse.objects.create(
        workload=made[lifecycle.SUSPENDED],
        attempt=1,
        size=1_290_000_000,
        price=Decimal("0.000083"),
        start=timezone.now() - timedelta(hours=9),
    )
    return made


def _walk(work: Workload, status: str, last: str, start: Any, reason: str, failed: str) -> None:
    """Events along the road, one a minute, and the row where it ends."""
    codes = ROAD[: ROAD.index(last) + 1] if last else ROAD[: ROAD.index(status) + 1]
    middle = {lifecycle.SUSPENDED: [lifecycle.SUSPENDING], lifecycle.STOPPED: [lifecycle.STOPPING], lifecycle.FAILED: [lifecycle.STOPPING]}
    codes = [*codes, *middle.get(status, []), *([status] if last else [])]
    before = lifecycle.DRAFT
    for minute, code in enumerate(codes):
        at, user = start + timedelta(minutes=minute), code == lifecycle.QUEUED
        said = reason if code in (lifecycle.SUSPENDED, *lifecycle.REST_CODES) else ""
        Event.objects.create(
            workload=work,
            at=at,
            before=before,
            after=code,
            source="user" if user else "engine",
            by=work.owner if user else None,
            reason=said,
        )
        before = code
    outcome = lifecycle.ENDINGS[reason].outcome if status in lifecycle.REST_CODES else ""
    ended = timezone.now() - timedelta(minutes=5) if status in lifecycle.REST_CODES else None
    Workload.objects.filter(pk=work.pk).update(
        status=status,
        since=start + timedelta(minutes=len(codes) - 1),
        submitted=start,
        reason=reason,
        outcome=outcome,
        failed_stage=failed,
        ended=ended,
    )
    work.refresh_from_db()


def _cluster(work: Workload, last: str, status: str, start: Any) -> None:
    minute = lambda number: start + timedelta(minutes=number)  # noqa: E731
    came, gone = last != lifecycle.STARTING, status in (lifecycle.SUSPENDED, *lifecycle.REST_CODES)
    token = tokens.token_of(work)
    cluster = Cluster.objects.create(
        workload=work,
        attempt=work.attempt,
        token=token,
        secret_hash=tokens.hash_of("secret"),
        backend="fake",
        coretype=work.coretype,
        nodes_wanted=1,
        cores=8,
        price=work.coretype.price,
        asked=minute(2),
        created=minute(2),
        seen=minute(2),
        up=minute(2),
        staging={"bytes": 1 << 28, "of_bytes": 1 << 30},
        staged=minute(3) if came else None,
        went=minute(3) if came else None,
        started=minute(3) if came else None,
        ready=minute(3) if came else None,
        releasing=minute(5) if gone else None,
        released=minute(6) if gone else None,
        charged_until=minute(6) if gone else None,
        settled=minute(6) if gone else None,
    )
    Node.objects.create(
        cluster=cluster, index=0, hostname="node-01", nonce="n0", up=minute(2), cores=8, memory=16 << 30, done=minute(5) if gone else None
    )
