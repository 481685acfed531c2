"""An admin's look at a Slurm cluster, and a trial job there: requests that the engine carries out.

One idea: whatever comes of it is put down on the request in words, so that a page that calls nobody can show it, and a trial
has a token like any cluster, which the reconciler knows.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings

from . import backends
from .backends.slurm import Slurm
from .models import Account, Installation, Request
from .models.installation import public_id

HOLD = 30.0
"""Seconds that one worker has a look or a trial for itself."""
PATIENCE = timedelta(minutes=20)
"""How long a trial may wait and run before it is given up."""
WALLTIME = 300
STAGES = ("asked", "waits", "runs", "over")


def names() -> list[str]:
    """Backends in the settings that are Slurm clusters."""
    return [name for name, entry in settings.BACKENDS.items() if entry["BACKEND"].rpartition(".")[2] == Slurm.__name__]


def about(name: str) -> str:
    """One line; what is wrong with its settings, if something is."""
    try:
        return backends.get(name).about()
    except backends.Refused as error:
        return str(error)


def ask_look(name: str, by: Any) -> Request:
    return Request.look(Request.Kind.LOOK, name, by)


def ask_trial(name: str, by: Any, now: datetime, *, cores: int, memory: int, options: dict[str, Any], title: str) -> Request:
    """`memory` in bytes; `title` is what people call the hardware."""
    token = f"{Installation.code_of_this()}-trial-{public_id()}-1"
    wanted = {"token": token, "cores": cores, "memory": memory, "options": options, "title": title}
    return Request.look(Request.Kind.TRIAL, name, by, now + PATIENCE, **wanted)


def trials_of(tokens: set[str]) -> dict[str, datetime | None]:
    """When trials of these tokens were done, None: not yet. Clusters' tokens are none of them."""
    if not any("-trial-" in token for token in tokens):
        return {}
    rows = Request.objects.filter(kind=Request.Kind.TRIAL).order_by("pk").values_list("details__token", "done")
    return {token: done for token, done in rows if token in tokens}


def look(request: Request, now: datetime) -> tuple[bool, str]:
    """Asks the cluster everything at once."""
    request.details = _slurm(request.backend).survey()
    troubles = request.details["troubles"]
    return True, troubles[0] if troubles else f"{len(request.details['kinds'])} kinds of nodes were found."


def trial(request: Request, now: datetime) -> tuple[bool, str]:
    """One step of a trial: submit, look, clear away."""
    backend, details = _slurm(request.backend), request.details
    if "stage" not in details:
        return _submitted(request, backend, now)
    if details["stage"] != "over":
        found = backend.tried(details["token"])
        _note(details, found.stage, found.why, now)
        details["good"] = found.good
    if details["stage"] != "over" and request.until and now >= request.until:
        _note(details, "over", f"Given up. {details['why']}".strip(), now)
        details["good"] = False
    if details["stage"] != "over":
        return False, details["why"]
    return backend.destroy(details["token"]), details["why"]


def refused(request: Request, why: str, now: datetime) -> None:
    """The request ends here: a trial has failed, with the stage that it was in."""
    if request.kind == Request.Kind.TRIAL:
        _note(request.details, "over", why, now)
        request.details["good"] = False


def _submitted(request: Request, backend: Slurm, now: datetime) -> tuple[bool, str]:
    details = request.details
    if request.until and now >= request.until:  # perhaps an sbatch that nobody heard: its token is looked for, then given up
        backend.destroy(details["token"])
        refused(request, f"Given up. {request.answer}".strip(), now)
        return True, details["why"]
    entry = settings.BACKENDS[request.backend]
    spec = backends.Spec(
        coretype="trial", nodes=1, cores=details["cores"], memory=details["memory"], walltime=WALLTIME, secret="", agent="",
        portal=entry.get("PORTAL") or settings.AGENT_URL, ca=entry.get("CA"), options=details["options"],
        account=Account.of(request.by_id) if request.by_id else "",
    )  # fmt: skip
    backend.trial(details["token"], spec)
    _note(details, "asked", "", now)
    return False, "Slurm has taken the job."


def _note(details: dict[str, Any], stage: str, why: str, now: datetime) -> None:
    """Where it is, since when, and which stage it was in before it was over."""
    before = details.get("stage", "")
    if stage != before:
        details.setdefault("since", {})[stage] = now.timestamp()
        if stage == "over":
            details["ended_in"] = before
    details["stage"], details["why"] = stage, why


def _slurm(name: str) -> Slurm:
    backend = backends.get(name)
    if not isinstance(backend, Slurm):
        raise backends.Refused(f"{name} is no Slurm cluster")
    return backend
