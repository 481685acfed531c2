"""A Slurm cluster in the hands of admins: look at it, try a job there, offer its nodes, say whose account is whose.

One idea: nothing here reaches Slurm. A look and a trial are request rows that the engine carries out; the page shows what
became of them and is told of each step.
"""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from jobs import proposing, surveying
from jobs.models import Account, AuditEntry, Request
from jobs.signals import announce
from portal.forms.slurm import AccountForm, OfferSet, initial
from portal.numbers import whole
from portal.presenters import slurm as shown

from .access import address
from .editing import only_admins, wake

ADMINS = "Only admins set up a Slurm cluster."


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def cluster(request: HttpRequest) -> HttpResponse:
    """The page; POST offers what was chosen, or tries one kind of nodes as it stands in the form."""
    only_admins(request, ADMINS)
    name = _chosen(request)
    if not name:
        return render(request, "hardware/slurm.html", {"page": None})
    page = shown.page(name)
    forms = OfferSet(request.POST or None, initial=initial(name, page.found.get("kinds", [])), form_kwargs={"backend": name})
    status = 200
    if request.method == "POST" and "trial" in request.POST:
        tried = _try(request, name, forms)
        page, status = tried or page, 200 if tried else 422
    elif request.method == "POST":
        if forms.is_valid() and _offer(request, name, forms):
            return redirect("coretypes")
        status = 422
    return render(request, "hardware/slurm.html", {"page": page, "forms": forms}, status=status)


@login_required
@require_POST
def look(request: HttpRequest) -> HttpResponse:
    only_admins(request, ADMINS)
    name = _chosen(request)
    if not name:
        raise Http404("There is no Slurm cluster in the settings.")
    with transaction.atomic():
        surveying.ask_look(name, request.user)
        AuditEntry.note(request.user, "look at cluster", name, address(request))
        announce("hardware")
    return _now(request, name)


@login_required
@require_POST
def give_up(request: HttpRequest, pk: int) -> HttpResponse:
    """A trial ends: the engine cancels its job."""
    only_admins(request, ADMINS)
    trial = get_object_or_404(Request, pk=pk, kind=Request.Kind.TRIAL)
    Request.objects.filter(pk=pk, done__isnull=True).update(until=timezone.now())
    return _now(request, trial.backend)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def accounts(request: HttpRequest) -> HttpResponse:
    """Who runs as whom on the cluster."""
    only_admins(request, ADMINS)
    form = AccountForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        user, name = form.cleaned_data["user"], form.cleaned_data["name"]
        with transaction.atomic():
            before = Account.of(user.pk)
            Account.objects.update_or_create(user=user, defaults={"name": name})
            AuditEntry.note(request.user, "map account", user, address(request), values={"account": [before, name]})
        messages.success(request, f"Jobs of {user} run as {name} from now on; what runs stays as it is.")
        return redirect("hardware-accounts")
    rows = Account.objects.select_related("user")
    abouts = [surveying.about(name) for name in surveying.names()]
    return render(request, "hardware/accounts.html", {"form": form, "rows": rows, "abouts": abouts}, status=422 if form.errors else 200)


@login_required
@require_POST
def unmap(request: HttpRequest, pk: int) -> HttpResponse:
    only_admins(request, ADMINS)
    with transaction.atomic():
        account = get_object_or_404(Account.objects.select_related("user"), pk=pk)
        AuditEntry.note(request.user, "unmap account", account.user, address(request), values={"account": [account.name, ""]})
        account.delete()
    messages.success(request, f"{account.user} has no account on the cluster any more.")
    return redirect("hardware-accounts")


# --- private ----------------------------------------------------------------------------------------------------------
def _chosen(request: HttpRequest) -> str:
    """The backend of the page; "" where the settings have none."""
    names, wanted = surveying.names(), request.POST.get("backend") or request.GET.get("backend", "")
    return wanted if wanted in names else next(iter(names), "")


def _now(request: HttpRequest, name: str) -> HttpResponse:
    """The part of the page that changes, or without htmx the page again."""
    if request.htmx:  # type: ignore[attr-defined]
        return render(request, "hardware/_slurm_now.html", {"page": shown.page(name)})
    return redirect(f"{reverse('hardware-slurm')}?backend={name}")


def _try(request: HttpRequest, name: str, forms: Any) -> shown.Page | None:
    """Asks for a trial with what is typed; None if that is no hardware."""
    number = whole(request.POST["trial"])
    form = forms[number] if number is not None and number < len(forms) else None
    if form is None or not form.can_be_tried():
        return None
    values = form.values()
    wanted = {"cores": values["cores"], "memory": values["memory"], "options": values["options"], "title": values["name"]}
    with transaction.atomic():
        surveying.ask_trial(name, request.user, timezone.now(), **wanted)
        AuditEntry.note(request.user, "try a job", name, address(request), hardware=values["name"])
        announce("hardware")
    return shown.page(name)


def _offer(request: HttpRequest, name: str, forms: Any) -> bool:
    """All that were chosen, or with a message none."""
    chosen = [form for form in forms if form.cleaned_data.get("take")]
    if not chosen:
        messages.error(request, "Choose at least one kind of nodes.")
        return False
    try:
        with transaction.atomic():
            for form in chosen:
                kind, _ = proposing.offer(name, form.values(), form.cleaned_data["price"], request.user)
                AuditEntry.note(
                    request.user, "add coretype", kind, address(request), code=kind.code, values={"price": ["", str(kind.price)]}
                )
            wake()
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
        return False
    messages.success(request, f"{len(chosen)} coretype{'s are' if len(chosen) > 1 else ' is'} on offer.")
    return True


urlpatterns = [
    path("hardware/slurm/", cluster, name="hardware-slurm"),
    path("hardware/slurm/look/", look, name="hardware-slurm-look"),
    path("hardware/slurm/trials/<int:pk>/give-up/", give_up, name="hardware-slurm-give-up"),
    path("hardware/accounts/", accounts, name="hardware-accounts"),
    path("hardware/accounts/<int:pk>/remove/", unmap, name="hardware-account-remove"),
]
