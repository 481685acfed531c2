"""What is asked before something goes, with what would be lost, counted at that moment."""

from __future__ import annotations

from django.urls import reverse

from jobs import logs, names
from portal import words

from .facts import Facts
from .sentences import saved_of
from .text import plural
from .values import Question

SHOWN = 30


def stop(facts: Facts, force: bool) -> Question:
    """Graceful: what happens. Forced: which files are given up."""
    work = facts.work
    action, back = reverse("job-stop", args=[work.public_id]), reverse("job", args=[work.public_id])
    if facts.cluster is None:
        return Question(
            f"Stop {work.name}?",
            "Stop",
            action,
            back,
            "Nothing runs yet. It ends at once and costs nothing.",
            "player-stop",
            keep="Let it wait",
        )
    if force:
        text = (
            "Its processes are killed at once and the cluster is handed back. Files that are not saved yet are given up; "
            + _saved_words(facts)
        )
        return Question(
            f"Force stop {work.name}?",
            "Force stop",
            action,
            back,
            text,
            "bolt",
            "fail",
            "Let it save",
            loses=_unsaved(facts),
            fields=[("force", "1")],
        )
    grace = facts.job.software.software.grace
    text = (
        f"The command is told to end and has {words.duration(grace)} to do so; what ignores that is killed. "
        "All files of the job folder are saved, then the cluster is handed back."
    )
    return Question(f"Stop {work.name}?", "Stop", action, back, text, "player-stop", keep="Let it run")


def delete(facts: Facts) -> Question:
    """The job with its outputs and logs; the ledger stays."""
    work = facts.work
    action, back = reverse("job-delete", args=[work.public_id]), reverse("job-settings", args=[work.public_id])
    loses = [("The job, its settings and history", "")]
    if facts.cluster and facts.manifest.files:
        loses.append((plural(facts.manifest.files, "output file"), words.size(facts.manifest.bytes)))
    size = sum(stream.size for stream in logs.streams(facts.logs_dir))
    if size:
        loses.append(("Its output as it was written", words.size(size)))
    kept = sum(use.file.deleted is None for use in facts.inputs)
    inputs = f" Its {plural(kept, 'input file')} {'stays' if kept == 1 else 'stay'} in My files." if kept else ""
    text = f"What it cost stays in the ledger.{inputs}"
    return Question(f"Delete {work.name}?", "Delete", action, back, text, "trash", "fail", "Keep it", loses=loses)


def _unsaved(facts: Facts) -> list[tuple[str, str]]:
    """Files on the node that are not among the saved ones, newest first."""
    saved = {entry.path for entry in facts.manifest.all if entry.kind == "file"}
    inputs = {names.path(use.name) for use in facts.inputs}
    files = [file for file in facts.listing.get("files", []) if file["path"] not in saved and file["path"] not in inputs]
    rows = [(names.shown(file["path"]), words.size(file["size"])) for file in files[:SHOWN]]
    rest = max(0, int(facts.listing.get("files_total") or 0) - len(inputs) - len(saved) - len(rows))
    return [*rows, (f"and {plural(rest, 'more file')}", "")] if rest and rows else rows


def _saved_words(facts: Facts) -> str:
    saved, total = saved_of(facts)
    return f"{words.count(saved)} of {plural(total, 'file')} are saved." if total else "which there are is not known yet."
