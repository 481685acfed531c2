"""The README's table of what is caught and missed is that of a run over all cases."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def cases_table():
    spec = importlib.util.spec_from_file_location("cases_table", ROOT / "tests" / "bench" / "cases_table.py")
    module = sys.modules.setdefault("cases_table", importlib.util.module_from_spec(spec))
    spec.loader.exec_module(module)
    return module


def test_the_table_of_cases_is_the_run_over_them():
    module = cases_table()
    text = module.README.read_text(encoding="utf-8")
    assert module.PLACE.search(text)
    assert module.filled(text) == text, "run `python tests/bench/cases_table.py --write`"
