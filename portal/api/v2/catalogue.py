"""What can be asked for: software, coretypes, prices."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Router

from jobs.models import Budget, Coretype, Software, SoftwareVersion

from .paging import listed

router = Router(tags=["catalogue"])


@router.get("/analyses/", summary="Software, newest version first")
def analyses(request: HttpRequest) -> dict[str, Any]:
    kinds = list(Coretype.objects.filter(active=True).values_list("code", flat=True))
    rows = list(Software.objects.filter(active=True).prefetch_related("versions"))
    return listed(request, rows, lambda row: _software(row, kinds))


def _software(row: Software, kinds: list[str]) -> dict[str, Any]:
    return {
        "code": row.code,
        "name": row.name,
        "description": row.description,
        "vendorName": "",
        "licenseSettings": [],
        "versions": [_version(version, row, kinds) for version in row.versions.all()],
    }


def _version(version: SoftwareVersion, row: Software, kinds: list[str]) -> dict[str, Any]:
    return {
        "id": str(version.pk),
        "versionCode": version.code,
        "version": version.name or version.code,
        "allowedCoreTypes": kinds,
        "mpiCommand": "",
        "command": version.command or row.command,
    }


@router.get("/coretypes/", summary="Hardware with its price per core and hour")
def coretypes(request: HttpRequest, isActive: bool | None = None) -> dict[str, Any]:
    rows = Coretype.objects.select_related("region")
    if isActive is not None:
        rows = rows.filter(active=isActive)
    return listed(request, list(rows), _coretype)


def _coretype(row: Coretype) -> dict[str, Any]:
    return {
        "code": row.code,
        "name": row.name,
        "displayOrder": row.order,
        "isDeprecated": not row.active,
        "isActive": row.active,
        "price": _number(row.price),
        "lowPriorityPrice": _number(row.price),
        "cores": list(range(1, row.cores + 1)),
        "memory": row.memory // row.cores // (1 << 20),
        "memoryPerNode": row.memory,
        "storage": 0,
        "walltimeRequired": True,
        "maxWalltimeHours": row.walltime_max / 3600,
        "coresPerNode": row.cores,
        "maxNodes": row.max_nodes,
        "categoryCodes": [],
        "processorInfo": row.processor,
        "region": row.region.code,
    }


@router.get("/billing/computeprices/", summary="Prices as a plain list")
def prices(request: HttpRequest) -> list[dict[str, Any]]:
    rows = Coretype.objects.filter(active=True)
    return [{"coreType": row.code, "planType": plan, "value": str(_number(row.price))} for row in rows for plan in ("on-demand",)]


@router.get("/budgets/", summary="Budgets that apply to the caller")
def budgets(request: HttpRequest) -> dict[str, Any]:
    rows = Budget.objects.select_related("project").order_by("pk")
    if not request.user.is_staff:
        rows = rows.filter(member=request.user) | rows.filter(project__memberships__user=request.user)
    return listed(request, list(rows.distinct()), _budget)


def _budget(row: Budget) -> dict[str, Any]:
    return {
        "id": row.pk,
        "name": row.name,
        "project": row.project.code if row.project else None,
        "unit": row.unit,
        "strictness": row.strictness,
        "amount": str(row.amount),
        "spent": str(row.spent),
        "held": str(row.held),
        "left": str(row.left),
        "isActive": row.active,
    }


def _number(amount: Any) -> float:
    return float(amount)
