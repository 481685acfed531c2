"""Turns an agent's report into facts, and answers with what the agent shall do.

The gateway never changes a status: it writes facts on the cluster (node up, staged, started, exit, saved), announces them,
and the engine decides. A report may come twice, late or out of order; a fact is written once. `go` is the one race that
matters: a compare-and-set hands the command to one asker per attempt.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F

from . import lifecycle, names, sending, sessions, tokens
from .lifecycle import Wish
from .models import Cluster, Event, JobInput, Node, Workload, Workstation, touch
from .models.fields import fit

PROTOCOLS = (1,)
"""Versions of the protocol that are understood: the last two, as soon as there are two."""
WORDS = 2000
"""Characters that are kept of what an agent says in words."""

TOLD_OF_THE_END = ("code", "signal", "memory_killed", "leftovers", "ran", "why", "pipe", "note", "disk_full")


class Gone(Exception):
    """The cluster is released, or its command belongs to another: the agent ends everything (410)."""


class Unknown(Exception):
    """No such cluster, or the wrong secret (401)."""


@dataclass(frozen=True)
class Caller:
    """An agent that has proved its secret. Small and immutable, so that a web process may keep it for a moment."""

    token: str
    node: int
    cluster_id: int
    workload_id: int
    public_id: str
    kind: str
    attempt: int


def identify(token: str, node: int, secret: str) -> Caller:
    """Raises Unknown or Gone."""
    cluster = Cluster.objects.select_related("workload").filter(token=token).first()
    if cluster is None or not hmac.compare_digest(cluster.secret_hash, tokens.hash_of(secret)):
        raise Unknown(token)
    if cluster.releasing or cluster.released:
        raise Gone(token)
    if not 0 <= node < cluster.nodes_wanted:
        raise Unknown(f"{token} has no node {node}")
    work = cluster.workload
    return Caller(token, node, cluster.pk, work.pk, work.public_id, work.kind, cluster.attempt)


def hello(caller: Caller, report: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """This node is up; billing starts at the first one, by our clock."""
    with transaction.atomic():
        node, new = Node.objects.get_or_create(
            cluster_id=caller.cluster_id,
            index=caller.node,
            defaults={
                "hostname": str(report.get("hostname", ""))[:255],
                "nonce": str(report["nonce"])[:64],
                "up": now,
                "cores": float(report.get("cores") or 0),
                "memory": int(report.get("memory") or 0),
                "sandbox": str(report.get("sandbox", ""))[:20],
                "agent": str(report.get("agent", ""))[:20],
                "clock_offset": float(report.get("clock") or now.timestamp()) - now.timestamp(),
            },
        )
        if not new and node.nonce != report["nonce"]:
            raise Gone("another agent has taken this place")
        if new:
            Cluster.objects.filter(pk=caller.cluster_id, up__isnull=True).update(up=now)
            touch([caller.workload_id], now)
    spec = None if caller.node else _spec(caller) if caller.kind == "job" else sessions.spec_for(caller.workload_id)
    return {"now": now.timestamp(), "spec": spec, "orders": orders(caller, now)}


def _spec(caller: Caller) -> dict[str, Any]:
    """All that the head needs to know of the job."""
    work = Workload.objects.select_related("coretype").get(pk=caller.workload_id)
    job, program = work.job, work.job.software.software
    commands = [job.software.setup, *job.commands] if job.software.setup else list(job.commands)
    inputs = [_input(use) for use in job.inputs.select_related("file")]
    return {
        "commands": commands,
        "pipefail": job.pipefail,
        "environment": job.environment,
        "inputs": inputs,
        "streams": {"stdout": None, **job.followed_streams()},
        "stop_command": program.stop_command or None,
        "grace": program.grace,
        "log_head": settings.LOG_HEAD,
        "log_tail": settings.LOG_TAIL,
        "cores": work.cores,
        "memory": work.coretype.memory,
        "nodes": work.nodes,
    }


def _input(use: JobInput) -> dict[str, Any]:
    file = use.file
    name = names.path(use.name)
    return {"id": use.pk, "name": name, "size": file.size, "sha256": file.sha256, "unpack": use.unpack, "mode": file.mode}


def orders(caller: Caller, now: datetime) -> dict[str, Any]:
    """What the agent shall do now. `watched` and `tails` are added by the web process, which knows who looks."""
    related = "workload__job__software__software" if caller.kind == "job" else "workload__workstation__kind"
    cluster = Cluster.objects.select_related(related).get(pk=caller.cluster_id)
    work = cluster.workload
    return {
        "version": cluster.orders,
        "wish": _wish_for(work, cluster),
        "paid_until": _stamp(cluster.paid_until),
        "walltime_until": _stamp(cluster.walltime_until),
        "grace": work.job.software.software.grace if work.kind == "job" else work.workstation.kind.grace,
        "release": cluster.releasing is not None,
        "watched": False,
        "tails": [],
        "now": now.timestamp(),
        **({"bring": sending.orders(work.pk)} if work.kind == "workstation" else {}),
    }


def _wish_for(work: Workload, cluster: Cluster) -> str:
    """The wish, or what the engine decided (budget, rule, idle): it has moved on although the command still runs."""
    if work.wish == Wish.RUN and cluster.exited is None:
        return {lifecycle.STOPPING: Wish.STOP, lifecycle.SUSPENDING: Wish.SUSPEND}.get(work.status, Wish.RUN)
    return work.wish


def _stamp(moment: datetime | None) -> float | None:
    return moment.timestamp() if moment else None


def staging(caller: Caller, report: Mapping[str, Any], now: datetime) -> None:
    """Inputs arrive on the head: how many files and bytes of how many."""
    figures = {name: int(report.get(name) or 0) for name in ("files", "of_files", "bytes", "of_bytes")}
    if Cluster.objects.filter(pk=caller.cluster_id, staged__isnull=True).update(staging=figures):
        touch([caller.workload_id], now)


def staged(caller: Caller, report: Mapping[str, Any], now: datetime) -> None:
    """All inputs are there; or one can't be brought, and why: the first such word counts."""
    error = report.get("error")
    rows = Cluster.objects.filter(pk=caller.cluster_id, staged__isnull=True)
    if error:
        text = f"{error.get('file') or ''}: {error.get('message') or ''}".strip(": ")
        changed = rows.filter(staging_error="").update(staging_error=fit(text, WORDS))
    else:
        figures = {"files": int(report.get("files") or 0), "bytes": int(report.get("bytes") or 0)}
        figures |= {"of_files": figures["files"], "of_bytes": figures["bytes"]}
        changed = rows.update(staged=now, staging=figures)
    if changed:
        touch([caller.workload_id], now)


