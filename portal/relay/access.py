"""Who may use a workstation, and how far: its owner acts; leads of its project, admins and bearers of a shared link look.

Looking is announced: the owner's page names who is connected. What a session was let in with is asked for again while it
lasts, so a sign-out, a lost lead or a revoked link ends what is open.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jobs import tokens
from jobs.models import Installation, Share, Workload

ACT, LOOK = "act", "look"


@dataclass(frozen=True)
class Way:
    """A way in: how far it goes, and how the page names who uses it."""

    public_id: str
    attempt: int
    mode: str
    viewer: str

    @property
    def acts(self) -> bool:
        return self.mode == ACT


def workload_of(name: str) -> Workload | None:
    """The workstation behind a name of ours."""
    installation, _, rest = name.partition("-")
    kind, _, public = rest.partition("-")
    if kind != Workload.Kind.WORKSTATION or installation != Installation.code_of_this():
        return None
    rows = Workload.objects.select_related("owner", "project", "workstation")
    return rows.filter(public_id=public, kind=Workload.Kind.WORKSTATION).first()


def of_user(name: str, user: Any) -> Way | None:
    """The way of somebody who is signed in; None for strangers, and for members who only see the page."""
    work = workload_of(name)
    if work is None or not user.is_authenticated:
        return None
    mode = {"input": ACT, "look": LOOK}.get(work.workstation.access(user))
    return _way(work, mode, str(user)) if mode else None


def of_share(name: str, secret: str, user: Any, now: datetime) -> Way | None:
    """The way of a shared link: to look, until it expires or is revoked; for anybody, or for who is signed in."""
    work = workload_of(name)
    if work is None or not secret:
        return None
    share = Share.valid(now).filter(workstation__workload=work, token_hash=tokens.hash_of(secret)).first()
    if share is None or (share.signed_in and not user.is_authenticated):
        return None
    return _way(work, LOOK, f"{user} by a shared link" if user.is_authenticated else "somebody with a shared link")


def _way(work: Workload, mode: str, viewer: str) -> Way:
    return Way(work.public_id, work.attempt, mode, viewer)
