"""Small values that templates show: a toned word, a part of a sentence, a question before something goes."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from jobs.lifecycle import Tone
from jobs.models import Job
from jobs.verdicts.base import Label


@dataclass(frozen=True)
class Badge:
    """What the tag `badge` shows."""

    label: str
    tone: str
    icon: str


@dataclass(frozen=True)
class Part:
    """A piece of a sentence: words, or a time that the browser keeps running, or a moment."""

    text: str = ""
    strong: bool = False
    since: datetime | None = None
    until: datetime | None = None
    when: datetime | None = None


def bold(text: str) -> Part:
    return Part(text, strong=True)


@dataclass(frozen=True)
class Row:
    """A term and its description, with a second, smaller line."""

    term: str
    text: str = ""
    more: str = ""
    at: datetime | None = None
    href: str = ""
    mono: bool = False


@dataclass(frozen=True)
class Question:
    """What _dialog.html asks before something goes."""

    title: str
    word: str
    action: str
    back: str
    text: str = ""
    icon: str = "alert-triangle"
    tone: str = ""
    keep: str = "Keep"
    loses: list[tuple[str, str]] = field(default_factory=list)
    fields: list[tuple[str, str]] = field(default_factory=list)


VERDICTS = {
    Label.CONVERGED: Badge("Converged", Tone.PASS, "target-arrow"),
    Label.FINISHED: Badge("Finished", Tone.PASS, "flag"),
    Label.NOT_CONVERGED: Badge("Not converged", Tone.LOOK, "progress-alert"),
    Label.DIVERGED: Badge("Diverged", Tone.FAIL, "trending-up"),
    Label.INCOMPLETE: Badge("Ended early", Tone.LOOK, "progress-alert"),
    Label.UNKNOWN: Badge("Not judged", Tone.WAIT, "help-circle"),
}


def verdict_badge(job: Job) -> Badge | None:
    """The verdict as a badge; None before there is one."""
    badge = VERDICTS.get(job.verdict)  # type: ignore[call-overload]
    at = job.verdict_detail.get("at") if badge else None
    if badge and at and job.verdict == Label.DIVERGED:
        return Badge(f"Diverged at {at}", badge.tone, badge.icon)
    return badge
