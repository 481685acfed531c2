"""Where a line of a job's output is to be seen: evidence and alarms link there."""

from __future__ import annotations

from urllib.parse import urlencode

from django.urls import reverse

from .facts import Facts


def line_of(facts: Facts, file: str, line: int | None) -> str:
    """The address of a line: in the log if the file is followed, in the viewer if it is among the outputs; else empty."""
    stream = _stream_of(facts, file)
    if stream:
        base = reverse("job-output", args=[facts.work.public_id])
        query = "" if stream == "stdout" else "?" + urlencode({"stream": stream})
        return f"{base}{query}" + (f"#L{line}" if line else "")
    entry = facts.manifest.named(file) if facts.is_over else None
    return reverse("job-file-view", args=[facts.work.public_id, entry.index]) if entry and entry.kind == "file" else ""


def _stream_of(facts: Facts, file: str) -> str:
    """The stream that carries this file's bytes; verdicts know it by its path, alarms by its name."""
    streams = facts.job.followed_streams()
    if file == "stdout" or file in streams:
        return file
    return next((name for name, path in streams.items() if path == file), "")
