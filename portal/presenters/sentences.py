"""What each stage says: one sentence, and the evidence in small below it.

One idea: only what is known is said. A number that nobody reported is left out, never guessed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from jobs import lifecycle
from jobs.lifecycle import Tone
from portal import words

from . import course
from .endings import explained
from .facts import SILENT, Facts
from .text import clock_of, cut, plural
from .values import Part


@dataclass(frozen=True)
class Says:
    """Sentence, evidence, a link, a bar in percent; `word` and `tone` override those of the stage's standing."""

    text: str = ""
    more: str = ""
    part: Part | None = None
    link: tuple[str, str] | None = None  # words, name of the tab or "#fragment"
    bar: float | None = None
    bar_words: str = ""
    word: str = ""
    tone: str = ""


def of(facts: Facts, code: str, kind: str) -> Says:
    """What the stage `code`, which stands as `kind`, says."""
    if kind == "skipped":
        return Says("Not needed" if facts.is_over else "Skipped")
    if kind == "failed":
        return _failed(facts, code)
    speak: Callable[[Facts, str], Says] = {
        lifecycle.QUEUED: _queued,
        lifecycle.VALIDATING: _validating,
        lifecycle.STARTING: _starting,
        lifecycle.RUNNING: _running,
        lifecycle.STOPPING: _stopping,
    }[code]
    return speak(facts, kind)


def silent(facts: Facts) -> str:
    """What is said when nodes should report and do not."""
    count = len(facts.silent)
    first = min(facts.heard[node] for node in facts.silent)
    who = "The node was" if count == len(facts.heard) == 1 else f"{plural(count, 'node')} {'was' if count == 1 else 'were'}"
    last = clock_of(first, facts.now)
    return f"{who} last heard at {last}, over {SILENT} s ago. It may come back by itself; if not, it is given up and the job ends as lost."


# --- one stage each ---------------------------------------------------------------------------------------------------
def _failed(facts: Facts, code: str) -> Says:
    text, more = explained(facts)
    link = ("Findings", "#findings") if code == lifecycle.VALIDATING and facts.check and facts.check.findings else None
    if code == lifecycle.RUNNING:
        link = ("Output", "output")
    return Says(text, more, link=link)


def _queued(facts: Facts, kind: str) -> Says:
    if kind == "waiting":
        gate = facts.holding
        if gate is None:
            return Says("Next in line: everything it needs is there", word="Waiting")
        word = {
            "coretype": "Waiting for hardware",
            "budget": "Waiting for budget",
            "capacity": "Waiting for capacity",
            "limits": "Waiting: at a limit",
            "place": "Waiting in line",
        }.get(gate.code, "Waiting")
        return Says(gate.sentence, gate.more, word=word)
    if kind == "not yet":
        return Says("Waits for hardware and for a budget that can pay the first hour")
    cluster = facts.cluster
    if cluster is None:
        return Says("Left the queue" if kind == "passed" else "Stopped while it waited")
    paid = f"First hour of {words.money(cluster.price * cluster.total_cores)} could be paid"
    return Says(f"{plural(cluster.total_cores, 'core')} of {facts.work.coretype} found", ". ".join(filter(None, (paid, facts.taken))))


def _validating(facts: Facts, kind: str) -> Says:
    files = plural(len(facts.inputs), "file")
    check = facts.check
    if check is None or check.findings is None:
        if kind == "passed":
            return Says(f"{files} and the command")
        if kind == "working" or check is not None:
            return Says(f"Checks {files} and the command", word="" if kind == "working" else "Already at it")
        return Says(f"{files} and the command will be checked")
    counts = f"{files}, {plural(check.errors, 'error')}, {plural(check.warnings, 'warning')}"
    link = ("Findings", "#findings") if check.findings else None
    if kind == "not yet":
        return Says(counts, "Checked at submit; the result is used again", word="Already checked", link=link)
    return Says(counts, link=link)


def _starting(facts: Facts, kind: str) -> Says:
    if kind == "not yet":
        size = f" ({words.size(facts.input_bytes)})" if facts.inputs else ""
        return Says(f"{plural(facts.work.nodes, 'node')}, {plural(len(facts.inputs), 'file')} to stage{size}")
    cluster = facts.cluster
    if cluster is None:
        return Says(f"Asks for {plural(facts.work.nodes, 'node')} of {facts.work.coretype}")
    if kind != "working":
        staged = f", {plural(len(facts.inputs), 'file')} staged" if cluster.staged and facts.inputs else ""
        return Says(
            f"{len(facts.nodes)} of {plural(cluster.nodes_wanted, 'node')} up{staged}", words.size(facts.input_bytes) if staged else ""
        )
    return _coming_up(facts, cluster)


def _coming_up(facts: Facts, cluster: Any) -> Says:
    up = f"{len(facts.nodes)} of {plural(cluster.nodes_wanted, 'node')} up"
    if cluster.unknown_since:
        return Says(
            f"{up}; state unknown",
            f"The backend could not be asked since {clock_of(cluster.unknown_since, facts.now)}. Nothing is given up for that.",
        )
    if not facts.nodes:
        eta = f" Expected about {clock_of(cluster.eta, facts.now)}." if cluster.eta and cluster.eta > facts.now else ""
        return Says(f"{up}: hardware is asked for", (cut(cluster.trouble) + eta).strip() or "Takes minutes in a cloud; nothing is wrong.")
    if cluster.staged:
        return Says(f"{up}, {plural(len(facts.inputs), 'file')} staged", "The command starts when every node is up.")
    return _staging(up, cluster.staging)


