"""What is handed to sbatch: the words of its command line, and the script that it reads from its standard input.

The one idea: nothing that a user wrote is in either. The words are numbers, our token, and the coretype's options, each
checked against a pattern; the script is one srun of one Python, fed with one line of JSON that no shell looks at.
"""

from __future__ import annotations

import base64
import json
import math
import os
import pwd
import re
import shlex
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from . import slurm_node
from .base import Refused, Spec

PATTERNS = {
    "partition": r"[\w.,-]+",
    "account": r"[\w.@-]+",
    "qos": r"[\w.-]+",
    "constraint": r"[\w.&|*:,()\[\]-]+",
    "licenses": r"[\w.@:,;|-]+",
    "gres": r"[\w.:,/-]+",
    "reservation": r"[\w.,-]+",
}
"""What each option of a coretype may look like. None can begin with a space or hold one, a quote or a line end."""

_END = "HEADRACE_END"
START = (
    "import sys; sys.version_info < (3, 6) and sys.exit(72); import json; told = json.loads(sys.stdin.readline()); "
    "exec(told['code']); sys.exit(main(told))"
)


@dataclass(frozen=True)
class Options:
    """Options of a coretype: names as sbatch has them; `extra_time` (seconds) is added to the walltime that is asked for."""

    partition: str = ""
    account: str = ""
    qos: str = ""
    constraint: str = ""
    licenses: str = ""
    gres: str = ""
    reservation: str = ""
    extra_time: int = 0
    exclusive: bool = False

    @classmethod
    def of(cls, *given: Mapping[str, Any]) -> Options:
        """Checked; the later ones win. Refused says which is wrong and why."""
        known = {field.name: field.type for field in fields(cls)}
        values = {name: value for options in given for name, value in options.items() if value not in (None, "")}
        for name, value in values.items():
            if name not in known:
                raise Refused(f"there is no option {name!r}; there are {', '.join(known)}")
            _check(name, value)
        return cls(**values)

    def words(self) -> list[str]:
        named = [f"--{name}={getattr(self, name)}" for name in PATTERNS if getattr(self, name)]
        return [*named, *(["--exclusive"] if self.exclusive else [])]


@dataclass(frozen=True)
class Place:
    """Where agents live on nodes: `folder` holds a folder per cluster, on a file system of all nodes if `shared`.

    Of another account it is `folder` with {account} replaced, or with the account's name behind it.
    """

    folder: str
    shared: bool
    python: str
    environment: Mapping[str, str]

    def of(self, account: str) -> Place:
        if "{account}" in self.folder:
            return replace(self, folder=self.folder.replace("{account}", account or pwd.getpwuid(os.geteuid()).pw_name))
        return replace(self, folder=f"{self.folder}-{account}") if account else self


def command(token: str, spec: Spec, options: Options, margin: int, comment: str) -> list[str]:
    """sbatch and its words. `margin` (seconds) is what staging and saving may take beside the walltime."""
    minutes = math.ceil((spec.walltime + margin + options.extra_time) / 60)
    return [
        "sbatch", "--parsable", f"--job-name={token}", f"--comment={comment}", f"--nodes={spec.nodes}",
        f"--ntasks-per-node={spec.cores}", "--cpus-per-task=1", f"--mem={max(1, spec.memory >> 20)}M", f"--time={minutes}",
        "--no-requeue", "--chdir=/", "--input=/dev/null", "--output=/dev/null", "--error=/dev/null", *options.words(),
    ]  # fmt: skip


def script(token: str, spec: Spec, place: Place) -> str:
    """For sbatch's standard input: Slurm keeps it for root and our user alone."""
    return started(spec.nodes, spec.cores, place.python, payload(token, spec, place))


def started(nodes: int, cores: int, python: str, line: str) -> str:
    """A script that starts a program of ours on each node; `line` is the JSON that it is fed with."""
    words = [
        "srun", "--overlap", f"--nodes={nodes}", f"--ntasks={nodes}", "--ntasks-per-node=1", f"--cpus-per-task={cores}",
        "--mem=0", "--mpi=none", "--cpu-bind=none", "--kill-on-bad-exit=1", "--input=all", python, "-I", "-S", "-c", START,
    ]  # fmt: skip
    return "\n".join([
        "#!/bin/bash",
        '[ "${SLURM_RESTART_COUNT:-0}" = 0 ] || exit 73',
        "trap '' TERM",  # agents hear of an end from Slurm itself and save what they can; srun would have them killed
        f"setsid {shlex.join(words)} <<'{_END}' &",
        line,
        _END,
        "wait $!",
        "",
    ])  # fmt: skip


def payload(token: str, spec: Spec, place: Place) -> str:
    """One line of JSON in ASCII: the program for the nodes, the agent, and its start values."""
    config: dict[str, Any] = {
        "portal": spec.portal, "ca": None, "token": token, "secret": spec.secret, "nodes": spec.nodes, "foreground": True,
        "run_as": None, "wrap": None, "landlock": None, "sandbox": "none", "cgroups": [], "rlimits": {},
        "cores": spec.cores, "memory": spec.memory,
    }  # fmt: skip
    return json.dumps({
        "code": _program(), "agent": _packed(spec.agent, Path(spec.agent).stat().st_mtime_ns), "token": token, "config": config,
        "ca": Path(spec.ca).read_text(encoding="ascii", errors="replace") if spec.ca else "",
        "folder": place.folder, "shared": place.shared, "environment": dict(place.environment),
    })  # fmt: skip


def _check(name: str, value: Any) -> None:
    if name == "extra_time":
        good = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 30 * 86400
    elif name == "exclusive":
        good = isinstance(value, bool)
    else:
        good = isinstance(value, str) and len(value) <= 200 and re.fullmatch(PATTERNS[name], value, re.ASCII) is not None
    if not good:
        raise Refused(f"option {name} cannot be {value!r}")


@lru_cache(maxsize=1)
def _program() -> str:
    return Path(slurm_node.__file__).read_text(encoding="utf-8")


@lru_cache(maxsize=2)
def _packed(path: str, changed: int) -> str:
    """The agent, small enough that thousands of waiting jobs do not fill Slurm's disk."""
    return base64.b64encode(zlib.compress(Path(path).read_bytes(), 9)).decode("ascii")
