"""Looks behind the programs that only start another: mpirun, srun, env, time, nice...

The one idea to know: what a launcher starts is what matters; the launcher itself leaves ranks, threads and the host
file behind. An option that we do not know makes the program unknown, never a guess.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

MPI = {"mpirun", "mpiexec", "mpiexec.hydra", "mpirun.openmpi", "mpirun.mpich", "mpiexec.openmpi", "mpiexec.mpich",
       "orterun", "prterun", "srun", "aprun", "jsrun", "ibrun"}  # fmt: skip

# Options of the MPI launchers that take a value, or two.
_VALUE = {"-np", "-n", "--np", "--n", "-c", "--ntasks", "-N", "--nodes", "--map-by", "--bind-to", "--rank-by", "-x",
          "-host", "--host", "-H", "-hosts", "--hosts", "-hostfile", "--hostfile", "-machinefile", "--machinefile",
          "-f", "-ppn", "-perhost", "--npernode", "-npernode", "-wdir", "--wdir", "-wd", "-path", "--path", "-prefix",
          "--prefix", "-genvlist", "-iface", "-bind-to", "-map-by", "--cpus-per-task", "--ntasks-per-node", "-p",
          "--partition", "-t", "--time", "-A", "--account", "--mem", "--cpus-per-proc", "-cpus-per-proc", "--output",
          "--output-filename", "-output-filename", "-o", "-e", "--error", "-J", "--job-name", "--mpi", "--cpu-bind",
          "--gres", "-G", "--gpus", "--constraint", "-C", "--report-bindings-file", "--app", "-app", "--tune", "-d",
          "-rankfile", "--rankfile", "-rf", "-am", "-tune", "-configfile", "-w", "--nodelist", "-q", "--qos", "--distribution", "-m", "--timeout", "-timeout", "--stdin", "-stdin"}  # fmt: skip
_TWO_VALUES = {"-mca", "--mca", "-gmca", "--gmca", "-genv", "-env"}
_RANKS = {"-np", "-n", "--np", "--n", "--ntasks"}
_HOST_FILES = {"-hostfile", "--hostfile", "-machinefile", "--machinefile"}
_NAMED = {"--app": "application file", "-app": "application file", "--rankfile": "rank file", "-rankfile": "rank file", "-rf": "rank file",
          "--tune": "parameter file", "-tune": "parameter file", "-am": "parameter file", "-configfile": "configuration file",
          "--multi-prog-file": "configuration file"}  # fmt: skip
_OVERSUBSCRIBE = {"--oversubscribe", "-oversubscribe", "--overcommit", "-O"}

# Programs that start another: option letters that take a value, and how many plain words come before the program.
_WRAPPERS: dict[str, tuple[set[str], int]] = {
    "time": ({"-f", "-o"}, 0), "nice": ({"-n"}, 0), "nohup": (set(), 0), "exec": ({"-a"}, 0), "command": (set(), 0),
    "stdbuf": ({"-o", "-e", "-i"}, 0), "timeout": ({"-k", "-s", "--signal", "--kill-after"}, 1), "setsid": (set(), 0),
    "numactl": ({"-C", "-N", "-m", "-i", "-p"}, 0), "ionice": ({"-c", "-n"}, 0), "builtin": (set(), 0),
    "runApplication": ({"-s", "-suffix", "-decomposeParDict"}, 0), "runParallel": ({"-s", "-suffix", "-n", "-np", "-decomposeParDict"}, 0),
    "taskset": (set(), 1), "catchsegv": (set(), 0), "unbuffer": (set(), 0), "chrt": (set(), 1),
}  # fmt: skip


@dataclass(frozen=True)
class Launcher:
    """How an MPI launcher was called. `ranks` is None if not given or not known."""

    name: str
    ranks: int | None
    word: str = ""  # what was written for the ranks
    threads: int | None = None  # cores per rank that were asked for
    oversubscribe: bool = False
    host_file: str | None = None
    parts: int = 1  # programs in one call, separated by ":"
    nodes: int | None = None
    files: tuple[tuple[str, str], ...] = ()  # (what it is, path) of further files that it reads
    folder: str | None = None  # where it is to work
    placing: tuple[str, ...] = ()  # what ranks are bound and mapped to, as it is written


def unwrap(
    words: Sequence[str | None], variables: Mapping[str, str | None]
) -> tuple[tuple[str | None, ...], Launcher | None, dict[str, str | None]]:
    """(words of the program proper, launcher, environment that was added)."""
    rest, launcher = tuple(words), None
    added: dict[str, str | None] = {}
    for _ in range(8):
        name = posixpath.basename(rest[0] or "") if rest else ""
        if name in MPI:
            added |= _handed_on(rest)
            rest, found = _mpi(name, rest)
            launcher = found or launcher
        elif name == "env":
            rest = _env(rest[1:], added)
        elif name in _WRAPPERS:
            rest = _wrapper(rest[1:], *_WRAPPERS[name])
        else:
            break
    return rest, launcher, added


def _mpi(name: str, words: tuple[str | None, ...]) -> tuple[tuple[str | None, ...], Launcher | None]:
    seen: dict[str, str | None] = {}
    at = 1
    while at < len(words) and (words[at] or "").startswith("-"):
        option, equals, value = (words[at] or "").partition("=")
        if option in _TWO_VALUES:
            at += 3
        elif option in _VALUE and not equals:
            seen[_key(name, option)] = words[at + 1] if at + 1 < len(words) else None
            at += 2
        else:
            seen[_key(name, option)] = value
            at += 1
    rest = words[at:]
    return rest, _launcher(name, seen, rest)


def _handed_on(words: tuple[str | None, ...]) -> dict[str, str | None]:
    """Variables that `-x NAME=value` sets for the ranks."""
    given = [word.partition("=") for before, word in zip(words, words[1:], strict=False) if before == "-x" and word and "=" in word]
    return {name: value for name, _, value in given}


def _key(name: str, option: str) -> str:
    """One name for the options that mean the same."""
    if option in _RANKS or (option == "-c" and name not in ("srun", "aprun")):
        return "ranks"
    if option in ("--cpus-per-task", "--cpus-per-proc", "-cpus-per-proc", "-c", "-d"):
        return "threads"
    if option in _HOST_FILES or (option == "-f" and name.startswith(("mpiexec", "mpirun"))):
        return "hosts"
    if option in ("-N", "--nodes") and name == "srun":
        return "nodes"
    return "oversubscribe" if option in _OVERSUBSCRIBE else option


def _launcher(name: str, seen: dict[str, str | None], rest: tuple[str | None, ...]) -> Launcher:
    word = seen.get("ranks") or ""
    ranks = _number(word)
    more = _more_ranks(rest)
    mapping = (seen.get("--map-by") or seen.get("-map-by") or "").lower()
    return Launcher(
        name,
        None if ranks is None or None in more else ranks + sum(part or 0 for part in more),
        word,
        _number(seen.get("threads") or ""),
        "oversubscribe" in seen or "oversubscribe" in mapping,
        seen.get("hosts"),
        1 + len(more),
        _number(seen.get("nodes") or ""),
        tuple((what, path) for option, what in _NAMED.items() if (path := seen.get(option))),
        next((path for option in ("-wdir", "--wdir", "-wd") if (path := seen.get(option))), None),
        tuple(unit for option in ("--bind-to", "-bind-to", "--map-by", "-map-by") if (unit := seen.get(option))),
    )


def _more_ranks(rest: tuple[str | None, ...]) -> list[int | None]:
    """Ranks of the further programs of `mpirun -n 1 a : -n 2 b`."""
    found = []
    for at, word in enumerate(rest):
        if word == ":":
            part = rest[at + 1 : at + 3]
            found.append(_number(part[1] or "") if len(part) == 2 and part[0] in _RANKS else None)
    return found


def _env(words: tuple[str | None, ...], added: dict[str, str | None]) -> tuple[str | None, ...]:
    at = 0
    while at < len(words):
        word = words[at] or ""
        if word in ("-u", "-C", "-S"):
            at += 2
        elif word.startswith("-"):
            at += 1
        elif "=" in word:
            name, _, value = word.partition("=")
            added[name] = value
            at += 1
        else:
            break
    return words[at:]


def _wrapper(words: tuple[str | None, ...], valued: set[str], plain: int) -> tuple[str | None, ...]:
    at = 0
    while at < len(words) and (words[at] or "").startswith("-"):
        at += 2 if words[at] in valued else 1
    return words[at + plain :]


def _number(text: str) -> int | None:
    return int(text) if text.isdigit() and len(text) < 10 else None
