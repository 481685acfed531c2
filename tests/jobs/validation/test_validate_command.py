"""`manage.py validate`: JSON on standard output, exit codes 0, 1 and 2, no database."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def run(*words, folder):
    environment = {**os.environ, "DATABASE_URL": "postgres://nobody@127.0.0.1:1/none"}
    return subprocess.run(
        [sys.executable, "manage.py", "validate", *words, str(folder)], cwd=ROOT, env=environment, capture_output=True, text=True
    )


@pytest.fixture
def deck(tmp_path):
    (tmp_path / "block.inp").write_text("*INCLUDE, INPUT=mesh.inp\n")
    return tmp_path


def test_an_error_is_told_and_gives_1(deck):
    done = run("--software", "calculix", "--cores", "2", "--version", "2.20", "--memory", "16G", "--command", "ccx block", folder=deck)
    (finding,) = json.loads(done.stdout)["findings"]
    assert done.returncode == 1
    assert {"severity": "error", "file": "block.inp", "line": 1, "thing": "mesh.inp"}.items() <= finding.items()
    assert finding["message"]
    assert finding["remedy"]


def test_nothing_to_say_gives_0(deck):
    done = run("--software", "shell", "--cores", "2", "--command", "ls", folder=deck)
    assert (done.returncode, json.loads(done.stdout)) == (0, {"findings": []})


@pytest.mark.parametrize(
    "words",
    [
        ["--software", "shell", "--cores", "none", "--command", "ls"],
        ["--software", "shell", "--memory", "much", "--command", "ls"],
        ["--command", "ls"],
    ],
)
def test_wrong_use_gives_2_and_one_line(deck, words):
    done = run(*words, folder=deck)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""


def test_no_folder_gives_2_and_one_line(deck):
    done = run("--software", "shell", "--command", "ls", folder=deck / "none")
    assert (done.returncode, len(done.stderr.strip().splitlines())) == (2, 1)
