"""The home of a workstation as its last copies have it: look, download, take to My files, make a job of a folder.

What is in a home is its owner's: others see how old the copies are, and nothing of what is in them.
"""

from __future__ import annotations

from typing import Any

from asgiref.sync import sync_to_async
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import path, reverse
from django.views.decorators.http import require_POST, require_safe

from jobs import homes, names, stored
from jobs.models import AuditEntry, Coretype, HomeCopy, Job, JobInput, SoftwareVersion, StoredFile, Workload
from portal import copies, storing, streams, words
from portal.forms import usual
from portal.numbers import wholes
from portal.presenters.text import plural
from portal.presenters.workstations import home as shown

from .access import address, workstation_owned
from .asking import went
from .workstations import tab

SHOWN, PICKS = 1000, 50


@login_required
@require_safe
def files(request: HttpRequest, public_id: str) -> HttpResponse:
    return tab(request, public_id, "files", rows=shown.rows, folder=lambda facts: _folder(request, facts), mine=lambda _: _mine(request))


@login_required
@require_safe
async def download(request: HttpRequest, public_id: str, code: str) -> HttpResponseBase:
    """The whole copy, a tar."""
    copy = await sync_to_async(_copy)(request, public_id, code)
    part = streams.Stretch(lambda: homes.open_copy(copy), 0, copy.size)
    return streams.of_users(streams.response(request, [part], filename=f"{public_id}-home-{code[:8]}.tar", etag=copy.sha256 or code))


@login_required
@require_safe
async def one(request: HttpRequest, public_id: str, code: str, index: int) -> HttpResponseBase:
    """One file of it."""
    copy = await sync_to_async(_copy)(request, public_id, code)
    entry = (await sync_to_async(_contents)(copy)).at(index)
    if entry is None or entry.kind != "file":
        raise Http404("There is no such file in this copy.")
    name = names.path(entry.name).rpartition("/")[2]
    return streams.of_users(streams.response(request, [copies.stretch(copy, entry)], filename=name, etag=f"{code}-{index}"))


@login_required
@require_POST
def take(request: HttpRequest, public_id: str, code: str) -> HttpResponse:
    """Chosen files, or a folder with all that is below it, over to My files."""
    copy = _copy(request, public_id, code)
    chosen, root = _chosen(request, copy)
    taken = _taken(request, copy, chosen, root)
    if taken:
        AuditEntry.note(request.user, "take from home", copy.workstation.workload, address(request), id=public_id, files=len(taken))
        messages.success(request, f"{plural(len(taken), 'file')} taken to My files.")
    return went(request, reverse("files") if taken else reverse("workstation-files", args=[public_id]))


@login_required
@require_POST
def make_job(request: HttpRequest, public_id: str, code: str) -> HttpResponse:
    """A draft of a job whose inputs are the files of a folder, opened in the form."""
    copy = _copy(request, public_id, code)
    chosen, root = _chosen(request, copy)
    version, kind = usual.software(), usual.hardware(request.user)
    taken = _taken(request, copy, chosen, root) if version and kind else []
    if not taken or version is None or kind is None:
        return redirect("workstation-files", public_id)
    draft = _draft(request.user, copy, taken, version, kind, root)
    return redirect(f"{reverse('job-new')}?draft={draft.public_id}")


# --- private ----------------------------------------------------------------------------------------------------------
def _copy(request: HttpRequest, public_id: str, code: str) -> HomeCopy:
    """A whole copy, for the owner alone."""
    work = workstation_owned(request, public_id)
    found = HomeCopy.objects.filter(workstation=work.workstation, whole__isnull=False).select_related("workstation__workload__project")
    return get_object_or_404(found, code=code)


def _contents(copy: HomeCopy) -> copies.Contents:
    try:
        return copies.contents(copy)
    except (FileNotFoundError, ValueError) as error:
        raise Http404("The storage does not have this copy any more, or it is damaged.") from error


def _mine(request: HttpRequest) -> list[StoredFile]:
    """What can be sent into its home from here."""
    return list(stored.files_of(request.user)[:PICKS])


def _folder(request: HttpRequest, facts: Any) -> dict[str, Any] | None:
    """The list of one folder of one copy; None for whom it is none of their business, and without a copy."""
    code = request.GET.get("copy", "")
    copy = next((one for one in facts.copies if one.code == code), facts.home)
    if copy is None or facts.work.owner != request.user:
        return None
    inside = request.GET.get("in", "").replace("\0", "").strip("/")[:2000]
    try:
        found = copies.contents(copy)
    except (FileNotFoundError, ValueError):
        return {"copy": copy, "lost": True, "crumbs": [], "items": []}
    items = found.folder(inside)
    parts = inside.split("/") if inside else []
    crumbs = [(part, "/".join(parts[: at + 1])) for at, part in enumerate(parts)]
    listed = {"items": items[:SHOWN], "more": max(0, len(items) - SHOWN), "cut": found.cut, "files": len(found.below(inside))}
    return {"copy": copy, "in": inside, "up": "/".join(parts[:-1]), "crumbs": crumbs, **listed}


def _chosen(request: HttpRequest, copy: HomeCopy) -> tuple[list[copies.Entry], str]:
    """The files that a post names by their places, or all of its folder; and the folder that names begin at."""
    found, inside = _contents(copy), request.POST.get("in", "").replace("\0", "").strip("/")[:2000]
    entries = [entry for at in wholes(request.POST.getlist("pick")) if (entry := found.at(at)) and entry.kind == "file"]
    for folder in request.POST.getlist("folder"):
        entries += found.below(folder.strip("/")[:2000])
    return entries or found.below(inside), inside


def _taken(request: HttpRequest, copy: HomeCopy, entries: list[copies.Entry], root: str) -> list[StoredFile]:
    """What could be taken over; words for the rest are among the messages."""
    try:
        taken, wrong = copies.take(request.user, copy, entries, root)
    except copies.TooMuch:
        most = f"{words.count(copies.TAKEN_FILES)} files and {words.size(copies.TAKEN_BYTES)}"
        messages.warning(request, f"At most {most} can be taken at once; choose fewer, or download the copy.")
        return []
    except storing.NoRoom as full:
        messages.error(request, str(full))
        return []
    for why in wrong[:5]:
        messages.warning(request, why)
    if not taken and not wrong:
        messages.warning(request, "There is no file in this folder.")
    return taken


def _draft(user: Any, copy: HomeCopy, taken: list[StoredFile], version: SoftwareVersion, kind: Coretype, root: str) -> Workload:
    project = copy.workstation.workload.project
    if project is None or not project.memberships.filter(user=user).exists():
        project = usual.project(user)
    name = root.rpartition("/")[2] or copy.workstation.workload.name
    with transaction.atomic():
        asked = {"coretype": kind, "nodes": 1, "cores": 1, "walltime": kind.walltime_default, "project": project}
        work = Workload.objects.create(owner=user, name=name[:200], **asked)
        command = version.command or version.software.command or "true"
        job = Job.objects.create(workload=work, software=version, commands=command.split("\n"))
        JobInput.objects.bulk_create([JobInput(job=job, file=file, name=file.name, order=at) for at, file in enumerate(taken)])
    return work


urlpatterns = [
    path("<str:public_id>/files/", files, name="workstation-files"),
    path("<str:public_id>/files/<str:code>/", download, name="workstation-copy"),
    path("<str:public_id>/files/<str:code>/take/", take, name="workstation-take"),
    path("<str:public_id>/files/<str:code>/job/", make_job, name="workstation-job"),
    path("<str:public_id>/files/<str:code>/<int:index>/", one, name="workstation-copy-file"),
]
