"""Prints how many mistakes validation names, misses, and how often it cries wolf, by solver.

    python tests/bench/validation_table.py

The one idea to know: it runs the cases of tests/cases/validation, the same as the tests; it judges nothing itself.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from jobs.validation import Folder, Request, unpacked, validate  # noqa: E402
from jobs.validation.archives import is_archive  # noqa: E402


def main() -> None:
    load = _load()
    counted: dict[str, Counter[str]] = {}
    for case in load.cases():
        with tempfile.TemporaryDirectory() as folder:
            inputs = Folder(case.build(Path(folder) / "job"))
            packed = [name for name in inputs.names() if is_archive(name) and name not in case.command]
            request = Request(case.software, case.version, case.command, case.cores, unpacked(inputs, packed), memory=case.memory)
            wrong = load.problems(case, validate(request))
        counted.setdefault(case.group, Counter())[_outcome(case.expect, wrong)] += 1
    _print(counted)


def _outcome(expect: str, wrong: list[str]) -> str:
    if expect == "pass":
        return "false alarms" if wrong else "passed"
    return "missed" if wrong else "caught"


def _print(counted: dict[str, Counter[str]]) -> None:
    columns = ("caught", "missed", "passed", "false alarms")
    print(f"{'':12}" + "".join(f"{column:>14}" for column in columns))
    for group, counts in sorted(counted.items()):
        print(f"{group:12}" + "".join(f"{counts[column]:>14}" for column in columns))
    total = sum(counted.values(), Counter())
    print(f"{'all':12}" + "".join(f"{total[column]:>14}" for column in columns))


def _load():  # type: ignore[no-untyped-def]
    spec = importlib.util.spec_from_file_location("validation_load", ROOT / "tests" / "cases" / "validation" / "load.py")
    assert spec and spec.loader
    module = sys.modules.setdefault("validation_load", importlib.util.module_from_spec(spec))
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