def _staging(up: str, staging: dict[str, Any]) -> Says:
    files, of_files = staging.get("files", 0), staging.get("of_files", 0)
    done, total = staging.get("bytes", 0), staging.get("of_bytes", 0)
    if not of_files:
        return Says(up, "Inputs are about to be staged.")
    says = f"{up}, {words.count(files)} of {plural(of_files, 'file')} staged"
    return Says(
        says,
        f"{words.size(done)} of {words.size(total)}",
        bar=100 * done / total if total else 0,
        bar_words=f"{words.size(done)} of {words.size(total)} staged",
    )


def _running(facts: Facts, kind: str) -> Says:
    if kind == "not yet":
        return Says("The command starts when the cluster is up")
    if kind != "working":
        return _ran(facts)
    tab = ("Live output", "output")
    if facts.wants_stop:
        return Says("A stop was asked for", "The command is being told to end.", link=tab, word="Stopping")
    cluster = facts.cluster
    if cluster is None or cluster.started is None:
        return Says("The command is about to start", link=tab)
    end = f"Ends at the latest {clock_of(cluster.walltime_until, facts.now)}, when its walltime is over." if cluster.walltime_until else ""
    if facts.last_line is None:
        return _progress(facts, Says("The command runs; no output yet", end, link=tab))
    return _progress(facts, Says("The command runs", end, part=Part("Last output", when=facts.last_line), link=tab))


def _progress(facts: Facts, plain: Says) -> Says:
    """What the output itself says of the way that is done, where it does."""
    alarm, text, percent = facts.progress.get("alarm"), course.says(facts), facts.progress.get("percent")
    if text:
        plain = replace(plain, text=text, bar=percent, bar_words=text)
    if alarm:
        plain = replace(plain, text=cut(alarm["message"]), word="Needs a look", tone=Tone.LOOK)
    return plain


def _ran(facts: Facts) -> Says:
    if not command_over(facts):
        return Says("The command is being told to end", link=("Live output", "output"))
    exit = facts.cluster.exit if facts.cluster else {}
    if exit.get("signal"):
        text = f"Ended by signal {exit['signal']}"
    elif exit.get("code") is not None:
        text = f"Exit code {exit['code']}"
    else:
        text = "The command has ended"
    left = exit.get("leftovers") or 0
    more = [str(facts.progress.get("text", "")), f"{plural(left, 'leftover process', 'leftover processes')} ended" if left else ""]
    return Says(text, ". ".join(filter(None, more)), link=("Output", "output"))


def _stopping(facts: Facts, kind: str) -> Says:
    if kind == "not yet":
        so_far = facts.listing.get("files_total") if facts.cluster and facts.cluster.started else 0
        more = f"{plural(so_far, 'file')} so far, {words.size(facts.listing.get('bytes_total', 0))}" if so_far else ""
        return Says("Outputs are copied back, then the cluster is destroyed", more)
    cluster = facts.cluster
    if cluster is None:
        return Says("Nothing to save or release")
    saved, total = saved_of(facts)
    if kind == "working" and not command_over(facts):
        return Says("The command is ending; then its outputs are saved and the cluster is handed back")
    if kind == "working":
        gone = cluster.nodes_wanted if cluster.released else 0
        text = (
            f"{words.count(saved)} of {plural(total, 'file')} saved"
            if total
            else f"{plural(saved, 'file')} saved so far"
            if saved
            else "Outputs are being saved"
        )
        bar = 100 * saved / total if total else None
        return Says(f"{text}, {gone} of {plural(cluster.nodes_wanted, 'node')} gone", bar=bar, bar_words=text)
    return _saved(cluster, saved)


def _saved(cluster: Any, saved: int) -> Says:
    failed, skipped = (int(cluster.saving.get(key) or 0) for key in ("failed", "skipped"))
    gone = f"{plural(cluster.nodes_wanted, 'node')} gone" if cluster.released else "release not confirmed"
    not_kept = [f"{words.count(failed)} could not be saved" if failed else "", f"{words.count(skipped)} skipped" if skipped else ""]
    text = f"{plural(saved, 'file')} saved" if cluster.saved or saved else "No files saved"
    return Says(
        f"{text}, {gone}",
        ", ".join(filter(None, not_kept)),
        tone=Tone.LOOK if failed else "",
        link=("Files", "files") if failed or skipped else None,
    )


def command_over(facts: Facts) -> bool:
    """Whether nothing of the command is alive any more, as far as the node has told."""
    cluster = facts.cluster
    return cluster is None or cluster.went is None or cluster.exited is not None or facts.is_over


def saved_of(facts: Facts) -> tuple[int, int]:
    """Files saved so far, and how many there are as far as the node told; 0 where that is not known."""
    cluster = facts.cluster
    saved = int(cluster.saving.get("files") or 0) if cluster else 0
    if not saved and cluster:
        saved = facts.manifest.files
    if cluster is None or cluster.saved or any(use.unpack for use in facts.inputs):
        return saved, saved if cluster and cluster.saved else 0  # what archives brought is not told apart from what the command wrote
    told = int(facts.listing.get("files_total") or 0) - len(facts.inputs)  # inputs that did not change are not sent back
    return saved, told if told >= saved else 0
