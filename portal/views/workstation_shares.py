"""Links by which others look at a session: made and revoked by those who may change it, opened by who has the link.

The token is told once, when the link is made; what is kept is its hash. A link only looks: the relay lets no input through.
"""

from __future__ import annotations

from datetime import timedelta

from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path, reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from jobs import lifecycle
from jobs.models import AuditEntry, Share
from portal import words
from portal.presenters.workstations import session
from portal.presenters.workstations.facts import WorkstationFacts

from .access import address, workstation_changed
from .asking import went

HOURS = (1, 8, 24, 24 * 7)


@login_required
@require_POST
def share(request: HttpRequest, public_id: str) -> HttpResponse:
    """A new link, shown this once."""
    work = workstation_changed(request, public_id)
    text = request.POST.get("hours", "")
    hours = int(text) if text in {str(one) for one in HOURS} else HOURS[0]
    anyone = request.POST.get("anyone") == "1"
    now = timezone.now()
    with transaction.atomic():
        token = work.workstation.share(request.user, now + timedelta(hours=hours), signed_in=not anyone, now=now)
        AuditEntry.note(request.user, "share", work, address(request), id=work.public_id, hours=hours, anyone=anyone)
    where = request.build_absolute_uri(reverse("workstation-shared", args=[token]))
    context = {"work": work, "where": where, "lasts": words.duration(hours * 3600), "anyone": anyone}
    return render(request, "workstations/share_made.html", context)


@login_required
@require_POST
def revoke(request: HttpRequest, public_id: str, pk: int) -> HttpResponse:
    """Whoever looks by it is shown out within seconds."""
    work = workstation_changed(request, public_id)
    with transaction.atomic():
        get_object_or_404(Share, pk=pk, workstation=work.workstation).revoke(request.user)
        AuditEntry.note(request.user, "revoke share", work, address(request), id=work.public_id, share=pk)
        work.touch()
    return went(request, reverse("workstation", args=[public_id]))


@never_cache
@require_safe
def shared(request: HttpRequest, token: str) -> HttpResponse:
    """The session to look at, for who has the link."""
    found = Share.of(token, timezone.now())
    if found is None:
        return render(request, "workstations/shared_over.html", status=404)
    if found.signed_in and not request.user.is_authenticated:
        return redirect_to_login(request.get_full_path())
    facts = WorkstationFacts(found.workstation.workload)
    lives = facts.ready is not None and facts.work.status == lifecycle.ACTIVE
    context = {"work": facts.work, "desk": session.desk(facts, request.user, token), "veil": session.veil(facts), "share": found,
               "lives": lives, "prefix": f"workstation-{facts.work.public_id}", "by_link": True}  # fmt: skip
    answer = render(request, "workstations/shared.html", context)
    answer["Referrer-Policy"] = "no-referrer"
    return answer


urlpatterns = [
    path("shared/<str:token>/", shared, name="workstation-shared"),
    path("<str:public_id>/share/", share, name="workstation-share"),
    path("<str:public_id>/share/<int:pk>/revoke/", revoke, name="workstation-share-revoke"),
]
