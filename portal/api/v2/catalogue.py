"""What can be asked for: software, coretypes, prices, and the money there is."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from ninja import Query, Router

from jobs import scheduling
from jobs.models import Budget, Coretype, Software, SoftwareVersion
from portal import purses

from .moments import when
from .paging import Paging, listed, page
from .shapes import BudgetOut, CoretypeOut, Page, PriceOut, SoftwareOut, answers

router = Router(tags=["catalogue"])


@router.get("/analyses/", response=answers(Page[SoftwareOut]), summary="Software, newest version first")
def analyses(request: HttpRequest, paging: Query[Paging]) -> dict[str, Any]:
    """`allowedCoreTypes` are those that the caller may use for it."""
    kinds = {
        kind.code: {one.pk for one in kind.software.all()}
        for kind in Coretype.objects.offered_to(request.user).prefetch_related("software")
    }
    rows = list(Software.objects.filter(active=True).prefetch_related("versions"))
    return listed(request, paging, rows, lambda row: _software(row, [code for code, only in kinds.items() if not only or row.pk in only]))


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


@router.get("/coretypes/", response=answers(Page[CoretypeOut]), summary="Hardware, its price and what of it is free")
def coretypes(request: HttpRequest, paging: Query[Paging], isActive: bool | None = None) -> dict[str, Any]:
    """Those that the caller may use, and those that are no longer offered (`isActive` false)."""
    rows = _seen_by(request).select_related("region")
    if isActive is not None:
        rows = rows.filter(active=isActive)
    busy = scheduling.occupancy()
    return listed(request, paging, list(rows), lambda row: _coretype(row, busy.get(row.pk)))


def _seen_by(request: HttpRequest) -> QuerySet[Coretype]:
    return Coretype.objects.filter(Q(active=False) | Q(pk__in=Coretype.objects.offered_to(request.user).values("pk")))


def _coretype(row: Coretype, now: scheduling.Occupancy | None) -> dict[str, Any]:
    return {
        "code": row.code,
        "name": row.name,
        "displayOrder": row.order,
        "isDeprecated": not row.active,
        "isActive": row.active,
        "price": float(row.price),
        "lowPriorityPrice": float(row.price_of(economy=True)),
        "cores": list(range(1, row.cores + 1)) + [row.cores * nodes for nodes in range(2, min(row.max_nodes, 1000) + 1)],
        "memory": row.memory // row.cores // (1 << 20),
        "memoryPerNode": row.memory,
        "storage": 0,
        "walltimeRequired": False,
        "maxWalltimeHours": row.walltime_max / 3600,
        "coresPerNode": row.cores,
        "maxNodes": row.max_nodes,
        "categoryCodes": [],
        "processorInfo": row.processor,
        "region": row.region.code,
        "freeCores": now.free if now else None,
        "totalCores": now.total if now else None,
    }


@router.get("/billing/computeprices/", response=answers(list[PriceOut]), summary="Prices a core and hour, as a plain list")
def prices(request: HttpRequest) -> list[dict[str, Any]]:
    rows = _seen_by(request)
    return [
        {
            "coreType": row.code,
            "planType": "on-demand",
            "os": "linux",
            "isActive": row.active,
            "value": {"amount": f"{row.price:f}", "currency": settings.CURRENCY},
        }
        for row in rows
    ]


@router.get("/budgets/", response=answers(Page[BudgetOut]), summary="Budgets that apply to the caller")
def budgets(request: HttpRequest, paging: Query[Paging]) -> dict[str, Any]:
    return page(request, paging, purses.visible_to(request.user), _budget)


def _budget(row: Budget) -> dict[str, Any]:
    return {
        "id": row.pk,
        "name": row.name,
        "project": row.project.code if row.project else None,
        "member": row.member.get_username() if row.member else None,
        "unit": row.unit,
        "strictness": row.strictness,
        "amount": f"{row.amount:f}",
        "spent": f"{row.spent:f}",
        "held": f"{row.held:f}",
        "left": f"{row.left:f}",
        "isActive": row.active,
        "begins": when(row.begins),
        "ends": when(row.ends),
    }
