"""What a form begins with for somebody: the first software, the first hardware that is on offer to them, their first project."""

from __future__ import annotations

from typing import Any

from jobs.models import Coretype, Project, SoftwareVersion


def software() -> SoftwareVersion | None:
    """None: the catalogue has none."""
    found = SoftwareVersion.objects.filter(software__active=True)
    return found.order_by("software__order", "software__name", "order", "pk").first()


def hardware(user: Any) -> Coretype | None:
    """None: nothing is on offer to them."""
    return Coretype.objects.offered_to(user).first()


def project(user: Any) -> Project | None:
    """None: they are in no project that is active."""
    return user.projects.filter(active=True).first()
