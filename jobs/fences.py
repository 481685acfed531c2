"""Who may use hardware on which no sandbox works: there a command would run with the portal's own rights."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from django.conf import settings
from django.contrib.auth import get_user_model

from . import backends
from .models import Asks


def barred() -> Callable[[Asks], str] | None:
    """Says why its owner may not use the coretype of a workload (admins may, and all if a setting says so); None: nobody is barred."""
    if settings.ALLOW_NO_SANDBOX:
        return None
    fenced = cache(lambda name: backends.get(name).sandbox != "none")
    admins = cache(lambda: set(get_user_model().objects.filter(is_staff=True).values_list("pk", flat=True)))

    def why(work: Asks) -> str:
        if fenced(work.coretype.backend) or work.owner_id in admins():
            return ""
        return f"{work.coretype.name} cannot keep users apart (no sandbox works there); only admins may use it"

    return why
