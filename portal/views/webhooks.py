"""Webhooks of a person: made, their secret shown once, tried, disabled; the log of what was sent, and sending it again."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from jobs.models import Webhook
from jobs.webhooks.signing import EXAMPLE
from portal import hooks
from portal.forms.account import styled

from .access import address

MINE, ALL = "", "*"
"""Targets beside projects: one's own jobs, the whole installation."""
LOGGED = 50
"""Messages on a page."""
SOON = timedelta(seconds=30)
"""A page looks again by itself while a message is due within this."""


class WebhookForm(forms.Form):
    url = forms.CharField(max_length=2000, label="Address", help_text="Gets a POST for each event; starts with https:// or http://.")
    target = forms.ChoiceField(label="Of", required=False)
    events = forms.MultipleChoiceField(
        label="Is told",
        choices=[("status", "Each change of status"), ("budget", "Thresholds of budgets")],
        initial=["status", "budget"],
        widget=forms.CheckboxSelectMultiple(attrs={"class": "form-check-input"}),
        error_messages={"required": "Choose what it is told."},
    )

    def __init__(self, user: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.projects = {project.code: project for project in hooks.projects_of(user)}
        named = [(code, f"Project {project}") for code, project in self.projects.items()]
        everything = [(ALL, "Everything in this portal")] if user.is_staff or user.is_superuser else []
        self.fields["target"].choices = [(MINE, "Your own jobs and budgets"), *named, *everything]  # type: ignore[attr-defined]
        styled(self)

    def clean_url(self) -> str:
        try:
            return hooks.checked(self.cleaned_data["url"])
        except ValidationError as refused:
            raise ValidationError(refused.messages) from None


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def webhooks(request: HttpRequest) -> HttpResponse:
    form = WebhookForm(request.user, request.POST or None)
    made, secret = _make(request, form) if request.method == "POST" and form.is_valid() else (None, "")
    rows = Webhook.objects.visible_to(request.user).select_related("project", "owner")
    shown = WebhookForm(request.user) if made else form
    context = {"form": shown, "hooks": rows, "made": made, "secret": secret, "example": EXAMPLE}
    return render(request, "account/webhooks.html", context, status=422 if form.errors else 200)


@login_required
@require_http_methods(["GET", "HEAD"])
def webhook(request: HttpRequest, public_id: str) -> HttpResponse:
    hook = _seen(request, public_id)
    rows = list(hook.deliveries.all()[:LOGGED])
    soon = hook.active and any(row.due and row.due < timezone.now() + SOON for row in rows)
    context = {"hook": hook, "rows": rows, "soon": soon, "example": EXAMPLE, "logged": LOGGED}
    part = request.htmx and request.htmx.target == "deliveries"  # type: ignore[attr-defined]
    return render(request, "account/_deliveries.html" if part else "account/webhook.html", context)


@login_required
@require_POST
def switch(request: HttpRequest, public_id: str) -> HttpResponse:
    """Disable it, or enable it again."""
    hook = _seen(request, public_id)
    active = request.POST.get("active") == "1"
    hooks.change(request.user, hook, address(request), active=active)
    messages.success(request, "It is told again what happens." if active else "It is told nothing from now on.")
    return redirect("webhook", public_id)


@login_required
@require_POST
def delete(request: HttpRequest, public_id: str) -> HttpResponse:
    hook = _seen(request, public_id)
    hooks.delete(request.user, hook, address(request))
    messages.success(request, "The webhook is deleted, with the log of what was sent.")
    return redirect("webhooks")


@login_required
@require_POST
def try_it(request: HttpRequest, public_id: str) -> HttpResponse:
    if hooks.test(_seen(request, public_id)):
        messages.success(request, "A test is on its way; the log shows what comes of it.")
    else:
        messages.error(request, "No test is sent: it is disabled, or tests wait already.")
    return redirect("webhook", public_id)


@login_required
@require_POST
def again(request: HttpRequest, public_id: str, delivery: str) -> HttpResponse:
    hook = _seen(request, public_id)
    if hooks.again(hook, get_object_or_404(hook.deliveries, public_id=delivery)):
        messages.success(request, "It is sent once more, with the same id.")
    else:
        messages.error(request, "It is not sent again: it still waits, or the webhook is disabled.")
    return redirect("webhook", public_id)


# --- private ----------------------------------------------------------------------------------------------------------
def _seen(request: HttpRequest, public_id: str) -> Webhook:
    return get_object_or_404(Webhook.objects.visible_to(request.user).select_related("project", "owner"), public_id=public_id)


def _make(request: HttpRequest, form: WebhookForm) -> tuple[Webhook | None, str]:
    """The webhook and its secret, for this one answer; nothing, and an error of the form, if it is refused."""
    wanted = form.cleaned_data
    target, everything = wanted["target"], wanted["target"] == ALL
    try:
        return hooks.make(request.user, wanted["url"], wanted["events"], address(request), form.projects.get(target), everything)
    except ValidationError as refused:
        form.add_error(None, refused.messages)
        return None, ""


urlpatterns = [
    path("account/webhooks/", webhooks, name="webhooks"),
    path("account/webhooks/<str:public_id>/", webhook, name="webhook"),
    path("account/webhooks/<str:public_id>/switch/", switch, name="webhook-switch"),
    path("account/webhooks/<str:public_id>/delete/", delete, name="webhook-delete"),
    path("account/webhooks/<str:public_id>/test/", try_it, name="webhook-test"),
    path("account/webhooks/<str:public_id>/<str:delivery>/again/", again, name="webhook-again"),
]
