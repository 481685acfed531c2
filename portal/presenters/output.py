"""The Live output tab: which streams and attempts there are, which one is shown, and its end for browsers without JavaScript."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from jobs import logs, names
from jobs.lifecycle import Tone
from portal import words
from portal.forms.names import LONGEST_SHOWN
from portal.numbers import whole

from .facts import Facts
from .text import plural

FILE = "file:"
ATTEMPTS = 20
"""The latest ones are listed; preemption is not counted and may happen often."""


@dataclass(frozen=True)
class StreamRow:
    """One thing to read: stdout, a stream that the software names, any file of the job; or the same of another attempt."""

    name: str
    label: str
    href: str
    current: bool
    size: str
    more: str
    tone: str
    icon: str


@dataclass(frozen=True)
class Output:
    stream: str
    label: str
    attempt: int
    attempts: list[StreamRow]
    streams: list[StreamRow]
    files: list[StreamRow]
    tail: list[str]
    size: int
    empty: str
    seal: str


def shown(facts: Facts, stream: str = "", attempt: str = "") -> Output:
    """`stream` and `attempt` as the address says them; what is not there falls back to stdout of the latest."""
    asked = whole(attempt) or 0
    number = asked if 1 <= asked <= facts.work.attempt else facts.work.attempt
    stream = names.path(stream.replace("\0", "")[:LONGEST_SHOWN]) or "stdout"
    directory = logs.attempt_dir(facts.work.public_id, number)
    streams, files = _streams(facts, directory, stream, number)
    return Output(
        names.shown(stream),
        label_of(stream),
        number,
        _attempts(facts, number, stream),
        streams,
        files,
        _tail(directory, stream),
        logs.size(directory, stream),
        _empty(facts),
        _seal(directory, stream),
    )


def label_of(stream: str) -> str:
    return "Output" if stream == "stdout" else names.shown(stream.removeprefix(FILE))


def _streams(facts: Facts, directory: Path, stream: str, attempt: int) -> tuple[list[StreamRow], list[StreamRow]]:
    found = {one.name: one.size for one in logs.streams(directory)}
    named = ["stdout", *facts.job.followed_streams()]
    own = [
        _row(facts, name, found.get(name), stream, attempt)
        for name in dict.fromkeys([*named, *(n for n in found if not n.startswith(FILE))])
    ]
    listed = {FILE + file["path"]: file["size"] for file in facts.listing.get("files", [])[:200]} if attempt == facts.work.attempt else {}
    tails = {**listed, **{name: size for name, size in found.items() if name.startswith(FILE)}}
    if stream.startswith(FILE):
        tails.setdefault(stream, found.get(stream, 0))
    return own, [_row(facts, name, size, stream, attempt) for name, size in tails.items()]


def _row(facts: Facts, name: str, size: int | None, current: str, attempt: int) -> StreamRow:
    written = names.shown(name)
    href = _address(facts, stream=written, **({"attempt": attempt} if attempt != facts.work.attempt else {}))
    more = "command's output and errors" if name == "stdout" else ""
    tone, icon = (Tone.WORK, "activity") if facts.work.is_active and size else ("", "file-text")
    return StreamRow(written, label_of(name), href, name == current, words.size(size) if size is not None else "", more, tone, icon)


def _attempts(facts: Facts, number: int, stream: str) -> list[StreamRow]:
    """The newest first; none where there is only one."""
    last, written = facts.work.attempt, names.shown(stream)
    listed = range(last, max(0, last - ATTEMPTS), -1) if last > 1 else ()
    return [
        StreamRow(written, f"Attempt {one}", _address(facts, stream=written, attempt=one), one == number, "", "", "", "history")
        for one in listed
    ]


def _address(facts: Facts, **asked: Any) -> str:
    return f"{reverse('job-output', args=[facts.work.public_id])}?{urlencode(asked)}"


def _tail(directory: Path, stream: str) -> list[str]:
    try:
        data = logs.tail_lines(logs.path_of(directory, stream), 200)
    except OSError:
        return []
    return data.decode("utf-8", "replace").replace("\0", "\u2400").splitlines()


def _empty(facts: Facts) -> str:
    if facts.is_over:
        return "Nothing was written here."
    if not facts.cluster or not facts.cluster.started:
        return "The command has not started yet; its output appears here as it is written."
    return "Nothing is written here yet."


def _seal(directory: Path, stream: str) -> str:
    """18,443,902 bytes, complete, sha256 ...; or which bytes are missing and why."""
    seal = logs.complete(directory, stream)
    if seal is None:
        return ""
    if seal.complete:
        return f"{words.count(seal.size)} bytes, complete, sha256 {seal.sha256}"
    gaps = logs.gaps(directory, stream)
    lost = sum(gap.end - gap.start for gap in gaps)
    if gaps:
        first, size = gaps[0], words.count(seal.size)
        where = f"the first from {words.count(first.start)} to {words.count(first.end)}: {first.reason}"
        return f"{size} bytes, {plural(len(gaps), 'gap')} of {words.count(lost)} bytes, {where}"
    if seal.agent_size is None:
        return f"{words.count(seal.size)} bytes; the node was gone before it said whether that is all"
    return f"{words.count(seal.size)} of {words.count(seal.agent_size)} bytes that the node had; the checksums differ"
