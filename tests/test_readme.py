"""The README tells the truth: its tables are the code's, its settings exist, its commands are there."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields

import pytest
from django.core.management import get_commands

from jobs.backends.base import Backend
from jobs.backends.slurm import Slurm
from jobs.backends.slurm_script import Options
from portal import readme

TEXT = readme.README.read_text(encoding="utf-8")
SETTINGS = (readme.README.parent / "portal" / "settings.py").read_text(encoding="utf-8")


def section(title: str) -> str:
    return TEXT.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def test_tables_are_those_of_the_code():
    assert [place["name"] for place in readme.PLACE.finditer(TEXT)] == list(readme.tables())
    assert readme.filled(TEXT) == TEXT, "run `python -m portal.readme`"


def test_every_setting_is_in_the_table_and_every_row_is_a_setting():
    told = set(re.findall(r"`([A-Z][A-Z0-9_]+)`", "".join(line.split("|")[1] for line in section("Configuration").splitlines() if "| " in line)))
    read = set(re.findall(r"\benv(?:_list|_bool)?\(\s*\"([A-Z0-9_]+)\"", SETTINGS)) | set(re.findall(r"environ\.get\(\"(\w+)\"", SETTINGS))
    assert told == read


@pytest.mark.parametrize("package", ["jobs", "portal"])
def test_the_map_has_every_folder_and_nothing_that_is_not_there(package):
    rows = section("Architecture").split(f"| in `{package}/` |", 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    named = {name for row in rows for name in re.findall(r"`([\w.]+/?)`", row.split("|")[1])}
    root = readme.README.parent / package
    assert {name for name in named if not (root / name).exists()} == set()
    assert {f"{path.parent.name}/" for path in root.glob("*/__init__.py")} - {"migrations/"} <= named


def test_beat_is_drawn_with_all_that_it_sends():
    from portal.celery import app

    drawn = re.search(r"beat: ([\w, ]+)", section("Architecture"))[1].split(", ")
    assert sorted(drawn) == sorted(app.conf.beat_schedule)


def test_commands_exist():
    commands = set(re.findall(r"manage\.py (\w+)", TEXT))
    assert {"up", "status", "ci", "migrate"} <= commands
    assert commands <= set(get_commands())


def test_a_backend_has_the_methods_that_are_listed():
    told = re.findall(r"^\| `(\w+)\(", section("Writing a backend"), re.MULTILINE)
    assert set(told) == Backend.__abstractmethods__


def test_the_options_of_slurm_are_those_of_its_backend():
    rows = [line.split("|")[1] for line in section("On a Slurm cluster").splitlines() if line.startswith("| `")]
    told = set(re.findall(r"`(\w+)`", "".join(rows)))
    known = set(inspect.signature(Slurm).parameters) - {"name", "unknown", "notes", "key", "silent_limit"}
    assert told == known
    named = section("On a Slurm cluster").split("A coretype may name", 1)[1].split("`mpirun`")[0]
    assert set(re.findall(r"`(\w+)`", named)) == {field.name for field in fields(Options)}


def test_the_test_command_is_the_last_step_of_ci():
    from portal.management.commands import ci

    assert "uv run --group test pytest" in TEXT
    assert ci.steps("")[-1].command[1:] == ["run", "--group", "test", "pytest"]
