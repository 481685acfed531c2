"""The head of every page of a workstation: the sentence that changes, facts, what one may do, tabs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from jobs import lifecycle, refusing
from jobs.lifecycle import Tone, Wish
from portal import words

from ..head import Tab
from ..text import clock_of, plural, who
from ..values import Badge, Part, bold
from . import says
from .cost import hourly, left, spent_today, suspended_rate
from .facts import WorkstationFacts

TABS = (
    ("status", "Session", "workstation"),
    ("files", "Files", "workstation-files"),
    ("health", "Health", "workstation-health"),
    ("timeline", "Timeline", "workstation-timeline"),
    ("settings", "Settings", "workstation-settings"),
)
Clauses = list[list[Part]]


@dataclass(frozen=True)
class Actions:
    """What this user may do now. `*_why`: it is shown, greyed, with the reason why not."""

    start: bool = False
    suspend: bool = False
    suspend_why: str = ""
    resume: bool = False
    resume_why: str = ""
    end: str = ""  # "stop", "force", or nothing to end
    share: bool = False
    clone: bool = False
    delete: bool = False


def badges(facts: WorkstationFacts) -> list[Badge]:
    row = facts.work.row
    icon = "device-desktop" if row.code == lifecycle.ACTIVE else row.icon
    return [Badge(row.label, row.tone, icon)]


def headline(facts: WorkstationFacts) -> Clauses:
    """The sentence under the name: clauses of parts, separated by dots."""
    speak: dict[str, Callable[[WorkstationFacts], Clauses]] = {
        lifecycle.DRAFT: _draft,
        lifecycle.QUEUED: _queued,
        lifecycle.VALIDATING: _coming,
        lifecycle.STARTING: _coming,
        lifecycle.ACTIVE: _active,
        lifecycle.SUSPENDING: _going,
        lifecycle.SUSPENDED: _suspended,
        lifecycle.STOPPING: _going,
        lifecycle.FAILED: _over,
        lifecycle.STOPPED: _over,
    }
    return [clause for clause in speak[facts.work.status](facts) if clause]


def facts_line(facts: WorkstationFacts) -> list[Part]:
    work = facts.work
    cores = plural(work.cores, "core")
    parts = [Part(str(facts.kind)), Part(f"{work.coretype} 1 \u00d7 {cores}")]
    if work.project:
        parts.append(Part(f"project {work.project}"))
    parts.append(Part(who(work.owner)))
    parts.append(Part(f"home {words.size(facts.home.size)}" if facts.home else f"home up to {words.size(facts.kind.home_limit)}"))
    if work.ended:
        parts.append(Part("ended", when=work.ended))
    return parts


def actions(facts: WorkstationFacts, user: Any) -> Actions:
    """What `user` may do with it now."""
    work, station = facts.work, facts.station
    if not work.may_change(user):
        return Actions()
    over, draft = facts.is_over, work.status == lifecycle.DRAFT
    lives = not over and not draft
    why_not = "" if not lives or work.status == lifecycle.SUSPENDED else refusing.suspend(work.status, work.wish, facts.home is not None)
    resume_why = station.can_resume if work.status == lifecycle.SUSPENDED else ""
    return Actions(
        start=draft,
        suspend=lives and work.status != lifecycle.SUSPENDED and not why_not,
        suspend_why=why_not,
        resume=work.status == lifecycle.SUSPENDED and not resume_why,
        resume_why=resume_why,
        end=_end(facts) if lives else "",
        share=lives and facts.kind.session != "jupyter",
        clone=over,
        delete=over or draft,
    )


def tabs(facts: WorkstationFacts, page: str) -> list[Tab]:
    count = {"files": str(len(facts.copies)) if facts.copies else ""}
    word = {"status": {"desktop": "Desktop", "terminal": "Terminal", "jupyter": "JupyterLab"}[facts.kind.session]}
    return [
        Tab(word.get(code, name), reverse(view, args=[facts.work.public_id]), code == page, count.get(code, ""))
        for code, name, view in TABS
    ]


@dataclass(frozen=True)
class Ended:
    """Why it failed or is suspended through no wish of anybody, and what to do."""

    tone: str
    title: str
    text: str
    more: str
    advice: str


def ended(facts: WorkstationFacts) -> Ended | None:
    """None where nobody needs to be told: it lives, or somebody wanted it so."""
    work = facts.work
    sentence, detail = says.why(facts)
    if work.status == lifecycle.FAILED and sentence:
        stage = work.table[work.failed_stage].label if work.failed_stage in work.table else ""
        advice = lifecycle.ENDINGS[work.reason].advice if work.reason in lifecycle.ENDINGS else ""
        return Ended(Tone.FAIL, f"Failed in {stage}" if stage else "Failed", sentence, detail, advice)
    if work.status == lifecycle.SUSPENDED and sentence and work.reason not in ("wish", ""):
        copy = f"Its home is that of {words.exact(facts.home.whole)}." if facts.home and facts.home.whole else ""
        tone = Tone.WAIT if work.reason == "idle" else Tone.LOOK
        return Ended(tone, "Suspended by itself", sentence, detail, copy)
    return None


# --- private: the headline of each status -----------------------------------------------------------------------------
def _draft(facts: WorkstationFacts) -> Clauses:
    return [[Part("Not started yet; nothing is spent")]]


def _queued(facts: WorkstationFacts) -> Clauses:
    if facts.wants_rest:
        return [[Part("Leaving the queue; nothing has started")]]
    waiting = [Part("Waiting"), Part(since=facts.work.since)]
    if facts.holding:
        waiting.append(Part(f"\u2013 {facts.holding.sentence}"))
    earliest, _ = facts.expected_start
    expected = [Part("expected to start"), bold(clock_of(earliest, facts.now))] if earliest else []
    return [waiting, expected, _today(facts)]


def _coming(facts: WorkstationFacts) -> Clauses:
    verb = "Resuming" if facts.home else "Starting"
    return [[Part(verb if not facts.wants_rest else "Stopping"), Part(since=facts.work.since)], _today(facts), _budget(facts)]


def _active(facts: WorkstationFacts) -> Clauses:
    return [*_idle(facts), _today(facts), _budget(facts)]


def _idle(facts: WorkstationFacts) -> Clauses:
    said, since = facts.verdict, facts.idle_since
    if since and said and said.suspends_at:
        return [
            [Part("Idle since"), bold(clock_of(since, facts.now))],
            [Part("suspends itself"), Part(when=said.suspends_at)],
        ]
    kept = [Part("kept on until"), bold(clock_of(facts.kept_until, facts.now))] if facts.kept_until else []
    return [[Part(since=facts.ready or facts.work.since), Part("active")], kept]


def _going(facts: WorkstationFacts) -> Clauses:
    verb = "Suspending" if facts.work.status == lifecycle.SUSPENDING else "Ending"
    return [[Part(verb), Part(since=facts.work.since)], [Part(says.saving(facts))], _today(facts)]


def _suspended(facts: WorkstationFacts) -> Clauses:
    if facts.wants_rest and facts.work.wish in (Wish.STOP, Wish.FORCE_STOP):
        return [[Part("Ending; its home is kept")]]
    return [
        [Part("Suspended"), Part(when=facts.work.since)],
        [Part("only its disk is charged:"), bold(f"{hourly(suspended_rate(facts))} an hour")],
        _today(facts),
        _budget(facts),
    ]


def _over(facts: WorkstationFacts) -> Clauses:
    work = facts.work
    sentence, detail = says.why(facts)
    by = f"Ended by {who(work.wished_by)}" if work.status == lifecycle.STOPPED and work.wished_by else sentence.rstrip(".")
    kept = f"the last copy of its home is kept, {words.size(facts.home.size)}" if facts.home else "no copy of its home"
    return [[bold(by)], [Part(detail.rstrip("."))] if detail else [], [Part(kept)]]


def _today(facts: WorkstationFacts) -> list[Part]:
    amount = spent_today(facts)
    return [bold(words.money(amount)), Part("spent today")] if amount else [Part("nothing spent today")]


def _budget(facts: WorkstationFacts) -> list[Part]:
    rest = left(facts)
    return [Part("budget left"), bold(words.money(rest))] if rest is not None else []


def _end(facts: WorkstationFacts) -> str:
    work = facts.work
    if not refusing.stop(work.status, work.wish, False):
        return "stop"
    return "force" if not refusing.stop(work.status, work.wish, True) and facts.cluster else ""
