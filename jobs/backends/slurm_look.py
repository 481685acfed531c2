"""What an admin wants to know of a Slurm cluster before jobs go there, as plain values, every trouble in words.

The one idea: a look raises nothing. What could not be asked is a trouble with what to do about it, and what was found before
it is kept.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from . import slurm_kinds
from .base import Refused, TryAgain
from .slurm_call import Commands
from .slurm_kinds import Kind

OLDEST = (22, 5)
NEEDED = ("sbatch", "squeue", "scancel", "sinfo", "scontrol")
NETWORKS = {"nfs", "nfs4", "lustre", "gpfs", "beegfs", "ceph", "cifs", "smb3", "fuse.sshfs", "afs", "panfs", "wekafs", "9p", "virtiofs"}
"""File systems that several machines share."""
WORDS = {
    "munge": "munge does not answer on this machine: is its service up, and does it hold the cluster's key?",
    "configuration source": "This machine knows no slurm.conf: put it in its place, or name it (option config).",
    "unable to contact slurm controller": "The controller (slurmctld) does not answer: is it up, and can this machine reach it?",
    "connection refused": "The controller (slurmctld) does not answer: is it up, and can this machine reach it?",
    "did not answer within": "The controller (slurmctld) is too slow, or something on the way swallows the question.",
    "incompatible versions": "This machine's Slurm is too old or too new for the cluster's controller.",
    "authentication": "The cluster does not accept this machine: is munge's key the cluster's, and are the clocks alike?",
    "there is no": "Slurm's commands are not on this machine: install them (Debian: slurm-client), or name their folder (option path).",
}
"""What to do about what Slurm says, by a piece of it in lower case; the first that is found counts."""


def kinds(commands: Commands, timeout: float) -> Sequence[Kind]:
    """TryAgain, Refused."""
    return slurm_kinds.parse(commands.run(slurm_kinds.WORDS, timeout))


def survey(commands: Commands, timeout: float, folder: str, shared: bool, accounts: str) -> dict[str, Any]:
    """`troubles` keep jobs from running, `notes` are worth knowing; `kinds` are those of nodes, as in slurm_kinds."""
    found: dict[str, Any] = {"version": "", "troubles": [], "notes": [], "kinds": [], "accounting": None, "cluster": ""}
    try:
        found["version"] = commands.run(["sinfo", "--version"], timeout).strip()
        _check_version(found)
        found["kinds"] = [asdict(kind) for kind in kinds(commands, timeout)]
        _check_partitions(found, commands.run(["sinfo", "--noheader", "--format=%R|%a|%D|%T"], timeout))
        _check_config(found, commands.run(["scontrol", "show", "config"], timeout), accounts)
        for name in NEEDED:
            commands.run([name, "--version"], timeout)
    except (TryAgain, Refused) as error:
        found["troubles"].append(in_words(str(error)))
    found["notes"].append(_folder(folder, shared))
    return found


def in_words(said: str) -> str:
    """What Slurm said, with what to do about it."""
    advice = next((words for sign, words in WORDS.items() if sign in said.lower()), "")
    return f"{advice} ({said})" if advice else said


def _check_version(found: dict[str, Any]) -> None:
    match = re.search(r"(\d+)\.(\d+)", found["version"])
    if match and (int(match[1]), int(match[2])) < OLDEST:
        found["troubles"].append(f"{found['version']} is too old: 22.05 or newer is needed.")


def _check_partitions(found: dict[str, Any], text: str) -> None:
    """`text` has a line of partition, availability, nodes and their state for each state."""
    rows = [line.split("|") for line in text.splitlines() if line.count("|") == 3]
    if not found["kinds"]:
        found["troubles"].append("Slurm shows no partition with nodes to this user.")
    for name in dict.fromkeys(row[0] for row in rows if row[1] != "up"):
        found["notes"].append(f"Partition {name} is not up: jobs would wait there.")
    for name in dict.fromkeys(row[0] for row in rows):
        away = sum(
            int(row[2]) for row in rows if row[0] == name and row[3].rstrip("*~#!%$@^-").startswith(("down", "drain", "fail", "unknown"))
        )
        if away:
            found["notes"].append(
                f"{away} node{'' if away == 1 else 's'} of partition {name} {'is' if away == 1 else 'are'} down or drained."
            )


def _check_config(found: dict[str, Any], text: str, accounts: str) -> None:
    config = dict(re.findall(r"^(\w+)[ \t]*=[ \t]*(.*?)[ \t]*$", text, re.MULTILINE))
    found["cluster"] = config.get("ClusterName", "")
    storage = config.get("AccountingStorageType", "")
    found["accounting"] = bool(storage) and not storage.endswith(("none", "(null)"))
    if not found["accounting"]:
        age = config.get("MinJobAge", "300 sec").split()[0]
        found["notes"].append(
            f"The cluster keeps no accounting: how a job ended is known to Slurm for {age} s only, then from its agent alone."
        )
    if accounts and "jobs" in config.get("PrivateData", "").split(","):
        found["troubles"].append("Slurm shows nobody the jobs of others (PrivateData): make this portal's user an operator of Slurm.")


def _folder(folder: str, shared: bool) -> str:
    """What this machine sees of the folder for jobs; a trial tells what a node sees."""
    kind = _file_system(Path(folder.partition("{")[0]))
    if shared and kind not in NETWORKS:
        return f"The option shared is set, but here {folder} lies on {kind}, this machine's disk: it must be one file system of all nodes."
    if shared:
        return f"{folder} lies on {kind}, shared by the nodes."
    if kind in NETWORKS:
        return f"{folder} lies on {kind} here: if all nodes have it, set the option shared, and inputs reach all nodes of a job."
    return f"Jobs live in {folder} on a disk of each node: inputs reach the first node of a job only."


def _file_system(path: Path) -> str:
    """The kind of the file system that holds the path, or the nearest folder above it that exists."""
    while not path.exists() and path != path.parent:
        path = path.parent
    real, best = os.path.realpath(path), ("", "an unknown file system")
    with open("/proc/self/mounts", encoding="utf-8", errors="replace") as file:
        for line in file:
            point, kind = line.split()[1:3]
            if (real == point or real.startswith(point.rstrip("/") + "/")) and len(point) >= len(best[0]):
                best = (point, kind)
    return best[1]
