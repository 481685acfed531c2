"""Ranges of a log by HTTP: bytes, lines, search, and the whole of it as a download.

The one idea: an offset or a line number is all that a viewer needs to show any part of a log of any size;
nothing here reads more than it answers with, except a search, which has a deadline and says where it stopped.
"""

from __future__ import annotations

from pathlib import Path

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.urls import path
from django.views.decorators.http import require_safe

from jobs import logs, names
from jobs.models import Workload
from portal import streams
from portal.consumers.log import is_stream
from portal.numbers import whole

MOST_BYTES = 4 << 20
MOST_LINES = 10_000
MOST_HITS = 100
MOST_TEXT = 1000  # characters that can be searched for


class Asked:
    """The log that an address means, for somebody who may see it; 404 for everybody else."""

    def __init__(self, request: HttpRequest, public_id: str):
        work = Workload.objects.visible_to(request.user).filter(public_id=public_id).first()
        if work is None:
            raise Http404("There is no such job, or it is not yours to see.")
        attempt = number(request, "attempt", work.attempt)
        self.stream = names.path(request.GET.get("stream", "stdout"))
        if not 1 <= attempt <= work.attempt or not is_stream(self.stream):
            raise Http404("There is no such log.")
        self.name = f"{work.public_id}-{attempt}-{self.stream}.log"
        self.directory = logs.attempt_dir(work.public_id, attempt)
        newest = (logs.generations(self.directory, self.stream) or [0])[-1]
        self.generation = number(request, "generation", newest)

    @property
    def path(self) -> Path:
        return logs.path_of(self.directory, self.stream, self.generation)


@require_safe
def log_bytes(request: HttpRequest, public_id: str) -> HttpResponse:
    """Raw bytes `from` to `to`, at most 4 MiB, ending early at the log's end and at a gap."""
    asked = Asked(request, public_id)
    start = number(request, "from", 0)
    end = min(number(request, "to", start + MOST_BYTES), start + MOST_BYTES)
    data = logs.read(asked.directory, asked.stream, start, end, generation=asked.generation)
    response = HttpResponse(data, content_type="application/octet-stream")
    response["X-Content-Type-Options"] = "nosniff"
    response["Cache-Control"] = "private, no-cache"
    return response


@require_safe
def log_lines(request: HttpRequest, public_id: str) -> JsonResponse:
    """{"first", "offsets", "total"}: where `count` lines from number `line` start; one more offset says where they end."""
    asked = Asked(request, public_id)
    first, count = number(request, "line", 0), min(number(request, "count", 100), MOST_LINES)
    found = logs.lines(asked.path, first, count + 1) if count else logs.Lines(first, [], logs.total_lines(asked.path))
    offsets = found.offsets
    if offsets and len(offsets) <= count:
        offsets = [*offsets, logs.size(asked.directory, asked.stream, generation=asked.generation)]
    return JsonResponse({"first": found.first, "offsets": offsets, "total": found.total})


@require_safe
def log_search(request: HttpRequest, public_id: str) -> JsonResponse:
    """{"hits": [[line, offset]], "more", "last"}: lines after number `after` with the text `q`; go on after `last`."""
    asked = Asked(request, public_id)
    text = request.GET.get("q", "")[:MOST_TEXT]
    found = logs.search(asked.path, text, number(request, "after", -1), MOST_HITS)
    return JsonResponse({"hits": found.hits, "more": found.more, "last": found.last})


@require_safe
def log_download(request: HttpRequest, public_id: str) -> HttpResponseBase:
    """The whole log as it is now; a line stands for what is not kept."""
    asked = Asked(request, public_id)
    size = logs.size(asked.directory, asked.stream, generation=asked.generation)
    name = asked.stream.rsplit("/", 1)[-1] if asked.stream.startswith("file:") else asked.name
    etag = f"{public_id}-{asked.generation}-{size}"
    return streams.response(request, parts(asked, size), filename=name, content_type="text/plain; charset=utf-8", etag=etag)


def parts(asked: Asked, size: int) -> list[streams.Part]:
    """What is kept up to a size, with a line for each gap."""
    found: list[tuple[int, streams.Part]] = []
    for start, end in logs.kept(asked.path, 0, size):
        found.append((start, streams.of_file(asked.path, start, end)))
    for gap in logs.gaps(asked.directory, asked.stream, generation=asked.generation):
        words = f"\n[{gap.end - gap.start} bytes from offset {gap.start} on are not kept: {gap.reason}]\n"
        found.append((gap.start, words.encode(errors="surrogateescape")))
    return [part for _, part in sorted(found, key=lambda one: one[0])]


def number(request: HttpRequest, name: str, default: int) -> int:
    """A number of the address, -1 among them; whatever is none, or absurd, is the default."""
    text = request.GET.get(name, "")
    found = -1 if text == "-1" else whole(text)
    return default if found is None else found


urlpatterns = [
    path("<str:public_id>/log/bytes", log_bytes, name="log-bytes"),
    path("<str:public_id>/log/lines", log_lines, name="log-lines"),
    path("<str:public_id>/log/search", log_search, name="log-search"),
    path("<str:public_id>/log/download", log_download, name="log-download"),
]
