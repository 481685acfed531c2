"""What Slurm says of our jobs: rows of squeue, and of sacct for what squeue has forgotten.

The one idea: one call answers for all jobs of our user, read by field and not as JSON, which in Slurm 22.05 is always
that of all users of the cluster and has had three shapes since. An answer without its header line is no answer.
"""

from __future__ import annotations

import os
import pwd
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from .base import Refused, TryAgain
from .slurm_accounts import Accounts
from .slurm_call import Commands, Shared
from .slurm_marks import Marks

FIELDS = {
    "JobID": 20, "Name": 110, "State": 30, "exit_code": 20, "RestartCnt": 10, "NumNodes": 10, "Partition": 60, "StartTime": 30,
    "EndTime": 30, "UserID": 20, "Comment": 140, "Reason": 200,
}  # fmt: skip
"""Of squeue, with the longest that is wanted of each."""
NAME = re.compile(r"[A-Za-z0-9]+-[a-z]+-[A-Za-z0-9]+-[0-9]+")
"""What a token of any portal looks like; other jobs of our user are none of our business."""
BACK = "now-30days"
"""How far back accounting is searched."""

Ours = Callable[[str, str, str], bool]
"""Of a token, a uid and a comment."""

_UID = list(FIELDS).index("UserID")
_NO_ACCOUNTS_FOR = 600.0
_AT_ONCE = 300


@dataclass(frozen=True)
class Job:
    """A job as Slurm tells it. `start` is when it started or is expected to, `end` when it ended or is to by its time limit;
    `detail` is what follows the name of a state."""

    number: str
    state: str
    exit: int = 0
    signal: int = 0
    restarts: int = 0
    nodes: int = 1
    partition: str = ""
    start: datetime | None = None
    reason: str = ""
    detail: str = ""
    end: datetime | None = None
    uid: str = ""


class Queue:
    """Our jobs. `timeout` is that of one call, in seconds; `accounts` tells which are ours."""

    def __init__(self, commands: Commands, timeout: float, accounts: Accounts, owned: Marks) -> None:
        self._commands, self._timeout, self._accounts, self._owned = commands, timeout, accounts, owned
        self._shared = Shared(self._read)
        self._no_accounts_until = 0.0

    def jobs(self) -> Mapping[str, Sequence[Job]]:
        """By token, those that are over and not yet forgotten too. TryAgain or Refused where it could not be asked."""
        return self._shared.fresh()

    def accounted(self, tokens: Iterable[str]) -> Mapping[str, Job]:
        """What accounting knows of these; nothing where the cluster has no accounting. TryAgain if it does not answer."""
        found: dict[str, Job] = {}
        wanted = sorted(token for token in tokens if NAME.fullmatch(token))
        for begin in range(0, len(wanted), _AT_ONCE):
            if time.monotonic() >= self._no_accounts_until:
                found |= self._ask_accounts(wanted[begin : begin + _AT_ONCE])
        return found

    def _read(self) -> Mapping[str, Sequence[Job]]:
        columns = ",".join(f"{name}:{size}|" for name, size in FIELDS.items())
        whose = [] if self._accounts.mode else [f"--user={os.geteuid()}"]
        words = ["squeue", *whose, "--states=all", "--array", f"--Format={columns}"]
        return parse(self._commands.run(words, self._timeout), self._accounts.ours)

    def _ask_accounts(self, tokens: Sequence[str]) -> Mapping[str, Job]:
        columns = "--format=JobID,JobName,State,ExitCode,UID,End,Comment"
        whose = "--allusers" if self._accounts.mode else f"--uid={os.geteuid()}"
        words = ["sacct", "-n", "-P", "-X", whose, f"--starttime={BACK}", f"--name={','.join(tokens)}", columns]
        try:
            return parse_accounts(self._commands.run(words, self._timeout), self._ours)
        except (TryAgain, Refused) as error:
            if "disabled" not in str(error) and "no sacct" not in str(error):
                raise
        self._no_accounts_until = time.monotonic() + _NO_ACCOUNTS_FOR
        return {}

    def _ours(self, token: str, uid: str, comment: str) -> bool:
        """Few clusters keep comments in their accounting; what was submitted from here is known by a mark."""
        return self._accounts.ours(token, uid, comment) or self._owned.has(f"{token}.{uid}")


def parse(text: str, ours: Ours) -> Mapping[str, Sequence[Job]]:
    """squeue's answer, by token: of the jobs that are `ours`. TryAgain if it is none."""
    header, *lines = text.splitlines() or [""]
    if not header.upper().startswith("JOBID"):
        raise TryAgain("squeue printed nothing")
    found: dict[str, list[Job]] = defaultdict(list)
    for line in lines:
        cells = [cell.strip() for cell in line.split("|", len(FIELDS) - 1)]
        if len(cells) == len(FIELDS) and NAME.fullmatch(cells[1]) and ours(cells[1], cells[_UID], cells[_UID + 1]):
            found[cells[1]].append(_job(cells))
    return found


def parse_accounts(text: str, ours: Ours) -> Mapping[str, Job]:
    """sacct's answer, by token; of several jobs the last. A comment is there only where the cluster keeps comments."""
    found: dict[str, Job] = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) == 7 and ours(cells[1], cells[4], cells[6]):
            state, _, detail = cells[2].partition(" ")
            code, number = _exit(cells[3])
            found[cells[1]] = Job(cells[0], state, code, number, detail=detail, end=_time(cells[5]), uid=cells[4])
    return found


def name_of(uid: str) -> str:
    """Of a user of this machine, or the number."""
    try:
        return pwd.getpwuid(int(uid)).pw_name
    except (KeyError, ValueError):
        return uid


def _job(cells: Sequence[str]) -> Job:
    number, _, state, ended, restarts, nodes, partition, start, end, uid, _, reason = cells
    code, killed = _exit(ended)
    count = int(first) if (first := nodes.partition("-")[0]).isdigit() else 1  # "4" or, of what waits, "4-4"
    again = int(restarts) if restarts.isdigit() else 0
    why = reason.rstrip("|").strip()
    return Job(number, state, code, killed, again, count, partition, _time(start), why, end=_time(end), uid=uid)


def _exit(text: str) -> tuple[int, int]:
    """Code and signal of "3:0" as sacct has it, or of the status of wait(2) as a plain number, as squeue has it."""
    code, colon, number = text.partition(":")
    if not colon:
        status = int(code) if code.isdigit() else 0
        return status >> 8 & 255, status & 127
    return int(code) if code.isdigit() else 0, int(number) if number.isdigit() else 0


def _time(text: str) -> datetime | None:
    """Seconds since 1970 or, where Slurm does not heed the format asked for, ISO in UTC."""
    if not text[:1].isdigit():  # N/A, Unknown
        return None
    try:
        if text.isdigit():
            return datetime.fromtimestamp(int(text), UTC)
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    except (ValueError, OverflowError, OSError):
        return None
