"""`manage.py verdict` as a script sees it: JSON, exit codes, one clear line for what is wrong with the call."""

import json
import shutil
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.jobs.verdicts.conftest import CASES, judged, recorded

ROOT = Path(__file__).parents[3]


def called(*words, folder):
    out = StringIO()
    try:
        call_command("verdict", *words, str(folder), stdout=out)
        code = 0
    except SystemExit as end:
        code = end.code
    return code, json.loads(out.getvalue())


@pytest.mark.parametrize("case", recorded()[::7], ids=lambda case: case["id"])
def test_it_says_what_the_module_says(case):
    words = [
        "--software",
        case["software"],
        "--exit-code",
        str(case["exit_code"]),
        "--command",
        case["command"],
        "--log",
        "process_output.log",
    ]
    if case.get("memory_killed"):
        words.append("--memory-killed")
    code, told = called(*words, folder=CASES / case["id"])
    assert told == judged(case).as_dict()
    assert set(told) == {"verdict", "reason", "evidence", "advice"}
    assert all(set(one) == {"file", "line", "text"} for one in told["evidence"])
    assert code == (0 if told["verdict"] in ("converged", "finished") else 1)


def test_command_and_exit_code_are_taken_from_the_folder_where_they_are_kept(tmp_path, case_of):
    case = case_of("mpi-background")
    folder = tmp_path / "run"
    shutil.copytree(CASES / case["id"], folder)
    (folder / "COMMAND.txt").write_text(case["command"] + "\n")
    (folder / "EXIT").write_text("0\n")
    code, told = called("--software", "mpi", folder=folder)
    assert (code, told["verdict"]) == (1, "incomplete")


def test_a_signal_speaks_too(tmp_path):
    code, told = called("--software", "shell", "--signal", "9", folder=tmp_path)
    assert (code, told["verdict"]) == (1, "incomplete") and "killed" in told["reason"]


def test_the_log_may_lie_elsewhere(tmp_path, case_of):
    case = case_of("lammps-max-iterations")
    shutil.copy(CASES / case["id"] / "process_output.log", tmp_path / "kept.log")
    (tmp_path / "run").mkdir()
    _, told = called("--software", "lammps", "--log", str(tmp_path / "kept.log"), folder=tmp_path / "run")
    assert told["verdict"] == "not converged"


@pytest.mark.parametrize(
    ("words", "said"),
    [(["--software", "abacus"], "unknown software abacus"), (["--software", "shell", "--log", "none.log"], "none.log is no file"), (["--software", "shell", "--exit-code", "x"], "exit-code"), ([], "software")],
)  # fmt: skip
def test_a_wrong_call_is_one_clear_line(words, said, tmp_path):
    with pytest.raises(CommandError, match=said):
        call_command("verdict", *words, str(tmp_path))


def test_as_a_process_it_needs_no_database_and_ends_with_2_for_a_wrong_call(tmp_path):
    call = [sys.executable, "manage.py", "verdict", "--software", "shell", str(tmp_path / "nowhere")]
    done = subprocess.run(
        call,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        env={"PATH": "/usr/bin:/bin", "DATABASE_URL": "postgres://nobody@127.0.0.1:1/none"},
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == "" and done.stderr.strip().splitlines()[-1].endswith("is not a folder")
    call[-1] = str(tmp_path)
    done = subprocess.run(
        call,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        env={"PATH": "/usr/bin:/bin", "DATABASE_URL": "postgres://nobody@127.0.0.1:1/none"},
        check=False,
    )
    assert done.returncode == 1 and json.loads(done.stdout)["verdict"] == "unknown"