def go(caller: Caller, nonce: str, now: datetime) -> dict[str, Any]:
    """Hand the command to one asker per attempt. The same asker may ask again; any other gets Gone."""
    cluster = Cluster.objects.select_related("workload").get(pk=caller.cluster_id)
    if cluster.releasing or caller.node != 0 or (cluster.asker and cluster.asker != nonce):
        raise Gone(caller.token)
    hosts = [node.hostname for node in cluster.nodes.all()]
    if cluster.asker == nonce:
        return {"go": True, "hosts": hosts}
    wait = _not_yet(cluster, len(hosts))
    if wait:
        return {"go": False, "wait": wait}
    if not _hand_over(cluster, nonce, now):
        return go(caller, nonce, now)
    return {"go": True, "hosts": hosts}


def _not_yet(cluster: Cluster, up: int) -> str:
    if up < cluster.nodes_wanted:
        return f"{up} of {cluster.nodes_wanted} nodes up"
    if cluster.staged is None:
        return "inputs are not staged"
    if cluster.workload.status != lifecycle.STARTING or cluster.workload.wish != Wish.RUN:
        return "the job is not to be started"
    return ""


def _hand_over(cluster: Cluster, nonce: str, now: datetime) -> bool:
    """Compare-and-set, with the walltime noted that counts from here."""
    free = Cluster.objects.filter(pk=cluster.pk, asker="", releasing__isnull=True)
    free = free.filter(workload__status=lifecycle.STARTING, workload__wish=Wish.RUN, workload__attempt=cluster.attempt)
    until = now + timedelta(seconds=cluster.workload.walltime)
    return free.update(asker=nonce, went=now, walltime_until=until, orders=F("orders") + 1) == 1


