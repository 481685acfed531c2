"""The Health tab: what each node last said of itself, and the series for the charts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from jobs import logs
from jobs.lifecycle import Tone
from jobs.models import Node
from portal import words

from .facts import SILENT, Facts
from .text import plural
from .values import Badge

CHARTS = (
    ("cpu", "CPU", "cores in use"),
    ("memory", "Memory", "GiB"),
    ("disk", "Disk", "GiB in the job folder"),
    ("net", "Network", "MiB/s"),
)


@dataclass(frozen=True)
class NodeRow:
    """One node; figures are words, empty where it did not tell."""

    name: str
    badge: Badge
    cpu: str
    memory: str
    disk: str
    network: str
    processes: str
    heard: datetime | None
    head: bool


@dataclass(frozen=True)
class Says:
    tone: str
    icon: str
    title: str
    text: str


def nodes(facts: Facts) -> list[NodeRow]:
    return [_node(facts, node) for node in facts.nodes]


def says(facts: Facts) -> Says:
    """One sentence on how the cluster is."""
    if not facts.nodes:
        text = "It is measured on the cluster, from its first node up to its release."
        return Says(Tone.WAIT, "info-circle", "No node yet" if not facts.is_over else "No node ever came up", text)
    if facts.is_over or (facts.cluster and facts.cluster.released):
        return Says(Tone.WAIT, "info-circle", "The cluster is gone", "The charts show what its nodes measured.")
    if facts.silent:
        count = plural(len(facts.silent), "node")
        return Says(
            Tone.LOOK,
            "alert-triangle",
            f"{count} not heard for over {SILENT} s",
            "It may come back by itself. The command may go on meanwhile; nothing it writes is lost.",
        )
    full = [node.hostname for node in facts.nodes if _memory_share(facts, node) > 0.92]
    if full:
        return Says(Tone.LOOK, "alert-triangle", "Memory is nearly full", f"{', '.join(full[:3])}: a command that takes more is killed.")
    return Says(Tone.PASS, "circle-check", f"{plural(len(facts.nodes), 'node')} heard", "Nothing is short.")


def series(facts: Facts, since: float = 0.0) -> list[dict[str, Any]]:
    """The records of each node for the charts, oldest first, thinned to what a chart can show."""
    return [
        {
            "node": node.index,
            "name": node.hostname,
            "cores": node.cores,
            "memory": node.memory,
            "beats": logs.beats(facts.logs_dir, node.index, since),
        }
        for node in facts.nodes
    ]


def _node(facts: Facts, node: Node) -> NodeRow:
    beat = logs.last_beat(facts.logs_dir, node.index) or {}
    heard = facts.heard.get(node.index)
    net = None if beat.get("net_in") is None else (beat["net_in"] or 0) + (beat.get("net_out") or 0)
    cores = f" of {node.cores:g}" if node.cores else ""
    total = beat.get("memory_total") or node.memory
    return NodeRow(
        node.hostname or f"node {node.index}",
        _badge(facts, node),
        "" if beat.get("cpu") is None else f"{beat['cpu']:.1f}{cores} cores",
        "" if beat.get("memory") is None else words.size(beat["memory"]) + (f" of {words.size(total)}" if total else ""),
        words.size(beat.get("disk_free")),
        "" if net is None else f"{words.size(net)}/s",
        "" if beat.get("processes") is None else words.count(beat["processes"]),
        heard,
        node.index == 0,
    )


def _badge(facts: Facts, node: Node) -> Badge:
    if node.done:
        return Badge("Done", Tone.PASS, "circle-check")
    if facts.is_over:
        return Badge("Gone", Tone.WAIT, "player-stop")
    if node.index in facts.silent:
        return Badge("Not heard", Tone.LOOK, "alert-triangle")
    return Badge("Working", Tone.PASS, "circle-check")


def _memory_share(facts: Facts, node: Node) -> float:
    beat = logs.last_beat(facts.logs_dir, node.index) or {}
    total = beat.get("memory_total") or node.memory
    return (beat.get("memory") or 0) / total if total else 0.0


def moment(at: float) -> datetime:
    return datetime.fromtimestamp(at, UTC)
