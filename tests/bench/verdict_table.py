"""The verdicts on all recorded runs, by solver: `python tests/bench/verdict_table.py [--missed]`.

caught: a bad ending that got one of the right verdicts and says what it must; missed: one that did not; healthy: runs that
must be converged or finished; false alarm: a healthy run that was not; unknown: not judged though more could be known.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from jobs.verdicts import Ending, Folder, Verdict, code_of, judge  # noqa: E402

CASES = Path(__file__).parents[1] / "cases" / "verdicts"
COLUMNS = ("caught", "missed", "healthy", "false alarm", "unknown")
GOOD = {"converged", "finished"}


def main() -> None:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for case, verdict, kind in judged():
        counts[code_of(case["software"]) or "?"][kind] += 1
        if "--missed" in sys.argv and kind not in ("caught", "healthy"):
            print(f"{kind}: {case['id']}: {verdict.verdict}: {verdict.reason}")
    print(f"| software | {' | '.join(COLUMNS)} |\n|---|{'---:|' * len(COLUMNS)}")
    for software in [*sorted(counts), "all"]:
        row = counts[software] if software in counts else sum(counts.values(), Counter())
        print(f"| {software} | {' | '.join(str(row[column]) for column in COLUMNS)} |")


def judged() -> Iterator[tuple[dict[str, Any], Verdict, str]]:
    """Every recorded run with its verdict and what that is worth."""
    for case in json.loads((CASES / "cases.json").read_text(encoding="utf-8")):
        ending = Ending(case["exit_code"], memory_killed=case.get("memory_killed", False))
        verdict = judge(case["software"], Folder(CASES / case["id"]), ending, case["command"], "process_output.log")
        yield case, verdict, kind_of(case, verdict)


def kind_of(case: dict[str, Any], verdict: Verdict) -> str:
    healthy = bool(GOOD & set(case["expect"])) and not {"incomplete", "diverged", "not converged"} & set(case["expect"])
    told = json.dumps(verdict.as_dict(), ensure_ascii=False).lower()
    said = all(any(word.lower() in told for word in wanted.split("|")) for wanted in case["mention"])
    if verdict.verdict not in case["expect"]:
        return "unknown" if verdict.verdict == "unknown" else ("false alarm" if healthy else "missed")
    if healthy:
        return "healthy"
    return "caught" if said else "missed"


if __name__ == "__main__":
    main()
