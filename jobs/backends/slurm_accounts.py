"""Whose account a Slurm job runs under: the portal's own, or by sudo the engineer's.

The one idea: anybody on a cluster may give a job the name of a token. A job is ours if Slurm says that it belongs to our
user, or if its comment carries a seal over token and account, made with a key that only the portal has.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import pwd
import re
from collections.abc import Sequence

from .base import Refused

MODES = ("", "mapped", "only")
"""Option `accounts`: all jobs as the portal's user; of people with an account as that; none without an account."""
NAME = re.compile(r"[a-z_][a-z0-9_-]{0,31}")
NO_RULE = (
    "a password is required", "not allowed to execute", "not in the sudoers", "may not run sudo", "must have a tty", "unknown user",
    "no such user",
)  # fmt: skip
"""What sudo says where its rule is missing."""


class Accounts:
    """`key` seals comments, `lowest` is the lowest uid that jobs may run under."""

    def __init__(self, mode: str, key: str, lowest: int = 1000) -> None:
        if mode not in MODES:
            raise Refused(f"option accounts is one of {', '.join(map(repr, MODES))}")
        if mode and not key:
            raise Refused("option accounts needs the option key")
        self.mode, self._key, self._lowest = mode, key.encode(), max(1, int(lowest))

    def of(self, wanted: str) -> str:
        """The account to submit as; "" is the portal's own. Refused: nobody else's is taken instead."""
        if not self.mode:
            return ""
        if not wanted:
            if self.mode == "only":
                raise Refused("jobs run here under their owner's own account, and this person has none; an admin maps accounts")
            return ""
        uid = self._uid(wanted)
        return "" if uid == os.geteuid() else wanted

    def comment(self, token: str, account: str) -> str:
        """What a job carries beside its name."""
        return f"{token} {self._seal(token, str(self._uid(account)))}" if account else token

    def named(self, token: str, account: str) -> str:
        """What the mark of a submitted job is called."""
        return f"{token}.{self._uid(account)}"

    def ours(self, token: str, uid: str, comment: str) -> bool:
        """Whether a job of this name, user and comment was submitted by this portal."""
        if uid == str(os.geteuid()):
            return True
        return bool(self.mode) and hmac.compare_digest(comment.encode(), f"{token} {self._seal(token, uid)}".encode())

    def _uid(self, account: str) -> int:
        if not NAME.fullmatch(account):
            raise Refused(f"{account!r} is no name of an account")
        try:
            uid = pwd.getpwnam(account).pw_uid
        except KeyError:
            raise Refused(f"there is no account {account} on this machine") from None
        if uid < self._lowest:
            raise Refused(f"{account} is an account of the system; jobs never run as that")
        return uid

    def _seal(self, token: str, uid: str) -> str:
        return hmac.new(self._key, f"slurm:{token}:{uid}".encode(), hashlib.sha256).hexdigest()[:20]


def behind_sudo(account: str, program: str, words: Sequence[str], config: str) -> list[str]:
    """The command line for that account: `program` is the absolute path that sudo's rule names. A variable needs its SETENV."""
    return ["sudo", "-n", "-u", account, *([f"SLURM_CONF={config}"] if config else []), program, *words]


def sudo_trouble(complaint: str, account: str) -> str:
    """What sudo complains of, in words; "" if it is not sudo that does."""
    if not any(sign in complaint.lower() for sign in NO_RULE):
        return ""
    said = complaint.strip().splitlines()[-1][:200]
    return f"sudo does not let this portal act as {account} (the README has its rule): {said}"
