"""Who may import whom: the contracts in pyproject.toml, and the shape that files keep."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted(path for folder in ("jobs", "portal") for path in (ROOT / folder).rglob("*.py") if "migrations" not in path.parts)


def test_imports_go_down_only():
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()", "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_there_are_contracts_for_every_room():
    text = (ROOT / "pyproject.toml").read_text()
    for room in ("jobs.models", "jobs.backends", "jobs.validation", "jobs.verdicts", "jobs.agent", "jobs.gateway", "jobs.ledger", "jobs.money", "portal"):
        assert f'"{room}"' in text


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_says_what_it_is_for(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert not tree.body or ast.get_docstring(tree), "no docstring at its head"
