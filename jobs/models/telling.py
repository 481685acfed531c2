"""What webhooks are told: a message for every hook that an event or a passed threshold concerns.

One idea: called in the transaction of what happened, so a message is there exactly when its event is. Where no hook listens
that costs one query.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Q

from .. import lifecycle
from .cluster import Cluster
from .event import Event
from .project import Membership
from .webhook import PATIENCE, Webhook, WebhookDelivery

if TYPE_CHECKING:
    from .budget import Budget, BudgetNotice
    from .workload import Workload


def of_events(ids: Sequence[int], works: Iterable[Workload]) -> None:
    """Messages about statuses that have just changed, by the ids of their events; `works` are the workloads of these."""
    known = {work.pk: work for work in works}
    if not known:
        return
    places = Q(everything=True) | Q(owner__in={work.owner_id for work in known.values()}, project=None)
    if projects := {work.project_id for work in known.values() if work.project_id}:
        places |= Q(project__in=projects)
    living = Webhook.objects.filter(places, active=True, on_status=True).select_related("owner")
    hooks = [hook for hook in living if hook.may_tell()]
    if not hooks:
        return
    whole = type(next(iter(known.values()))).objects.select_related("owner", "project", "job").in_bulk(list(known))
    exits = {row[:2]: row[2] for row in Cluster.objects.filter(workload__in=known).values_list("workload_id", "attempt", "exit")}
    rows = []
    for event in Event.objects.filter(pk__any_of=ids):
        work = whole[event.workload_id]
        body = _status(event, work, exits.get((work.pk, event.attempt)) or {})
        rows += [_row(hook, f"{work.kind}.status", body, event.at, event=event) for hook in hooks if _concerns(hook, work)]
    WebhookDelivery.objects.bulk_create(rows)


def of_notice(notice: BudgetNotice) -> None:
    """Messages about a threshold, or an end that comes near, to whom it concerns (`people_of`), its project, the installation."""
    budget = notice.budget
    places = Q(everything=True) | Q(owner__in=people_of(budget), project=None)
    if budget.project_id:
        places |= Q(project=budget.project_id)
    hooks = Webhook.objects.filter(places, active=True, on_budget=True).select_related("owner")
    kind = "budget.threshold" if notice.percent else "budget.ending"
    body = _budget(notice, kind)
    told = [_row(hook, kind, body, notice.at, notice=notice) for hook in hooks if hook.may_tell()]
    WebhookDelivery.objects.bulk_create(told)


def people_of(budget: Budget) -> Any:
    """Whom a budget concerns: the member; the leads of the project; for the organization its admins."""
    people = User.objects.filter(is_active=True)
    if budget.member_id:
        return people.filter(pk=budget.member_id)
    if budget.project_id:
        return people.filter(memberships__project=budget.project_id, memberships__role=Membership.Role.LEAD)
    return people.filter(Q(is_superuser=True) | Q(is_staff=True))


def test_body(hook: Webhook, now: datetime) -> str:
    return _said("test", now, {"webhook": hook.public_id, "text": "Nothing has happened: somebody tries this webhook."})


# --- private ----------------------------------------------------------------------------------------------------------
def _concerns(hook: Webhook, work: Workload) -> bool:
    if hook.everything:
        return True
    return hook.project_id == work.project_id if hook.project_id else hook.owner_id == work.owner_id


def _row(hook: Webhook, kind: str, body: str, at: datetime, **what: Any) -> WebhookDelivery:
    return WebhookDelivery(hook=hook, kind=kind, body=body, made=at, due=at, until=at + PATIENCE, **what)


def _status(event: Event, work: Workload, report: Mapping[str, Any]) -> str:
    rows, job = work.table.rows, getattr(work, "job", None)
    failed = rows.get(work.failed_stage)
    data = {
        "id": work.public_id,
        "name": work.name,
        "owner": work.owner.get_username(),
        "projectId": work.project.code if work.project else None,
        "url": f"{settings.PORTAL_URL.rstrip('/')}/{work.kind}s/{work.public_id}/",
        "headraceStatus": rows[event.after].label,
        "statusBefore": rows[event.before].label if event.before in rows else None,
        "stage": str(rows[event.after].stage) if rows[event.after].stage else None,
        "attempt": event.attempt,
        "outcome": work.outcome or None,
        "failedStage": failed.label if failed else None,
        "reason": work.reason or event.reason or None,
        "detail": work.detail or event.detail or None,
        "exitCode": report.get("code"),
        "signal": report.get("signal"),
        "verdict": (job.verdict if job else "") or None,
        "over": event.after in lifecycle.REST_CODES,
    }
    return _said(f"{work.kind}.status", event.at, data)


def _budget(notice: BudgetNotice, kind: str) -> str:
    budget = notice.budget
    data = {
        "id": budget.pk,
        "name": budget.name,
        "projectId": budget.project.code if budget.project else None,
        "member": budget.member.get_username() if budget.member else None,
        "url": f"{settings.PORTAL_URL.rstrip('/')}/budget/{budget.pk}/",
        "percent": notice.percent or None,
        "period": notice.period or None,
        "unit": budget.unit,
        "strictness": budget.strictness,
        **{name: f"{getattr(budget, name):f}" for name in ("amount", "spent", "held", "left")},
    }
    return _said(kind, notice.at, data)


def _said(kind: str, at: datetime, data: Mapping[str, Any]) -> str:
    moment = at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return json.dumps({"type": kind, "timestamp": moment, "data": data})
