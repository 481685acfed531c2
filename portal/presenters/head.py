"""The head of every page of a job: badges, the sentence that changes, facts, actions and tabs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from jobs import lifecycle
from jobs.lifecycle import Wish
from portal import words

from . import course, endings
from .facts import Facts
from .sentences import saved_of
from .text import clock_of, cut, hardware, plural, who
from .values import Badge, Part, bold, verdict_badge

TABS = (
    ("status", "Status", "job"),
    ("output", "Live output", "job-output"),
    ("files", "Files", "job-files"),
    ("health", "Health", "job-health"),
    ("timeline", "Timeline", "job-timeline"),
    ("settings", "Settings", "job-settings"),
)


@dataclass(frozen=True)
class Tab:
    word: str
    href: str
    current: bool
    count: str = ""


@dataclass(frozen=True)
class Actions:
    """What this user may do now; None or False where it is not offered."""

    stop: str = ""  # "stop", "force", or nothing to stop
    submit: bool = False
    clone: bool = True
    again: bool = False
    download: str = ""
    archive: str = ""  # "archive", "unarchive"
    delete: bool = False


def badges(facts: Facts) -> list[Badge]:
    """The status, and the verdict where there is one."""
    row = facts.work.row
    found = [Badge(row.label, row.tone, row.icon)]
    verdict = verdict_badge(facts.job)
    return [*found, verdict] if verdict else found


def headline(facts: Facts) -> list[list[Part]]:
    """The sentence under the name: clauses of parts, separated by dots."""
    speak: dict[str, Callable[[Facts], list[list[Part]]]] = {
        lifecycle.DRAFT: _draft,
        lifecycle.QUEUED: _queued,
        lifecycle.VALIDATING: _working,
        lifecycle.STARTING: _working,
        lifecycle.RUNNING: _running,
        lifecycle.STOPPING: _stopping,
        lifecycle.COMPLETED: _completed,
        lifecycle.FAILED: _failed,
        lifecycle.STOPPED: _stopped,
    }
    return [clause for clause in speak[facts.work.status](facts) if clause]


def facts_line(facts: Facts) -> list[Part]:
    """Software, hardware, project, owner, when, attempt."""
    work = facts.work
    parts = [Part(str(facts.job.software)), Part(hardware(work))]
    if work.project:
        parts.append(Part(f"project {work.project}"))
    parts.append(Part(who(work.owner)))
    if work.ended:
        parts.append(Part("ended", when=work.ended))
    elif work.submitted:
        parts.append(Part("submitted", when=work.submitted))
    if work.submitted:
        parts.append(Part(f"attempt {work.attempt}"))
    return parts


def actions(facts: Facts, user: Any) -> Actions:
    """What `user` may do with the job now."""
    work = facts.work
    if not work.may_change(user):
        return Actions(download=_download(facts))
    over = facts.is_over
    return Actions(
        stop=_stop(facts),
        submit=work.status == lifecycle.DRAFT,
        again=over,
        download=_download(facts),
        archive=("unarchive" if work.archived else "archive") if over else "",
        delete=over or work.status == lifecycle.DRAFT,
    )


def tabs(facts: Facts, page: str) -> list[Tab]:
    words_of = {"output": "Live output" if not facts.is_over else "Output"}
    count = {"files": _file_count(facts)}
    return [
        Tab(
            words_of.get(code, word),
            reverse(view, args=[facts.work.public_id]),
            code == ("files" if page == "file" else page),
            count.get(code, ""),
        )
        for code, word, view in TABS
    ]


# --- private: the headline of each status -----------------------------------------------------------------------------
def _draft(facts: Facts) -> list[list[Part]]:
    return [[Part("Not submitted yet; nothing is spent")]]


def _queued(facts: Facts) -> list[list[Part]]:
    waiting = [Part("Waiting"), Part(since=facts.work.since)]
    if facts.wants_stop:
        return [[Part("Stopping; nothing has started")], _spent(facts)]
    gate = facts.holding
    if gate:
        waiting.append(Part(f"\u2013 {gate.sentence}"))
    earliest, latest = facts.expected_start
    expected = []
    if earliest:
        text = clock_of(earliest, facts.now)
        if latest and clock_of(latest, facts.now) != text:
            text = f"{text}\u2013{clock_of(latest, facts.now)}"
        expected = [Part("expected to start"), bold(text)]
    return [waiting, expected, _spent(facts)]


def _working(facts: Facts) -> list[list[Part]]:
    verb = "Checking" if facts.work.status == lifecycle.VALIDATING else "Starting"
    if facts.wants_stop:
        verb = "Stopping"
    up = []
    if facts.cluster and facts.work.status == lifecycle.STARTING:
        up = [
            bold(f"{len(facts.nodes)} of {facts.cluster.nodes_wanted}"),
            Part("node up" if facts.cluster.nodes_wanted == 1 else "nodes up"),
        ]
    return [[Part(verb), Part(since=facts.work.since)], up, _spent(facts)]


def _running(facts: Facts) -> list[list[Part]]:
    if facts.wants_stop:
        return [[Part("Stopping: the command is being told to end")], _spent(facts)]
    ran = facts.ran
    running = [Part(since=ran[0] if ran else facts.work.since), Part("running")]
    end, pace = facts.cost.projected_end, course.pace(facts)
    if pace and not pace.late:
        soon = [Part("at this pace ends"), bold(clock_of(pace.end, facts.now)), Part("for"), bold(words.money(pace.cost))]
        return [running, _spent(facts), soon, _left(facts)]
    latest = [Part("ends at the latest"), bold(clock_of(end, facts.now)), Part("for"), bold(words.money(facts.cost.at_most))] if end else []
    return [running, _spent(facts), latest, _left(facts)]


def _stopping(facts: Facts) -> list[list[Part]]:
    verb = "Stopping" if facts.wants_stop else "Saving outputs"
    saved, total = saved_of(facts)
    files = [bold(f"{words.count(saved)} of {words.count(total)}"), Part("files saved")] if total else []
    if saved and not total:
        files = [bold(words.count(saved)), Part("files saved so far")]
    if facts.work.wish == Wish.FORCE_STOP:
        files = [Part("what is not saved yet is given up")]
    return [[Part(verb), Part(since=facts.work.since)], files, _spent(facts)]


def _completed(facts: Facts) -> list[list[Part]]:
    return [_ran(facts, "Ran"), _spent(facts), [Part(endings.short(facts))], _outputs(facts)]


def _failed(facts: Facts) -> list[list[Part]]:
    sentence, _ = endings.explained(facts)
    ran = facts.ran
    after = [Part("after"), Part(since=ran[0], until=ran[1])] if ran and ran[1] else []
    return [[bold(sentence.rstrip(".")), *after], _spent(facts), _outputs(facts)]


def _stopped(facts: Facts) -> list[list[Part]]:
    work = facts.work
    by = f"Stopped by {who(work.wished_by)}" if work.wished_by else "Stopped"
    if work.reason == "force-stopped":
        by = by.replace("Stopped", "Force stopped")
    if work.reason == "stopped-by-rule":
        by = f"Stopped by the rule that was set for it: {cut(work.detail).rstrip('.')}"
    ran = facts.ran
    after = [Part("after"), Part(since=ran[0], until=ran[1])] if ran and ran[1] else [Part("before its command started")]
    return [[bold(by), *after], _spent(facts), _outputs(facts)]


def _spent(facts: Facts) -> list[Part]:
    return [bold(words.money(facts.cost.spent)), Part("spent")] if facts.cost.spent else [Part("nothing spent")]


def _left(facts: Facts) -> list[Part]:
    lefts = [budget.left for budget in facts.budgets if budget.active and budget.unit == "money"]
    return [Part("budget left"), bold(words.money(min(lefts)))] if lefts else []


def _ran(facts: Facts, verb: str) -> list[Part]:
    ran = facts.ran
    return [Part(verb), Part(since=ran[0], until=ran[1])] if ran and ran[1] else []


def _outputs(facts: Facts) -> list[Part]:
    if facts.job.outputs_deleted:
        return [Part("outputs deleted")]
    if not facts.cluster:
        return []
    saved, _ = saved_of(facts)
    return [Part(f"{plural(saved, 'output file')} saved" if saved else "no output files")]


# --- private: actions and tabs ----------------------------------------------------------------------------------------
def _stop(facts: Facts) -> str:
    work = facts.work
    if not work.is_active or work.wish == Wish.FORCE_STOP:
        return ""
    if work.wish == Wish.STOP or work.status == lifecycle.STOPPING:
        return "force" if facts.cluster else ""
    return "stop"


def _download(facts: Facts) -> str:
    if not facts.is_over or facts.job.outputs_deleted or not facts.manifest.files:
        return ""
    return f"{plural(facts.manifest.files, 'output')}, {words.size(facts.manifest.bytes)}"


def _file_count(facts: Facts) -> str:
    outputs = facts.manifest.files if facts.is_over else facts.listing.get("files_total", 0)
    return f"{words.count(len(facts.inputs))}/{words.count(outputs)}"
