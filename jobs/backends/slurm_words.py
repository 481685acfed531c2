"""Slurm's words in ours: states, the reasons why a job waits, and what the end of a job means.

The one idea: what is not in these tables is not guessed at. An unknown state is UNKNOWN and shown with its name.
"""

from __future__ import annotations

from .base import CANCELLED, NO_MEMORY, NO_NODE, NO_TIME, PREEMPTED, WAITS, Described, State
from .slurm_node import EXITS
from .slurm_queue import Job, name_of

STATES: dict[str, tuple[State, str]] = {
    "PENDING": (State.PENDING, ""),
    "REQUEUED": (State.FAILED, "Slurm requeued the job; a command is never started twice"),
    "REQUEUE_FED": (State.UNKNOWN, "the job is moving to another cluster of the federation"),
    "REQUEUE_HOLD": (State.FAILED, "Slurm requeued the job and holds it; a command is never started twice"),
    "SPECIAL_EXIT": (State.FAILED, "Slurm requeued the job and holds it; a command is never started twice"),
    "RESV_DEL_HOLD": (State.PENDING, f"{WAITS}: its reservation was deleted"),
    "CONFIGURING": (State.PENDING, "Its nodes are being started"),
    "RUNNING": (State.UP, ""),
    "SUSPENDED": (State.UP, "suspended on the cluster"),
    "STOPPED": (State.UP, "stopped on the cluster"),
    "RESIZING": (State.UP, ""),
    "SIGNALING": (State.UP, ""),
    "STAGE_OUT": (State.UP, ""),
    "COMPLETING": (State.UP, "ending"),
    "COMPLETED": (State.FAILED, "Its agents ended before the portal let them go"),
    "FAILED": (State.FAILED, ""),
    "CANCELLED": (State.FAILED, CANCELLED),
    "REVOKED": (State.UNKNOWN, "the job was moved to another cluster of the federation"),
    "PREEMPTED": (State.FAILED, f"{PREEMPTED}: Slurm gave its nodes to a job of higher priority"),
    "NODE_FAIL": (State.FAILED, f"{NO_NODE}, says Slurm"),
    "BOOT_FAIL": (State.FAILED, "A node could not be started, says Slurm"),
    "LAUNCH_FAILED": (State.FAILED, "Slurm could not start the job on its nodes"),
    "RECONFIG_FAIL": (State.FAILED, "Slurm could not set up the nodes"),
    "DEADLINE": (State.FAILED, f"{NO_TIME}: Slurm ended the job at its deadline"),
    "TIMEOUT": (State.FAILED, f"{NO_TIME}: Slurm ended the job at its time limit"),
    "OUT_OF_MEMORY": (State.FAILED, f"{NO_MEMORY}: raise the memory or choose a larger coretype"),
}

REASONS = {
    "None": "",
    "": "",
    "Resources": "not enough nodes are free",
    "Priority": "jobs of higher priority are before it",
    "BeginTime": "its time to begin has not come",
    "Licenses": "its licences are in use",
    "JobHeldAdmin": "held by an admin of the cluster",
    "JobHeldUser": "held on the cluster",
    "Reservation": "its reservation has not begun",
    "PartitionDown": "the partition is down",
    "PartitionInactive": "the partition is switched off",
    "PartitionConfig": "the partition does not allow so much",
    "PartitionNodeLimit": "the partition does not allow so many nodes",
    "PartitionTimeLimit": "the partition does not allow so long a time",
    "BadConstraints": "no node is as the coretype asks for",
    "InvalidAccount": "its account does not exist any more",
    "InvalidQOS": "its QOS does not exist any more",
    "NodeDown": "a node that it needs is down",
    "Cleaning": "what ran before is being cleared away",
    "Dependency": "it depends on another job",
}
"""Why a job waits, by Slurm's name; limits (QOS..., Assoc...) are told by their kind, others by their name."""


def describe(job: Job) -> Described:
    """How a cluster stands whose job Slurm knows."""
    state, why = STATES.get(job.state, (State.UNKNOWN, f"status unknown ({job.state})"))
    if job.restarts and state in (State.UP, State.PENDING):
        state, why = STATES["REQUEUED"]
    if state is State.PENDING:
        return Described(state, why or _waits(job), job.start)
    if state is State.UP:
        return Described(state, why, job.start)
    if job.state == "CANCELLED":
        why += _by(job.detail)
    return Described(state, why or _failed(job))


def is_over(job: Job) -> bool:
    """Nothing of it runs or will run. COMPLETING is not over; nor is what is unknown."""
    state, _ = STATES.get(job.state, (State.UNKNOWN, ""))
    return state is State.FAILED and not job.state.startswith("REQUEUE") and job.state != "SPECIAL_EXIT"


def _waits(job: Job) -> str:
    nodes = "a node" if job.nodes == 1 else f"{job.nodes} nodes"
    why = _reason(job.reason)
    return f"{WAITS} for {nodes} in partition {job.partition or 'default'}{f': {why}' if why else ''}."


def _reason(name: str) -> str:
    if name in REASONS:
        return REASONS[name]
    if name.startswith(("ReqNodeNotAvail", "Nodes required for job are")):
        return "nodes that it needs are down or reserved"
    for prefix, whose in (("QOS", "the QOS"), ("Assoc", "the account")):
        if name.startswith(prefix):
            return f"a limit of {whose} is reached ({name})"
    return name


def _by(detail: str) -> str:
    """Of accounting's "by UID"."""
    return f" by {name_of(detail.removeprefix('by ').strip())}" if detail.startswith("by ") else ""


def _failed(job: Job) -> str:
    if job.exit in EXITS:
        return EXITS[job.exit]
    if job.reason.startswith(("Out", "OOM")):
        return STATES["OUT_OF_MEMORY"][1]
    if job.exit == 128 + 9 or job.signal == 9:
        return "The agents were killed on the node (signal 9), most often for want of memory: raise the memory or choose a larger coretype"
    how = f"signal {job.signal}" if job.signal else f"exit code {job.exit}" if job.exit else job.reason or "no reason given"
    return f"The agents ended, says Slurm ({how})"
