"""Recorded runs: a folder each in tests/cases/verdicts, and cases.json with what must come out.

Every folder was left by a real run of the real program (fields cut, what no verdict needs left out).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jobs.verdicts import Ending, Folder, Verdict, judge

CASES = Path(__file__).parents[2] / "cases" / "verdicts"


def recorded() -> list[dict[str, Any]]:
    return json.loads((CASES / "cases.json").read_text(encoding="utf-8"))


def judged(case: dict[str, Any], folder: Path | None = None, command: str | None = None, log: str | None = "process_output.log") -> Verdict:
    ending = Ending(case["exit_code"], memory_killed=case.get("memory_killed", False))
    return judge(case["software"], Folder(folder or CASES / case["id"]), ending, case["command"] if command is None else command, log)


def unsaid(case: dict[str, Any], verdict: Verdict) -> list[str]:
    """The texts that the verdict should mention and does not; "a|b" means one of them."""
    told = json.dumps(verdict.as_dict(), ensure_ascii=False).lower()
    return [wanted for wanted in case["mention"] if not any(word.lower() in told for word in wanted.split("|"))]


@pytest.fixture
def case_of():
    by_id = {case["id"]: case for case in recorded()}
    return by_id.__getitem__