def started(caller: Caller, report: Mapping[str, Any], now: datetime) -> None:
    """The command, or the session of a workstation, has begun."""
    _fact(caller, now, "started", {"started": now})
    if caller.kind == "workstation":
        Workstation.objects.filter(pk=caller.workload_id, begun__isnull=True).update(begun=now)


def ready(caller: Caller, report: Mapping[str, Any], now: datetime) -> None:
    """The session of a workstation can be connected to."""
    _fact(caller, now, "ready", {"ready": now})


def brought(caller: Caller, report: Mapping[str, Any], now: datetime) -> None:
    """A file that was sent is in the home of a workstation, or can't be."""
    sending.brought(caller.workload_id, report, now)


def unsaved(caller: Caller, report: Mapping[str, Any], now: datetime) -> None:
    """The home can't be saved, so the session was not ended; the engine decides what that means."""
    words = fit(str(report.get("message") or "there is no room for its home"), WORDS)
    rows = Cluster.objects.filter(pk=caller.cluster_id, exited__isnull=True)
    if rows.update(unsaved=words, unsaved_at=now):
        touch([caller.workload_id], now)


def exited(caller: Caller, report: Mapping[str, Any], now: datetime) -> None:
    """The command is over and nothing of it is alive. The moment is the node's, set right by its clock's offset."""
    facts = {name: report[name] for name in TOLD_OF_THE_END if name in report}
    moment = _moment(caller, report.get("clock"), now)
    changed = _fact(caller, now, "exited", {"exited": moment, "exit": facts})
    Cluster.objects.filter(pk=caller.cluster_id, started__isnull=True, went__isnull=False).update(started=moment)
    if changed and facts.get("leftovers"):
        note(caller, now, f"{facts['leftovers']} leftover processes were ended after the command had exited")


def _moment(caller: Caller, clock: Any, now: datetime) -> datetime:
    """A time of the node's clock as ours; never in the future, never before the node was up."""
    node = Node.objects.filter(cluster_id=caller.cluster_id, index=caller.node).first()
    if node is None or not isinstance(clock, int | float):
        return now
    try:
        moment = datetime.fromtimestamp(clock - node.clock_offset, UTC)
    except (ValueError, OverflowError, OSError):
        return now
    return min(now, max(node.up, moment))


def done(caller: Caller, report: Mapping[str, Any], now: datetime) -> None:
    """A node has nothing more to send; the head's word means that outputs are saved."""
    Node.objects.filter(cluster_id=caller.cluster_id, index=caller.node, done__isnull=True).update(done=now)
    if caller.node == 0:
        figures = {name: int(report.get(name) or 0) for name in ("files", "bytes", "skipped", "failed")}
        _fact(caller, now, "saved", {"saved": now, "saving": figures})
    else:
        touch([caller.workload_id], now)


def saving(caller: Caller, files: int, size: int, now: datetime) -> None:
    """Outputs arrive: how many files and bytes so far."""
    if Cluster.objects.filter(pk=caller.cluster_id, saved__isnull=True).update(saving={"files": files, "bytes": size}):
        touch([caller.workload_id], now)


def failed(caller: Caller, report: Mapping[str, Any], now: datetime) -> None:
    """The agent can't go on, whatever the command does."""
    message = fit(str(report.get("message") or "the agent could not go on"), WORDS)
    if Cluster.objects.filter(pk=caller.cluster_id, broken="").update(broken=message):
        touch([caller.workload_id], now)


def note(caller: Caller, now: datetime, text: str) -> None:
    """A line for the timeline."""
    event = Event.beside(Workload.objects.get(pk=caller.workload_id), now, "agent", "note", fit(text, WORDS))
    event.attempt = caller.attempt
    event.save()


def _fact(caller: Caller, now: datetime, column: str, values: Mapping[str, Any]) -> bool:
    """Write a fact once; False if it was known."""
    with transaction.atomic():
        if not Cluster.objects.filter(pk=caller.cluster_id, **{f"{column}__isnull": True}).update(**values):
            return False
        touch([caller.workload_id], now)
    return True
