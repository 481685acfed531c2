"""The Files tab: inputs, outputs as they come and after, what was skipped and why."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlencode

from django.urls import reverse

from jobs import names
from jobs.lifecycle import Tone
from jobs.outputs import Entry
from portal import words

from .facts import Facts
from .text import plural

PAGE = 200
IMAGES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp"}


@dataclass(frozen=True)
class FileRow:
    """One file; `href` downloads, `view` shows it, `tail` follows it in the live output."""

    name: str
    size: int | None
    state: str
    tone: str = ""
    icon: str = "file"
    href: str = ""
    view: str = ""
    tail: str = ""
    at: datetime | None = None
    more: str = ""


@dataclass(frozen=True)
class Inputs:
    rows: list[FileRow]
    says: str


@dataclass(frozen=True)
class Outputs:
    rows: list[FileRow]
    says: str
    zip: str = ""
    search: str = ""
    newer: str = ""
    older: str = ""
    empty: str = ""
    note: str = ""


def inputs(facts: Facts) -> Inputs:
    rows = [
        FileRow(
            use.name,
            use.file.size,
            "unpacked in the job folder" if use.unpack else "",
            icon="file-zip" if use.unpack else "file",
            href=reverse("job-input", args=[facts.work.public_id, use.pk]),
            at=use.file.made,
        )
        for use in facts.inputs
    ]
    return Inputs(rows, f"{plural(len(rows), 'file')}, {words.size(facts.input_bytes)}")


def outputs(facts: Facts, search: str = "", start: int = 0) -> Outputs:
    """Saved files once there are any; before that, the job folder as its node last told."""
    if facts.job.outputs_deleted:
        return Outputs([], "deleted", empty="The outputs of this job were deleted. Its history and its bill are kept.")
    if facts.manifest.all:
        return _saved(facts, search, start)
    if facts.is_over:
        return Outputs(
            [], "none", search=search, empty="No file was saved." if facts.cluster else "It never ran, so there is nothing here."
        )
    return _living(facts, search)


def is_image(name: str) -> str:
    """The type of an image that browsers show safely, by its name; else empty."""
    return next((kind for end, kind in IMAGES.items() if name.lower().endswith(end)), "")


def _saved(facts: Facts, search: str, start: int) -> Outputs:
    manifest, public = facts.manifest, facts.work.public_id
    found = manifest.entries(start, PAGE + 1, search)
    rows = [_entry(public, entry) for entry in found[:PAGE]]
    base = reverse("job-files", args=[public])
    older = f"{base}?{urlencode({'q': search, 'start': start + PAGE})}" if len(found) > PAGE else ""
    newer = f"{base}?{urlencode({'q': search, 'start': max(0, start - PAGE)})}" if start else ""
    odd = [sum(entry.kind == kind for entry in manifest.all) for kind in ("skipped", "failed")]
    says = f"{plural(manifest.files, 'file')}, {words.size(manifest.bytes)}" + ("" if manifest.complete else " so far")
    note = " ".join(
        filter(
            None,
            [
                f"{plural(odd[0], 'entry', 'entries')} skipped: links, sockets and devices are never followed." if odd[0] else "",
                f"{plural(odd[1], 'file')} could not be saved." if odd[1] else "",
            ],
        )
    )
    zip_href = reverse("job-zip", args=[public]) if manifest.files and (manifest.complete or facts.is_over) else ""
    empty = f"No file has \u201c{search}\u201d in its name." if search and not rows else ""
    return Outputs(rows, says, zip_href, search, newer, older, empty, note)


def _entry(public: str, entry: Entry) -> FileRow:
    at = datetime.fromtimestamp(entry.mtime, UTC) if entry.mtime else None
    if entry.kind == "dir":
        return FileRow(f"{entry.name.rstrip('/')}/", None, "empty folder", icon="folder", at=at)
    if entry.kind == "skipped":
        return FileRow(entry.name, None, "skipped", Tone.LOOK, "file-unknown", more=entry.detail)
    if entry.kind == "failed":
        return FileRow(entry.name, entry.size or None, "not saved", Tone.FAIL, "file-broken", more=entry.detail)
    icon = "photo" if is_image(entry.name) else "file-check"
    href, view = (reverse(name, args=[public, entry.index]) for name in ("job-file", "job-file-view"))
    return FileRow(entry.name, entry.size, "saved", Tone.PASS, icon, href, view, at=at)


def _living(facts: Facts, search: str) -> Outputs:
    """What the head node last told of the job folder: newest files first, at most 2,000."""
    told = facts.listing
    inputs = {names.path(use.name) for use in facts.inputs}
    found = [file for file in told.get("files", []) if search.lower() in names.shown(file["path"]).lower()]
    base = reverse("job-output", args=[facts.work.public_id])
    rows = [
        FileRow(
            names.shown(file["path"]),
            file["size"],
            "input" if file["path"] in inputs else "on the node",
            "" if file["path"] in inputs else Tone.WORK,
            "file",
            tail=f"{base}?{urlencode({'stream': 'file:' + names.shown(file['path'])})}",
        )
        for file in found[:PAGE]
    ]
    says = f"{plural(told.get('files_total', 0), 'file')}, {words.size(told.get('bytes_total', 0))} on the node"
    empty = (
        f"No file has \u201c{search}\u201d in its name."
        if search
        else "Files appear here while the command writes them, and are saved when it ends."
    )
    note = f"The newest {PAGE} of {words.count(len(found))} are shown." if len(found) > PAGE else ""
    return Outputs(rows, says if rows else "none yet", search=search, empty="" if rows else empty, note=note)
