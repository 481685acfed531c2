"""The parts of pages that change by themselves, rendered for a push over the socket.

One idea: a page is made of fragments, templates/<noun>/_NAME.html, each one root element with the id job-<public id>-NAME
(workstation-<public id>-NAME). The page includes them, htmx answers with them, a push sends them with hx-swap-oob: one file
for all three. Jobs and workstations differ in their Face alone; what a workstation has no file of is that of jobs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.template.loader import render_to_string

from jobs.models import Workload

from .presenters import cards, course, files, head, health, rows, stages, start, timeline, waiting
from .presenters.facts import Facts
from .presenters.workstations import cost, home, idle, says, sent, session
from .presenters.workstations import head as ws_head
from .presenters.workstations import rows as ws_rows
from .presenters.workstations.facts import WorkstationFacts

Context = dict[str, Any]
Parts = Mapping[str, Callable[[Any], Any]]
Pages = Mapping[str, tuple[str, ...]]

HEAD = ("badges", "headline", "facts", "actions", "tabs")
JOB_PAGES: Pages = {
    "status": (*HEAD, "alarm", "stages", "stopping", "gates", "findings", "last", "start", "remedy", "verdict", "cost", "course"),
    "output": (*HEAD, "line"),
    "files": (*HEAD, "line", "outputs"),
    "health": (*HEAD, "line", "says", "nodes"),
    "timeline": (*HEAD, "line", "axis", "events"),
    "settings": (*HEAD, "line"),
    "file": (*HEAD, "line"),
}
JOB_PARTS: Parts = {
    "badges": head.badges,
    "headline": head.headline,
    "facts": head.facts_line,
    "alarm": course.alarm,
    "course": course.course,
    "stages": stages.rows,
    "line": stages.rows,
    "stopping": waiting.stopping,
    "gates": waiting.gates,
    "findings": cards.findings,
    "last": cards.last_lines,
    "start": start.start,
    "remedy": cards.remedy,
    "verdict": cards.verdict,
    "cost": cards.cost,
    "outputs": files.outputs,
    "says": health.says,
    "nodes": health.nodes,
    "axis": timeline.axis,
    "events": timeline.events,
}

WORKSTATION_PAGES: Pages = {
    "status": (*HEAD, "line", "note", "veil", "viewers", "gates", "ended", "cost", "idle", "home", "shares"),
    "files": (*HEAD, "line", "sent"),
    "health": (*HEAD, "line", "says", "nodes"),
    "timeline": (*HEAD, "line", "axis", "events"),
    "settings": (*HEAD, "line"),
}
WORKSTATION_PARTS: Parts = {
    "badges": ws_head.badges,
    "headline": ws_head.headline,
    "facts": ws_head.facts_line,
    "line": partial(stages.rows, voice=says),
    "note": idle.note,
    "veil": session.veil,
    "viewers": home.viewers,
    "gates": waiting.gates,
    "ended": ws_head.ended,
    "cost": cost.cost,
    "idle": idle.card,
    "home": home.card,
    "shares": home.shares,
    "sent": sent.card,
    "says": health.says,
    "nodes": health.nodes,
    "axis": timeline.axis,
    "events": timeline.events,
}


@dataclass(frozen=True)
class Face:
    """How one kind of workload is shown. `more`: what its fragments show beside their own part."""

    folder: str
    facts: type[Facts]
    pages: Pages
    parts: Parts
    more: Callable[[Any, Any, str], Context]
    rows: Callable[[Any, Any], Sequence[Any]]


def render(workload: Workload, user: Any, page: str) -> str:
    """All fragments of a page, each with hx-swap-oob. An unknown page has none."""
    face = FACES[workload.kind]
    context = {**context_of(face.facts(workload), user, page), "oob": True, "csrf_token": ""}  # htmx sends the token of the page
    return "\n".join(render_to_string(_files(face, name), context) for name in face.pages.get(page, ()))


def render_rows(ids: Sequence[str], user: Any) -> str:
    """Rows of the lists for those public ids that the user may see."""
    shown = []
    for kind, face in FACES.items():
        query = Workload.objects.visible_to(user).filter(public_id__in=list(ids), kind=kind)
        found = face.rows(query, user) if ids else ()
        shown += [render_to_string(f"{face.folder}/_row.html", {"row": row, "oob": True}) for row in found]
    return "\n".join(shown)


def context_of(facts: Facts, user: Any, page: str) -> Context:
    """What the fragments of a page, and the page around them, show."""
    face = FACES[facts.work.kind]
    names = face.pages.get(page, ())
    parts = {name: face.parts[name](facts) for name in names if name in face.parts}
    context = {
        "work": facts.work,
        "user": user,
        "page": page,
        "noun": face.folder,
        "prefix": f"{facts.work.kind}-{facts.work.public_id}",
        "is_over": facts.is_over,
    }
    return {**context, **_renamed(parts), **face.more(facts, user, page)}


def _of_job(facts: Facts, user: Any, page: str) -> Context:
    offers = start.changes(facts.work, facts.offers(user)) if "gates" in JOB_PAGES.get(page, ()) else []
    return {"job": facts.job, "actions": head.actions(facts, user), "tabs": head.tabs(facts, page), "offers": offers}


def _of_workstation(facts: WorkstationFacts, user: Any, page: str) -> Context:
    return {
        "station": facts.station,
        "actions": ws_head.actions(facts, user),
        "tabs": ws_head.tabs(facts, page),
        "desk": session.desk(facts, user),
        "may_change": facts.work.may_change(user),
    }


def _files(face: Face, name: str) -> list[str]:
    return [f"{face.folder}/_{name}.html", f"jobs/_{name}.html"]


def _renamed(parts: Context) -> Context:
    """`line` and `stages` show the same rows."""
    shown = dict(parts)
    if "line" in shown:
        shown["stages"] = shown.pop("line")
    return shown


FACES: Mapping[str, Face] = {
    Workload.Kind.JOB: Face(
        "jobs", Facts, JOB_PAGES, JOB_PARTS, _of_job, lambda query, user: rows.loaded(list(query.values_list("pk", flat=True)))
    ),
    Workload.Kind.WORKSTATION: Face(
        "workstations", WorkstationFacts, WORKSTATION_PAGES, WORKSTATION_PARTS, _of_workstation,
        lambda query, user: ws_rows.loaded(ws_rows.with_rows(query), user),
    ),
}  # fmt: skip
