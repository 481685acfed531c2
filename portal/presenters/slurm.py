"""The page of a Slurm cluster: what a look has found, and the stages of a trial job."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from jobs import surveying
from jobs.models import Request

from .stages import LOOKS, Kind
from .text import plural

LABELS = {"asked": "Asked for", "waits": "Waits in Slurm", "runs": "Runs on a node", "over": "Judged"}
ICONS = {"asked": "send", "waits": "hourglass-empty", "runs": "player-play", "over": "flag"}


@dataclass(frozen=True)
class Stage:
    """A row of the list of stages, as stages.css shows it."""

    label: str
    word: str
    tone: str
    icon: str
    look: str
    says: str
    current: bool = False
    begun: datetime | None = None
    ended: datetime | None = None


@dataclass(frozen=True)
class Page:
    """`look` is the last one, done or not; `found` what the last one that is done has found."""

    name: str
    names: list[str]
    about: str
    look: Request | None
    looking: bool
    found: dict[str, Any]
    found_by: Request | None
    figures: list[tuple[str, str]]
    trial: Request | None
    stages: list[Stage] = field(default_factory=list)


def page(name: str) -> Page:
    names = surveying.names()
    looks = Request.objects.filter(kind=Request.Kind.LOOK, backend=name).select_related("by")
    last, done = looks.first(), looks.filter(done__isnull=False).first()
    trial = Request.objects.filter(kind=Request.Kind.TRIAL, backend=name).select_related("by").first()
    found = done.details if done else {}
    looking = last is not None and last.done is None
    stages = stages_of(trial) if trial else []
    return Page(name, names, surveying.about(name), last, looking, found, done, _figures(found), trial, stages)


def stages_of(trial: Request) -> list[Stage]:
    """Where a trial stands, in the order of its way."""
    at = trial.details.get("stage", "asked")
    good = trial.details.get("good")
    broke = trial.details.get("ended_in") or "asked" if at == "over" and good is False else ""
    return [_stage(trial, code, at, broke) for code in surveying.STAGES]


def _stage(trial: Request, code: str, at: str, broke: str) -> Stage:
    kind = _kind(code, at, broke)
    word, tone, icon, look = LOOKS[kind]
    begun, ended = _times(trial, code)
    says = _says(trial, code, kind)
    return Stage(LABELS[code], word, tone, icon or ICONS[code], look, says, code == (broke or at) and not _passed(at, broke), begun, ended)


def _passed(at: str, broke: str) -> bool:
    return at == "over" and not broke


def _kind(code: str, at: str, broke: str) -> Kind:
    order = surveying.STAGES.index
    if code == broke:
        return Kind.FAILED
    if broke:
        return Kind.PASSED if order(code) < order(broke) else Kind.SKIPPED
    if at == "over" or order(code) < order(at):
        return Kind.PASSED
    if code == at:
        return Kind.WAITING if code == "waits" else Kind.WORKING
    return Kind.NEXT


def _says(trial: Request, code: str, kind: Kind) -> str:
    why = trial.details.get("why") or trial.answer
    if kind in (Kind.FAILED, Kind.WAITING) or (code == "over" and kind is Kind.PASSED):
        return why
    if kind is Kind.WORKING:
        return trial.answer or "The engine takes it up within seconds."
    return ""


def _times(trial: Request, code: str) -> tuple[datetime | None, datetime | None]:
    since = trial.details.get("since", {})
    begun = trial.made.timestamp() if code == "asked" else since.get(code)
    later = [since[one] for one in surveying.STAGES[surveying.STAGES.index(code) + 1 :] if one in since]
    if begun is None or code == "over":
        return None, None
    return _moment(begun), _moment(later[0]) if later else trial.done


def _moment(stamp: float) -> datetime:
    return datetime.fromtimestamp(stamp, UTC)


def _figures(found: dict[str, Any]) -> list[tuple[str, str]]:
    if not found:
        return []
    kinds = found["kinds"]
    nodes, cores = sum(kind["nodes"] for kind in kinds), sum(kind["nodes"] * kind["cores"] for kind in kinds)
    accounting = {True: "kept", False: "none", None: "not known"}[found["accounting"]]
    partitions = len({kind["partition"] for kind in kinds})
    return [
        ("Version", found["version"].rpartition(" ")[2] or "not known"),
        ("Cluster", found["cluster"] or "not known"),
        ("Nodes", f"{plural(nodes, 'node')}, {plural(cores, 'core')} in {plural(partitions, 'partition')}" if nodes else "not known"),
        ("Accounting", accounting),
    ]
