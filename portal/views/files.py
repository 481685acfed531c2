"""My files: what somebody uploaded, which jobs use it, download and delete.

One idea: a file belongs to one person. Nobody else reaches it by its id, save admins; members of a project get it as the
input of a job that they may see.
"""

from __future__ import annotations

from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.core.files.storage import default_storage
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from jobs import names, stored
from jobs.models import AuditEntry, StoredFile
from portal import streams
from portal.presenters import stored as shown

from . import taking
from .access import address, may_make
from .asking import ask
from .counting import up_to_exact
from .paging import page_of, searched


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def files(request: HttpRequest) -> HttpResponse:
    """The list; POST takes small files from a form without JavaScript."""
    if request.method == "POST":
        may_make(request)
        return _take(request)
    q = searched(request)
    mine = stored.files_of(request.user)
    found = mine.filter(name__icontains=q) if q else mine
    page = page_of(found, request, q=q)
    context = {
        "rows": shown.rows(page.rows, request.user), "newer": page.newer, "older": page.older, "q": q, "count": up_to_exact(found),
        "any": bool(page.rows) or mine.exists(), "chunk": settings.UPLOAD_CHUNK,
    }
    part = request.htmx and request.htmx.target == "files-list"  # type: ignore[attr-defined]
    return render(request, "files/_list.html" if part else "files/files.html", context)


@login_required
@require_safe
def arrived(request: HttpRequest) -> HttpResponse:
    """The row of one file, for a page that has just uploaded it."""
    file = get_object_or_404(stored.files_of(request.user), public_id=request.GET.get("file", ""))
    return render(request, "files/_arrived.html", {"file": file})


@login_required
@require_safe
async def download(request: HttpRequest, public_id: str) -> HttpResponseBase:
    file = await sync_to_async(_there)(request, public_id)
    part = streams.Stretch(lambda: default_storage.open(file.key, "rb"), 0, file.size)  # type: ignore[arg-type, return-value]
    return streams.of_users(streams.response(request, [part], filename=names.path(file.name).rpartition("/")[2], etag=file.sha256))


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, public_id: str) -> HttpResponse:
    """GET asks and names the jobs that use it, POST does."""
    file = _file(request, public_id)
    if stored.needed_by(file).exists():
        messages.warning(request, f"{shown.words_of(file.name)} can't be deleted: {shown.used(file, request.user)}")
        return redirect("files")
    if request.method != "POST":
        return ask(request, shown.delete(file, request.user))
    try:
        _delete(request, file)
    except stored.InUse:
        messages.warning(request, f"{shown.words_of(file.name)} can't be deleted: {shown.used(file, request.user)}")
    return redirect("files")


# --- private ----------------------------------------------------------------------------------------------------------
def _file(request: HttpRequest, public_id: str) -> StoredFile:
    """The file, for its owner and admins; 404 for everybody else."""
    found = StoredFile.objects.filter(deleted__isnull=True)
    if not (request.user.is_staff or request.user.is_superuser):  # type: ignore[union-attr]
        found = found.filter(owner=request.user)  # type: ignore[misc]
    return get_object_or_404(found, public_id=public_id)


def _there(request: HttpRequest, public_id: str) -> StoredFile:
    file = _file(request, public_id)
    if not default_storage.exists(file.key):
        raise Http404("The storage does not have its bytes any more.")
    return file


def _delete(request: HttpRequest, file: StoredFile) -> None:
    with transaction.atomic():
        gone = stored.delete(file, timezone.now())
        AuditEntry.note(request.user, "delete file", file.name, address(request), id=file.public_id, size=file.size, bytes_removed=gone)
    stored.forget_unused(file.owner)
    kept = "" if gone else " Jobs that are over keep it among their inputs."
    messages.success(request, f"{shown.words_of(file.name)} was deleted.{kept}")


def _take(request: HttpRequest) -> HttpResponse:
    """What a form without JavaScript brought: all that is good, and a word for each that is not."""
    wrong = [why for why in (_keep(request, sent) for sent in request.FILES.getlist("upload")) if why]
    for why in wrong:
        messages.error(request, why)
    taken = len(request.FILES.getlist("upload")) - len(wrong)
    if taken:
        messages.success(request, f"{taken} {'file was' if taken == 1 else 'files were'} uploaded.")
    elif not wrong:
        messages.warning(request, "No file was chosen.")
    return redirect("files")


def _keep(request: HttpRequest, sent: Any) -> str:
    """Store one file; why not, or empty."""
    try:
        taking.keep(request, sent)
    except ValidationError as error:
        return str(error.messages[0])
    return ""


urlpatterns = [
    path("files/", files, name="files"),
    path("files/arrived/", arrived, name="file-arrived"),
    path("files/<str:public_id>/", download, name="file"),
    path("files/<str:public_id>/delete/", delete, name="file-delete"),
]
