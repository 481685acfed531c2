"""Tokens of a person: made, shown once, revoked. A token is a password for programs; the page never shows it again."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from jobs.models import ApiToken, AuditEntry, Scope
from portal.forms.account import styled

from .access import address

MOST = 50
LASTING = [("30", "30 days"), ("90", "90 days"), ("365", "One year"), ("", "Until it is revoked")]


class TokenForm(forms.Form):
    name = forms.CharField(max_length=80, label="Name", help_text="What uses it, such as “laptop” or “nightly runs”.")
    scope = forms.ChoiceField(label="May", choices=[], initial=Scope.RUN)
    days = forms.ChoiceField(label="Valid for", choices=LASTING, required=False, initial="90")

    def __init__(self, user: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user
        choices = [(Scope.READ, "Look only"), (Scope.RUN, "Run jobs: everything on what is yours")]
        self.fields["scope"].choices = choices + ([(Scope.ADMIN, "Everything that you may as an admin")] if user.is_staff else [])
        styled(self)

    def clean(self) -> dict[str, Any]:
        if ApiToken.objects.filter(user=self.user).count() >= MOST:
            raise forms.ValidationError(f"You have {MOST} tokens; revoke one first.")
        return self.cleaned_data


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def tokens(request: HttpRequest) -> HttpResponse:
    form = TokenForm(request.user, request.POST or None)
    made = _make(request, form.cleaned_data) if request.method == "POST" and form.is_valid() else ""
    rows = ApiToken.objects.filter(user=request.user)  # type: ignore[misc]
    context = {"form": TokenForm(request.user) if made else form, "tokens": rows, "made": made, "now": timezone.now()}
    return render(request, "account/tokens.html", context, status=422 if form.errors else 200)


@login_required
@require_POST
def revoke(request: HttpRequest, pk: int) -> HttpResponse:
    with transaction.atomic():
        token = get_object_or_404(ApiToken, pk=pk, user=request.user)
        AuditEntry.note(request.user, "revoke token", token, address(request), scope=token.scope)
        token.delete()
    messages.success(request, f"The token {token.name} is revoked; what used it is refused from now on.")
    return redirect("tokens")


def _make(request: HttpRequest, wanted: dict[str, Any]) -> str:
    """The token itself, for this one answer."""
    expires = timezone.now() + timedelta(days=int(wanted["days"])) if wanted["days"] else None
    with transaction.atomic():
        token, text = ApiToken.make(request.user, wanted["name"], wanted["scope"], expires)
        AuditEntry.note(request.user, "make token", token, address(request), scope=token.scope)
    return text


urlpatterns = [
    path("account/tokens/", tokens, name="tokens"),
    path("account/tokens/<int:pk>/revoke/", revoke, name="token-revoke"),
]
