"""Webhooks: addresses of one's own that are told what happens, and the log of what was sent to them."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest
from ninja import Query, Router, Status
from ninja.errors import HttpError

from jobs.models import Project, Webhook, WebhookDelivery
from portal import hooks

from .auth import address_of
from .moments import when
from .paging import Paging, page
from .schemas import WebhookIn, WebhookPatch
from .shapes import DeliveryOut, Page, WebhookMade, WebhookOut, answers

router = Router(tags=["webhooks"])


@router.get("/webhooks/", response=answers(Page[WebhookOut]), summary="One's own webhooks, and those of projects that one leads")
def webhooks(request: HttpRequest, paging: Query[Paging]) -> dict[str, Any]:
    """For admins those of all projects and of the installation too."""
    return page(request, paging, Webhook.objects.visible_to(request.user).select_related("owner", "project"), _shown)


@router.post("/webhooks/", response=answers(WebhookMade, 403, status=201), summary="Make a webhook")
def make(request: HttpRequest, payload: WebhookIn) -> Status:
    """For one's own jobs; with `projectId` for those of a project that one leads; with `everything`, for admins, for all.

    A message is a POST of {"type", "timestamp", "data"}, signed as Standard Webhooks has it: `webhook-signature` is `v1,` and the
    base64 of HMAC-SHA256 over `webhook-id`, `webhook-timestamp` and the body, joined by full stops; the key is what follows
    `whsec_` in `secret`, as base64. `webhook-id` is the same in every try. Any status from 200 to 299 within 10 s is good; else
    it is tried again for a day.
    """
    project = _project(request, payload.projectId) if payload.projectId is not None else None
    hook, secret = hooks.make(request.user, payload.url, list(payload.events), address_of(request), project, payload.everything)
    return Status(201, {**_shown(hook), "secret": secret})


@router.get("/webhooks/{hook_id}/", response=answers(WebhookOut, 404), summary="One webhook")
def webhook(request: HttpRequest, hook_id: str) -> dict[str, Any]:
    return _shown(_found(request, hook_id))


@router.patch("/webhooks/{hook_id}/", response=answers(WebhookOut, 403, 404), summary="Change, disable or enable a webhook")
def change(request: HttpRequest, hook_id: str, payload: WebhookPatch) -> dict[str, Any]:
    hook = _found(request, hook_id)
    events = list(payload.events) if payload.events is not None else None
    hooks.change(request.user, hook, address_of(request), payload.url, events, payload.isActive)
    return _shown(_found(request, hook_id))


@router.delete("/webhooks/{hook_id}/", response=answers(None, 403, 404, status=204), summary="Delete a webhook and its log")
def delete(request: HttpRequest, hook_id: str) -> Status:
    hooks.delete(request.user, _found(request, hook_id), address_of(request))
    return Status(204, None)


@router.post(
    "/webhooks/{hook_id}/test/", response=answers(DeliveryOut, 403, 404, 409, status=202), summary="Send a message that tells nothing"
)
def test(request: HttpRequest, hook_id: str) -> Status:
    row = hooks.test(_found(request, hook_id))
    if row is None:
        raise HttpError(409, "It is disabled, or tests wait already.")
    return Status(202, _delivery(row))


@router.get("/webhooks/{hook_id}/deliveries/", response=answers(Page[DeliveryOut], 404), summary="What was sent to it, newest first")
def deliveries(request: HttpRequest, hook_id: str, paging: Query[Paging]) -> dict[str, Any]:
    """Kept for 30 days."""
    return page(request, paging, _found(request, hook_id).deliveries.all(), _delivery)


@router.post(
    "/webhooks/{hook_id}/deliveries/{delivery_id}/redeliver/",
    response=answers(DeliveryOut, 403, 404, 409, status=202),
    summary="Send one again",
)
def redeliver(request: HttpRequest, hook_id: str, delivery_id: str) -> Status:
    """With the same id and body. 409 while it still waits, or the webhook is disabled."""
    hook = _found(request, hook_id)
    row = hook.deliveries.filter(public_id=delivery_id).first()
    if row is None:
        raise Http404("There is no such delivery.")
    if not hooks.again(hook, row):
        raise HttpError(409, "It still waits to be sent, or the webhook is disabled.")
    row.refresh_from_db()
    return Status(202, _delivery(row))


# --- private ----------------------------------------------------------------------------------------------------------
def _found(request: HttpRequest, public_id: str) -> Webhook:
    hook = Webhook.objects.visible_to(request.user).select_related("owner", "project").filter(public_id=public_id).first()
    if hook is None:
        raise Http404("There is no such webhook.")
    return hook


def _project(request: HttpRequest, code: str) -> Project:
    found = hooks.projects_of(request.user).filter(code=code).first()
    if found is None:
        raise ValidationError({"projectId": [f"There is no project {code} that you lead."]})
    return found


def _shown(hook: Webhook) -> dict[str, Any]:
    return {
        "id": hook.public_id,
        "url": hook.url,
        "events": [name for name, field in hooks.EVENTS.items() if getattr(hook, field)],
        "projectId": hook.project.code if hook.project else None,
        "everything": hook.everything,
        "owner": hook.owner.get_username(),
        "isActive": hook.active,
        "trouble": hook.trouble or None,
        "failingSince": when(hook.failing_since),
        "dateInserted": when(hook.made),
    }


def _delivery(row: WebhookDelivery) -> dict[str, Any]:
    return {
        "id": row.public_id,
        "type": row.kind,
        "state": row.state,
        "tries": row.tries,
        "dateInserted": when(row.made),
        "dateDelivered": when(row.delivered),
        "nextTry": when(row.due),
        "log": row.log,
        "body": row.body,
    }
