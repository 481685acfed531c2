"""The parts of pages that change by themselves, rendered for a push over the socket.

One idea: a page is made of fragments, templates/jobs/_NAME.html, each one root element with the id job-<public id>-NAME.
The page includes them, htmx answers with them, a push sends them with hx-swap-oob: one file for all three.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django.template.loader import render_to_string

from jobs.models import Workload

from .presenters import cards, course, files, head, health, rows, stages, timeline, waiting
from .presenters.facts import Facts

Context = dict[str, Any]

HEAD = ("badges", "headline", "facts", "actions", "tabs")
PAGES: dict[str, tuple[str, ...]] = {
    "status": (*HEAD, "alarm", "stages", "stopping", "gates", "findings", "last", "remedy", "verdict", "cost", "course"),
    "output": (*HEAD, "line"),
    "files": (*HEAD, "line", "outputs"),
    "health": (*HEAD, "line", "says", "nodes"),
    "timeline": (*HEAD, "line", "axis", "events"),
    "settings": (*HEAD, "line"),
    "file": (*HEAD, "line"),
}
PARTS: dict[str, Callable[[Facts], Any]] = {
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
    "remedy": cards.remedy,
    "verdict": cards.verdict,
    "cost": cards.cost,
    "outputs": files.outputs,
    "says": health.says,
    "nodes": health.nodes,
    "axis": timeline.axis,
    "events": timeline.events,
}


def render(workload: Workload, user: Any, page: str) -> str:
    """All fragments of a page, each with hx-swap-oob. An unknown page has none."""
    facts = Facts(workload)
    context = {**context_of(facts, user, page), "oob": True, "csrf_token": ""}  # htmx sends the token of the page around it
    return "\n".join(render_to_string(f"jobs/_{name}.html", context) for name in PAGES.get(page, ()))


def render_rows(ids: Sequence[str], user: Any) -> str:
    """Rows of the jobs list for those public ids that the user may see."""
    query = Workload.objects.visible_to(user).filter(public_id__in=list(ids), kind=Workload.Kind.JOB)
    found = rows.loaded(rows.with_rows(query))
    return "\n".join(render_to_string("jobs/_row.html", {"row": row, "oob": True}) for row in found)


def context_of(facts: Facts, user: Any, page: str) -> Context:
    """What the fragments of a page, and the page around them, show."""
    parts = {name: PARTS[name](facts) for name in PAGES.get(page, ()) if name in PARTS}
    return {
        "work": facts.work,
        "job": facts.job,
        "user": user,
        "page": page,
        "prefix": f"job-{facts.work.public_id}",
        "actions": head.actions(facts, user),
        "tabs": head.tabs(facts, page),
        "is_over": facts.is_over,
        "offers": facts.offers(user) if "gates" in PAGES.get(page, ()) else [],
        **_renamed(parts),
    }


def _renamed(parts: Context) -> Context:
    """`line` and `stages` show the same rows."""
    shown = dict(parts)
    if "line" in shown:
        shown["stages"] = shown.pop("line")
    return shown
