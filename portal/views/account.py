"""Sign in and out, the account, a new password. Django's own views; ours are the words, the counting and the audit log."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth import views as auth
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import path, reverse_lazy
from django.views.decorators.http import require_http_methods

from jobs import lifecycle
from jobs.models import AuditEntry, Membership
from portal.forms.account import NewPasswordForm, PersonForm, SignInForm

from .access import address

STAY_SECONDS = 14 * 86_400
DOOR = {
    lifecycle.QUEUED: "One sentence says what it waits for.",
    lifecycle.VALIDATING: "Inputs are read before any money is spent.",
    lifecycle.STARTING: "Nodes of its own, and its files on them.",
    lifecycle.RUNNING: "Live output, health, and what it costs.",
    lifecycle.STOPPING: "Outputs come back with checksums before the nodes go.",
}
"""The five stages in a sentence each, beside the sign-in."""


class SignIn(auth.LoginView):
    template_name = "account/signin.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method == "GET" and request.htmx:  # type: ignore[attr-defined]
            answer = HttpResponse(status=204)  # a fragment whose session has ended: the whole page goes to the sign-in, not a part of it
            answer["HX-Refresh"] = "true"
            return answer
        return super().dispatch(request, *args, **kwargs)

    def get_form_kwargs(self) -> dict[str, Any]:
        return {**super().get_form_kwargs(), "address": address(self.request)}

    def form_valid(self, form: Any) -> HttpResponse:
        answer = super().form_valid(form)
        self.request.session.set_expiry(STAY_SECONDS if form.cleaned_data["stay"] else 0)
        return answer

    def get_context_data(self, **more: Any) -> dict[str, Any]:
        stages = [(row.label, row.icon, DOOR[row.code]) for row in lifecycle.JOB.stages()]
        return super().get_context_data(stages=stages, **more)


class Password(auth.PasswordChangeView):
    template_name = "account/password.html"
    form_class = NewPasswordForm
    success_url = reverse_lazy("account")

    def form_valid(self, form: Any) -> HttpResponse:
        with transaction.atomic():
            answer = super().form_valid(form)
            AuditEntry.note(self.request.user, "change password", self.request.user, address(self.request))
        messages.success(self.request, "Your password is changed. Other browsers are signed out.")
        return answer


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def account(request: HttpRequest) -> HttpResponse:
    form = PersonForm(request.POST or None, instance=request.user)
    if request.method == "POST" and form.is_valid():
        with transaction.atomic():
            form.save()
            AuditEntry.note(request.user, "change account", request.user, address(request), changed=form.changed_data)
        messages.success(request, "Saved.")
        return redirect("account")
    memberships = Membership.objects.filter(user=request.user).select_related("project").order_by("project__name")  # type: ignore[misc]
    status = 422 if form.errors else 200
    return render(request, "account/account.html", {"form": form, "memberships": memberships}, status=status)


urlpatterns = [
    path("signin/", SignIn.as_view(), name="signin"),
    path("signout/", auth.LogoutView.as_view(), name="signout"),
    path("account/", account, name="account"),
    path("account/password/", Password.as_view(), name="password"),
]
