"""Which software a node has: its programs are asked on one core of the partition, and the answers come straight back by srun.

The one idea: a look never waits for a cluster that has other things to do, and nothing of it stays. Slurm gives it up if no
core is free soon, and ends it by its time limit; a look that failed here is cancelled by a name that nothing else has.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from . import slurm_ask_node
from .base import Refused, TryAgain
from .slurm_call import Commands
from .slurm_script import START, Options, Place

WAIT, BUDGET = 30, 90
"""Seconds for a core to be free, and for all programs together."""
MINUTES, MEMORY = 3, "512M"
ASKED = ("partition", "account", "qos", "constraint", "reservation")
"""Options of the coretype that say which nodes; a look takes no licences and no graphics cards away."""


def says(commands: Commands, scripts: Sequence[str], seconds: float, place: Place, options: Options) -> list[str]:
    """What each script prints on a node. TryAgain, Refused."""
    name = f"headrace-look-{secrets.token_hex(6)}"
    code = Path(str(slurm_ask_node.__file__)).read_text(encoding="utf-8")
    told = {"code": code, "scripts": list(scripts), "seconds": seconds, "budget": BUDGET, "environment": dict(place.environment)}
    try:
        said = commands.run(_words(name, place.python, options), WAIT + BUDGET + 20, json.dumps(told) + "\n")
    except (TryAgain, Refused) as error:
        with suppress(TryAgain, Refused):
            commands.run(["scancel", "--quiet", f"--name={name}"], 15)
        why = f"its software could not be asked for; that needs one core that is free within {WAIT} s ({error})"
        raise type(error)(why) from error
    return _read(said, len(scripts))


def _words(name: str, python: str, options: Options) -> list[str]:
    return [
        "srun", f"--job-name={name}", "--nodes=1", "--ntasks=1", "--cpus-per-task=1", f"--mem={MEMORY}", f"--time={MINUTES}",
        f"--immediate={WAIT}", "--quiet", "--mpi=none", "--chdir=/",
        *(f"--{key}={value}" for key in ASKED if (value := getattr(options, key))), python, "-I", "-S", "-c", START,
    ]  # fmt: skip


def _read(said: str, count: int) -> list[str]:
    """The last line: a prolog of the site may print before it."""
    try:
        answers = json.loads(said.strip().rpartition("\n")[2])
        if isinstance(answers, list) and len(answers) == count:
            return [str(one) for one in answers]
    except ValueError:
        pass
    raise TryAgain("the node that was asked for its software did not answer as expected")
