"""Why it ended, in words: the reason's sentence, the exit code or signal, and what to try."""

from __future__ import annotations

from jobs.verdicts.base import Ending
from jobs.verdicts.exit import Explanation, explain

from .facts import Facts
from .text import cut, plural

BY_COMMAND = ("exit-code", "signal", "out-of-memory")


def explained(facts: Facts) -> tuple[str, str]:
    """One sentence that says what happened, and the evidence below it."""
    ending = facts.work.ending
    if ending is None:
        return "It failed.", cut(facts.work.detail)
    if ending.code in BY_COMMAND and facts.cluster:
        sentence = cut(exit_words(facts).sentence, 220)
        return sentence, cut(facts.work.detail.removeprefix(sentence).strip(), 240)
    if ending.code == "findings" and facts.check and facts.check.findings:
        first = facts.check.findings[0]
        where = " ".join(filter(None, [first.get("file"), f"line {first['line']}" if first.get("line") else ""]))
        return f"{plural(facts.check.errors, 'error')} in the input", cut(
            f"{where}: {first['message']}" if where else first["message"], 240
        )
    return ending.sentence, cut(facts.work.detail, 240)


def exit_words(facts: Facts) -> Explanation:
    """Exit code or signal in words, made exact by the last lines of the output."""
    return explain(ending_of(facts), facts.job.command, "\n".join(facts.tail(40)))


def ending_of(facts: Facts) -> Ending:
    exit = facts.cluster.exit if facts.cluster else {}
    pipe = exit.get("pipe")
    return Ending(
        exit.get("code"),
        exit.get("signal"),
        tuple(pipe) if pipe else None,
        stopped=exit.get("why") is not None,
        memory_killed=bool(exit.get("memory_killed")),
    )


def advice(facts: Facts) -> list[str]:
    """What to try, the most exact first."""
    ending = facts.work.ending
    exact = exit_words(facts).advice if ending and ending.code in BY_COMMAND and facts.cluster else ""
    found = [exact or (ending.advice if ending else "")]
    if facts.job.verdict_detail.get("advice"):
        found.append(facts.job.verdict_detail["advice"])
    return list(dict.fromkeys(filter(None, found)))


def short(facts: Facts) -> str:
    """How the command ended, in two words: exit code 3, signal 9."""
    exit = facts.cluster.exit if facts.cluster else {}
    if exit.get("signal"):
        return f"signal {exit['signal']}"
    return f"exit code {exit['code']}" if exit.get("code") is not None else ""
