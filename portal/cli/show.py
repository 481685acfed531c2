"""What is printed: tables and progress for people, JSON for programs (--json). Notes go to stderr, results to stdout."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn
from rich.table import Table

out, notes = Console(highlight=False), Console(stderr=True, highlight=False)
TONES = {"completed": "green", "failed": "red", "stopped": "yellow"}


def as_json(value: Any) -> None:
    click.echo(json.dumps(value, indent=2))


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    made = Table(box=None, pad_edge=False)
    for name in head:
        made.add_column(name, overflow="fold")
    for row in rows:
        made.add_row(*(str(cell) for cell in row))
    out.print(made)


def line(name: str) -> str:
    """A file's name as one line of text."""
    return "".join(letter if letter.isprintable() else "_" for letter in name)


def progress() -> Progress:
    """Bars on stderr; nothing where stderr is no terminal."""
    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(binary_units=True), TransferSpeedColumn(), TimeRemainingColumn()
    return Progress(*columns, console=notes, transient=True, disable=not notes.is_terminal)


def standing(job: dict[str, Any]) -> str:
    """Where a job stands, with its colour."""
    tone = TONES.get(job["outcome"] or "", "blue")
    return f"[{tone}]{job['headraceStatus']}[/{tone}]"


def about(job: dict[str, Any]) -> str:
    """One line on why: what it waits for, or how it ended."""
    if job["waitsFor"]:
        return str(job["waitsFor"])
    if job["outcome"] is None:
        return ""
    code = "" if job["exitCode"] is None else f"exit {job['exitCode']}"
    return ", ".join(part for part in (code, job["failedStage"] or "", job["detail"] or job["reason"] or "", job["verdict"] or "") if part)


def size(count: int) -> str:
    amount = float(count)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} TiB"
