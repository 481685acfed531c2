"""What portals of this kind may have and this one has not: said in words, so that a client knows that it asked the right thing."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.http import HttpRequest
from ninja import Router, Schema

from .found import changeable
from .schemas import Code
from .shapes import answers

router = Router(tags=["notes"])


class DeviceIn(Schema):
    id: Code


class DevicesIn(Schema):
    storageDevice: DeviceIn


@router.post("/jobs/{job_id}/storage-devices/", response=answers(dict[str, str], 403, 404), summary="There are none: always refused")
def add_device(request: HttpRequest, job_id: str, payload: DevicesIn) -> dict[str, str]:
    changeable(request, job_id)
    raise ValidationError({"storageDevice": [f"There is no storage device {payload.storageDevice.id}: a job's files are its inputs."]})


@router.get("/remote-viz-config/", response=answers(dict[str, Any]), summary="Jobs have no desktop")
def desktops(request: HttpRequest) -> dict[str, Any]:
    return {"isEnabled": False, "desktops": []}
