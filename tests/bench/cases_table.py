"""What validation and verdicts catch, miss and wrongly blame over all cases, by solver; `--write` puts it into the README.

    python tests/bench/cases_table.py [--write] [--missed]

The one idea to know: nothing is counted by hand. The cases are those of the tests, the table in the README is compared with this
one by a test.
"""

from __future__ import annotations

import importlib.util
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
PLACE = re.compile(r"(<!-- cases -->\n).*?(<!-- end of cases -->)", re.DOTALL)
NAMES = {
    "calculix": "CalculiX", "openfoam": "OpenFOAM", "lammps": "LAMMPS", "gromacs": "GROMACS", "quantum_espresso": "Quantum ESPRESSO",
    "nwchem": "NWChem", "mpi": "MPI", "shell": "shell",
}  # fmt: skip
GROUPS = {"espresso": "quantum_espresso"}
COLUMNS = (
    *("mistakes caught", "missed", "healthy decks passed", "false alarms"),
    *("bad endings caught", "missed ", "good endings known", "false alarms ", "unknown"),
)
sys.path.insert(0, str(ROOT))


def table() -> str:
    """As Markdown."""
    counts = counted()
    head = f"| | {' | '.join(COLUMNS)} |\n|---|{'---:|' * len(COLUMNS)}\n"
    rows = {**{name: counts[code] for code, name in NAMES.items()}, "all": sum(counts.values(), Counter())}
    return head + "".join(f"| {name} | {' | '.join(str(row[column]) for column in COLUMNS)} |\n" for name, row in rows.items())


def counted() -> dict[str, Counter[str]]:
    """By software: how many of which kind."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for software, kind, what in (*inputs(), *endings()):
        counts[software][kind] += 1
        if "--missed" in sys.argv and kind.strip() in ("missed", "false alarms", "unknown"):
            print(f"{kind}: {what}")
    return counts


def inputs() -> Iterator[tuple[str, str, str]]:
    """(software, column, what came out) of every case of validation."""
    from jobs.validation import Folder, Request, unpacked, validate
    from jobs.validation.archives import is_archive

    load = _module("validation_load", ROOT / "tests" / "cases" / "validation" / "load.py")
    for case in load.cases():
        with tempfile.TemporaryDirectory() as folder:
            found = Folder(case.build(Path(folder) / "job"))
            packed = [name for name in found.names() if is_archive(name) and name not in case.command]
            request = Request(case.software, case.version, case.command, case.cores, unpacked(found, packed), memory=case.memory)
            wrong = load.problems(case, validate(request))
        names = ("healthy decks passed", "false alarms") if case.expect == "pass" else ("mistakes caught", "missed")
        yield GROUPS.get(case.group, case.group), names[bool(wrong)], f"{case.name}: {wrong}"


def endings() -> Iterator[tuple[str, str, str]]:
    """The same of every recorded run."""
    verdicts = _module("verdict_table", Path(__file__).parent / "verdict_table.py")
    columns = {"caught": "bad endings caught", "missed": "missed ", "healthy": "good endings known", "false alarm": "false alarms "}
    for case, verdict, kind in verdicts.judged():
        yield verdicts.code_of(case["software"]), columns.get(kind, kind), f"{case['id']}: {verdict.verdict}: {verdict.reason}"


def filled(text: str) -> str:
    """A README with the table as it should be."""
    made = table()
    return PLACE.sub(lambda place: place[1] + made + place[2], text)


def _module(name: str, path: Path) -> Any:
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec and spec.loader
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


if __name__ == "__main__":
    if "--write" in sys.argv:
        README.write_text(filled(README.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        print(table(), end="")
