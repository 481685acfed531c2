"""Webhooks and what was sent to them."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

EventName = Literal["status", "budget"]
"""What a webhook may be told: that a workload has another status, that a budget has passed a threshold."""


class WebhookOut(BaseModel):
    """`everything` is one of the installation. `trouble` says why it was disabled, `failingSince` when it last answered well."""

    id: str
    url: str
    events: list[EventName]
    projectId: str | None
    everything: bool
    owner: str
    isActive: bool
    trouble: str | None
    failingSince: str | None
    dateInserted: str


class WebhookMade(WebhookOut):
    """`secret` signs what is sent; it is not shown again."""

    secret: str


class TryOut(BaseModel):
    """`code` is the status that was answered, null without an answer; `ms` how long it took."""

    at: str
    code: int | None
    error: str
    ms: int


class DeliveryOut(BaseModel):
    """A message; `id` is the same in every try. `state` is waiting, delivered or given up."""

    id: str
    type: str
    state: str
    tries: int
    dateInserted: str
    dateDelivered: str | None
    nextTry: str | None
    log: list[TryOut]
    body: str
