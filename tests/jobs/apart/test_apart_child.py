"""The child that reads what solvers wrote: its limits, its death, and the bytes that it must ask for."""

import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jobs.apart import Child, Exploded
from jobs.apart.files import described

ROOT = Path(__file__).parents[3]
RECORDED = ROOT / "tests" / "cases" / "verdicts" / "calculix-plastic-bar"
MEMORY = 256 << 20
ENDING = {"exit_code": 0, "signal": None, "pipe": None, "stopped": False, "memory_killed": False}


@pytest.fixture
def child():
    made = Child(MEMORY)
    yield made
    made.end()


def question(files, software="calculix", command="ccx -i bar > bar.log"):
    return {"software": software, "files": files, "ending": ENDING, "command": command, "log": None}


def sizes():
    return {path.name: path.stat().st_size for path in RECORDED.iterdir()}


def gone(pid: int) -> bool:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.02)
    return False


def test_a_verdict_from_plain_files(child):
    paths = {path.name: str(path) for path in RECORDED.iterdir()}
    said = child.ask("judge", question(described(sizes(), paths)), 30)
    assert said["verdict"] == "converged"
    assert {one["file"] for one in said["evidence"]} & {"bar.sta", "bar.log"}


def test_bytes_that_it_cannot_open_are_asked_for(child):
    asked = []

    def opener(name):
        asked.append(name)
        return io.BytesIO((RECORDED / name).read_bytes())

    said = child.ask("judge", question(described(sizes(), {})), 30, opener)
    assert said["verdict"] == "converged"
    assert "bar.log" in asked


def test_a_file_that_cannot_be_opened_is_an_empty_one(child):
    def opener(name):
        raise OSError("gone")

    assert child.ask("judge", question(described(sizes(), {})), 30, opener)["verdict"] != "converged"


def test_too_long_ends_the_child_and_the_next_question_starts_another(child, tmp_path):
    (tmp_path / "log").write_bytes(b"1.0 2.0 3.0 4.0 5.0 6.0 7.0\n" * (1 << 20))
    stream = ["stdout", 0, str(tmp_path / "log"), 29 << 20, []]
    values = {
        "folder": str(tmp_path / "course"),
        "software": "lammps",
        "command": "lmp -in x",
        "files": described({}, {}),
        "streams": [stream],
    }
    child.ask("judge", question(described({}, {})), 30)
    first = child.process.pid
    with pytest.raises(Exploded, match="took longer than 0 s"):
        child.ask("follow", {**values, "limit": 64 << 20, "last": True}, 0.01)
    assert gone(first)
    assert child.ask("follow", {**values, "limit": 1 << 20, "last": True}, 30)["behind"]


def test_too_much_memory_is_said():
    child = Child(48 << 20)
    with pytest.raises(Exploded, match="memory|died"):
        child.ask("judge", question(described({f"folder/file-{at:09}.dat": at for at in range(600_000)}, {})), 60)
    assert child.ask("judge", question(described({}, {})), 30)["verdict"]
    child.end()


def test_killed_between_two_questions_nobody_notices(child):
    child.ask("judge", question(described({}, {})), 30)
    os.kill(child.process.pid, signal.SIGKILL)
    assert child.ask("judge", question(described({}, {})), 30)["verdict"]


def test_what_it_does_not_know_is_an_error_not_a_hang(child):
    with pytest.raises(Exploded, match="could not be read"):
        child.ask("judge", {}, 30)


def test_it_ends_with_its_parent():
    code = "from jobs.apart import Child; c = Child(1 << 28); c._running(); print(c.process.pid, flush=True); import os; os._exit(9)"
    said = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert said.returncode == 9
    assert gone(int(said.stdout))


def test_nothing_of_the_portal_is_in_its_environment(child, monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "hush")
    child.ask("judge", question(described({}, {})), 30)
    assert b"hush" not in Path(f"/proc/{child.process.pid}/environ").read_bytes()
