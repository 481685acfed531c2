"""Coretypes out of what a Slurm cluster has: proposed, and made.

One idea: a proposal is plain values that a person may change before anything is made; what is there already stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils.text import slugify

from .models import Coretype, Region

WEEK = 7 * 86400
USUAL = 4 * 3600
CODE = 40
_GPU = re.compile(r"gpu:(?:(?P<kind>[\w.-]+):)?(?P<count>\d+)")


def proposed(kind: Mapping[str, Any]) -> dict[str, Any]:
    """Values of a coretype for a kind of nodes (a slurm_kinds.Kind as a mapping): all but backend, region and price."""
    gres = kind["gres"] if "," not in kind["gres"] else ""
    longest = min(kind["longest"] or WEEK, WEEK)
    return {
        "code": code_of(kind),
        "name": _name(kind, gpu_of(gres) or gres),
        "cores": kind["cores"],
        "memory": kind["memory"],
        "gpu": gpu_of(gres),
        "max_nodes": kind["nodes"],
        "walltime_max": longest,
        "options": {"partition": kind["partition"]} | ({"gres": gres} if gres else {}),
    }


def offer(backend: str, values: Mapping[str, Any], price: Decimal, by: Any = None) -> tuple[Coretype, bool]:
    """The coretype of that code, and whether it is new; one that is there stays as it is."""
    with transaction.atomic():
        region, _ = Region.objects.get_or_create(code=slugify(backend)[:CODE] or "slurm", defaults={"name": "Slurm cluster"})
        found = Coretype.objects.filter(code=values["code"]).first()
        if found:
            return found, False
        kind = Coretype(region=region, backend=backend, price=price, walltime_default=min(USUAL, values["walltime_max"]), **values)
        kind.changed_by = by
        kind.full_clean()
        kind.save()
    return kind, True


def offered(backend: str) -> set[tuple[str, str, int]]:
    """Partition, resources and cores of what is offered of it already."""
    rows = Coretype.objects.filter(backend=backend).values_list("options", "cores")
    return {(str(options.get("partition", "")), str(options.get("gres", "")), cores) for options, cores in rows}


def code_of(kind: Mapping[str, Any]) -> str:
    """Such as main-64c-256g-gpua1004."""
    return slugify(f"{kind['partition']}-{kind['cores']}c-{kind['memory'] >> 30}g" + (f"-{kind['gres']}" if kind["gres"] else ""))[:CODE]


def gpu_of(gres: str) -> str:
    """Graphics in words: 4 x a100; "" if the resource is none."""
    match = _GPU.fullmatch(gres)
    return f"{match['count']} x {match['kind'] or 'GPU'}" if match else ""


def _name(kind: Mapping[str, Any], graphics: str) -> str:
    return f"{kind['partition']}, {kind['cores']} core{'' if kind['cores'] == 1 else 's'}" + (f", {graphics}" if graphics else "")
