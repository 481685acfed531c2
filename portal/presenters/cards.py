"""The cards beside the stages: cost, what failed and what to try, findings, the verdict."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from jobs import lifecycle, logs
from jobs.lifecycle import Tone
from portal import words
from portal.forms import fixes

from . import course, endings
from .facts import Facts
from .links import line_of
from .review import first_hour_words
from .text import clock_of, plural
from .values import Row, verdict_badge


@dataclass(frozen=True)
class CostCard:
    title: str
    now: Decimal
    rate: Decimal
    rows: list[Row]
    done: float = 0  # percent of what it can cost at most
    label: str = ""
    note: str = ""


def cost(facts: Facts) -> CostCard:
    """What it has cost, what it can cost at most, what is held."""
    money, over = facts.cost, facts.is_over
    share = float(100 * money.spent / money.at_most) if money.at_most else 0.0
    label = f"{words.money(money.spent)} spent of at most {words.money(money.at_most)}"
    return CostCard("Bill" if over else "Cost", money.spent, money.rate, _cost_rows(facts), 0 if over else share, label, _strictness(facts))


def _cost_rows(facts: Facts) -> list[Row]:
    money, cluster = facts.cost, facts.cluster
    if facts.is_over:
        return _bill(facts)
    rows = [Row("At most, with the whole walltime", words.money(money.at_most))]
    if money.projected_end:
        rows.append(Row("Walltime is over", clock_of(money.projected_end, facts.now)))
    pace = course.pace(facts)
    if pace and not pace.late:
        rows.insert(0, Row("At this pace it ends", f"{clock_of(pace.end, facts.now)} for {words.money(pace.cost)}"))
    rows.append(Row("Held ahead", words.money(money.held)))
    if money.paid_until:
        rows.append(Row("Paid until", clock_of(money.paid_until, facts.now)))
    rows += [Row(f"{budget.name} free", words.money(budget.left)) for budget in facts.budgets if budget.unit == "money"]
    if cluster is None and money.rate:
        rows.insert(0, Row(first_hour_words(facts.budgets, facts.work.owner), words.money(money.rate)))
    return rows


def _bill(facts: Facts) -> list[Row]:
    clusters = [cluster for cluster in facts.work.clusters.all() if cluster.up]
    rows = []
    for cluster in clusters:
        end = cluster.charged_until or cluster.released or facts.now
        name = "Billed, first node up to release" if len(clusters) == 1 else f"Attempt {cluster.attempt}, first node up to release"
        rows.append(Row(name, words.clock(end - cluster.up)))
        rows.append(
            Row(
                f"{plural(cluster.total_cores, 'core')} at {words.price(cluster.price)} a core-hour",
                words.price(cluster.price * cluster.total_cores) + " an hour",
            )
        )
    return rows or [Row("No node came up", "nothing billed")]


def _strictness(facts: Facts) -> str:
    if facts.is_over or not any(budget.is_strict for budget in facts.budgets):
        return ""
    return "Strict budget: this job can't spend more than is held."


# --- what failed, what to try -----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Remedy:
    stage: str
    sentence: str
    detail: str
    advice: list[str]
    help: str
    rows: list[Row]


def remedy(facts: Facts) -> Remedy | None:
    """For a failed job: stage, reason, exit code in words, what to try."""
    work = facts.work
    if work.status != lifecycle.FAILED:
        return None
    sentence, detail = endings.explained(facts)
    stage = work.table[work.failed_stage].label if work.failed_stage in work.table else ""
    return Remedy(stage, sentence, detail, endings.advice(facts), f"reason-{work.reason}", _evidence(facts))


def _evidence(facts: Facts) -> list[Row]:
    ending = facts.work.ending
    rows = (
        [Row("Reason", ending.sentence)]
        if ending and ending.code not in endings.BY_COMMAND and ending.sentence != endings.explained(facts)[0]
        else []
    )
    exit = facts.cluster.exit if facts.cluster else {}
    if endings.short(facts):
        rows.append(Row("Command", endings.short(facts)))
    if exit.get("pipe") and len(exit["pipe"]) > 1:
        rows.append(Row("Parts of the pipeline", ", ".join(str(code) for code in exit["pipe"])))
    if exit.get("memory_killed"):
        rows.append(Row("Memory", "reached its limit"))
    trouble = facts.cluster and (facts.cluster.broken or facts.cluster.staging_error or facts.cluster.trouble)
    if trouble:
        rows.append(Row("Backend or node said", str(trouble)))
    return rows


@dataclass(frozen=True)
class Line:
    number: int
    text: str


@dataclass(frozen=True)
class LastLines:
    lines: list[Line]
    says: str


def last_lines(facts: Facts, count: int = 12) -> LastLines | None:
    """The end of stdout, for a job that failed or was stopped."""
    if not facts.is_over or facts.work.status == lifecycle.COMPLETED:
        return None
    lines = facts.tail(count)
    if not lines:
        return None
    path = logs.path_of(facts.logs_dir, "stdout")
    first = logs.total_lines(path) - len(lines) + 1
    numbered = [Line(first + at, text[:2000]) for at, text in enumerate(lines)]
    return LastLines(numbered, f"{words.count(logs.size(facts.logs_dir, 'stdout'))} bytes")


# --- findings and verdict ---------------------------------------------------------------------------------------------
FIX_SIGN = ":::"  # between the code of a fix and the file it is for


@dataclass(frozen=True)
class FindingRow:
    word: str
    tone: str
    icon: str
    where: str
    message: str
    remedy: str
    thing: str = ""
    fix: str = ""  # what a post says to have it fixed: "fix:CODE:::FILE"
    fix_word: str = ""


def findings(facts: Facts) -> list[FindingRow]:
    return finding_rows((facts.check.findings if facts.check else None) or [])


def finding_rows(found: list[dict]) -> list[FindingRow]:
    """Findings as dicts (see jobs.validation) as rows of the list."""
    return [_finding(finding) for finding in found]


def _finding(finding: dict) -> FindingRow:
    bad = finding["severity"] == "error"
    line = f"line {finding['line']}" if finding.get("line") else ""
    file = finding.get("file") or ("command" if line else "")
    word = fixes.word_of(finding.get("fix"), finding.get("file"))
    return FindingRow(
        "Error" if bad else "Warning",
        Tone.FAIL if bad else Tone.LOOK,
        "circle-x" if bad else "alert-triangle",
        " ".join(filter(None, [file, line])),
        finding["message"],
        finding.get("remedy") or "",
        finding.get("thing") or "",
        f"fix:{finding['fix']}{FIX_SIGN}{finding['file']}" if word else "",
        word,
    )


@dataclass(frozen=True)
class VerdictCard:
    tone: str
    title: str
    reason: str
    advice: str
    evidence: list[Row]


def verdict(facts: Facts) -> VerdictCard | None:
    """What the output says of the result; for a completed job without one, that exit 0 proves nothing."""
    badge, detail = verdict_badge(facts.job), facts.job.verdict_detail
    if badge is None and facts.work.status != lifecycle.COMPLETED:
        return None
    if badge is None or facts.job.verdict == "unknown":
        reason = detail.get("reason") or "The result was not judged."
        return VerdictCard(
            Tone.WAIT,
            "Exit 0 is no proof of a good result" if facts.work.status == lifecycle.COMPLETED else "Not judged",
            reason,
            detail.get("advice") or "Look at the output before you use it.",
            _proof(facts, detail),
        )
    return VerdictCard(badge.tone, badge.label, detail.get("reason", ""), detail.get("advice", ""), _proof(facts, detail))


def _proof(facts: Facts, detail: dict) -> list[Row]:
    """The lines that speak for the verdict, each with the way to it."""
    return [
        Row(
            f"{item['file']}" + (f" line {item['line']}" if item.get("line") else ""),
            item.get("text", ""),
            href=line_of(facts, item["file"], item.get("line")),
            mono=True,
        )
        for item in (detail.get("evidence") or [])[:8]
    ]
