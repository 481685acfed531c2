"""Files on their way into the home of a workstation: chosen among My files or a job's outputs, and taken back.

Only its owner sends, and only what is theirs; outputs become files of My files first, so that whoever sees a job may use them.
"""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from jobs import lifecycle, sending, stored
from jobs.models import AuditEntry, StoredFile, Workload
from jobs.outputs import Entry, Manifest, manifest
from portal import copies, storing, streams, words
from portal.forms.names import clean_path
from portal.numbers import wholes
from portal.presenters.text import plural

from .access import address, job_seen, workstation_owned
from .asking import went

SHOWN = 200


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def send(request: HttpRequest) -> HttpResponse:
    """GET shows what may be chosen (`job`: among its outputs) and where to (`to`); POST sends."""
    if request.method == "POST":
        return _send(request)
    job = job_seen(request, request.GET["job"]) if "job" in request.GET else None
    desks = Workload.objects.filter(owner=request.user, kind=Workload.Kind.WORKSTATION)  # type: ignore[misc]
    context: dict[str, Any] = {
        "job": job,
        "to": request.GET.get("to", ""),
        "desks": desks.exclude(status__in=lifecycle.REST_CODES).order_by("-pk"),
        "picked": {*request.GET.getlist("file")},
        "chosen": {*wholes(request.GET.getlist("output"))},
        "most": SHOWN,
        "outputs": _outputs(job)[1][:SHOWN] if job else [],
        "files": [] if job else _files(request),
    }
    return render(request, "files/send.html", context)


@login_required
@require_POST
def take_back(request: HttpRequest, public_id: str, pk: int) -> HttpResponse:
    """One that waits does not go any more; one that is through leaves the list."""
    work = workstation_owned(request, public_id)
    row = get_object_or_404(work.workstation.sent.select_related("workstation__workload"), pk=pk)
    sending.take_back(row, timezone.now())
    AuditEntry.note(request.user, "take back from workstation", work, address(request), id=public_id, file=row.name)
    return went(request, reverse("workstation-files", args=[public_id]))


# --- private ----------------------------------------------------------------------------------------------------------
def _send(request: HttpRequest) -> HttpResponse:
    work = workstation_owned(request, request.POST.get("to", ""))
    back = reverse("workstation-files", args=[work.public_id])
    try:
        sending.may(work.workstation, request.user)
        files = _chosen(request)
        made = sending.send(work.workstation, files, request.user, timezone.now()) if files else []
    except sending.Refused as why:
        messages.warning(request, str(why))
        return redirect(back)
    if made:
        AuditEntry.note(request.user, "send to workstation", work, address(request), id=work.public_id, files=len(made))
        messages.success(request, f"{plural(len(made), 'file')} sent to {work.name}.")
    return redirect(back)


def _chosen(request: HttpRequest) -> list[StoredFile]:
    """Files of the sender, and outputs taken over to them; what could not be is said in messages."""
    wanted = [text for text in request.POST.getlist("file") if text]
    files = list(stored.files_of(request.user).filter(public_id__in=wanted))
    if len(files) < len({*wanted}):
        messages.warning(request, "Some of these files are not among your files any more.")
    if "job" in request.POST:
        files += _taken(request, job_seen(request, request.POST["job"]))
    if not files and not wanted:
        messages.warning(request, "No file was chosen.")
    return files


def _taken(request: HttpRequest, job: Workload) -> list[StoredFile]:
    """The chosen outputs as files of the sender."""
    found, entries = _outputs(job)
    chosen = {*wholes(request.POST.getlist("output"))}
    wanted = [entry for entry in entries if entry.index in chosen]
    if len(wanted) > copies.TAKEN_FILES or sum(entry.size for entry in wanted) > copies.TAKEN_BYTES:
        most = f"{words.count(copies.TAKEN_FILES)} outputs and {words.size(copies.TAKEN_BYTES)}"
        messages.warning(request, f"At most {most} can be sent at once; choose fewer.")
        return []
    taken = []
    for entry in wanted:
        try:
            taken.append(_kept(request.user, found, entry))
        except (ValidationError, OSError, ValueError) as error:
            why = error.messages[0] if isinstance(error, ValidationError) else "it cannot be read from the storage"
            messages.warning(request, f"{entry.name[:80]}: {why}")
        except storing.NoRoom as full:
            messages.error(request, str(full))
            break
    return taken


def _kept(user: Any, found: Manifest, entry: Entry) -> StoredFile:
    """An output as a file of somebody."""
    bytes_ = streams.Stretch(lambda: found.open(entry), 0, entry.size)
    return storing.keep_once(user, clean_path(entry.name), entry.size, entry.sha256, bytes_.pieces(0, entry.size))


def _outputs(job: Workload) -> tuple[Manifest, list[Entry]]:
    """The saved files of a job."""
    found = manifest(job.public_id, job.attempt)
    return found, [] if job.job.outputs_deleted else [entry for entry in found.all if entry.kind == "file"]


def _files(request: HttpRequest) -> list[StoredFile]:
    """The newest, those that the address names first."""
    mine, named = stored.files_of(request.user), request.GET.getlist("file")[:SHOWN]
    first = list(mine.filter(public_id__in=named)) if named else []
    return first + [file for file in mine[:SHOWN] if file not in first]


urlpatterns = [
    path("files/send/", send, name="files-send"),
    path("workstations/<str:public_id>/sent/<int:pk>/back/", take_back, name="workstation-sent-back"),
]
