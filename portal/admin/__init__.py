"""The administration: people, catalogue, budgets, and what may only be looked at. A file a noun.

One idea: whatever is changed here is written to our own audit log too, in the same transaction (base.py).
"""

from __future__ import annotations

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode

from . import catalogue, money, people, work, workstations

__all__ = ["catalogue", "money", "people", "work", "workstations"]


def login(request: HttpRequest, extra_context: object = None) -> HttpResponse:
    """There is one door: the portal's own, which counts tries."""
    if request.user.is_authenticated:
        raise PermissionDenied("Only admins come in here.")
    return redirect(f"{reverse('signin')}?{urlencode({'next': request.GET.get('next') or reverse('admin:index')})}")


def password_change(request: HttpRequest, extra_context: object = None) -> HttpResponse:
    return redirect("password")


admin.site.login = login  # type: ignore[method-assign]
admin.site.password_change = password_change  # type: ignore[method-assign]
