"""What beats say of a session: cores without its machinery, solvers by name, a GPU by the kernel's or its maker's word."""

import os
import subprocess
import sys

import pytest

from jobs.agent import evidence, tree
from tests.jobs.agent.test_agent_home import config_of


class Used:
    input_at = None


@pytest.fixture
def made(tmp_path):
    return lambda **session: evidence.Evidence(config_of(tmp_path), {"kind": "desktop", **session}, Used())


@pytest.fixture
def program(tmp_path):
    """Starts something that computes, under a name."""
    started = []

    def start(name):
        (tmp_path / name).write_text("#!/bin/sh\nwhile :; do :; done\n")
        (tmp_path / name).chmod(0o755)
        process = subprocess.Popen([str(tmp_path / name)])
        started.append(process)
        return process.pid

    yield start
    for process in started:
        process.kill()
        process.wait()


def family(*pids):
    return [tree.look(pid) for pid in pids]


def test_work_counts_and_machinery_does_not(made, program, until):
    computing, drawing = program("simpleFoam"), program("Xtigervnc")
    seen = made(solvers=["*Foam", "ccx"])
    assert seen.sample(family(computing, drawing))["busy"] == 0.0
    machinery = made()
    machinery.sample(family(drawing))
    until(lambda: all(process.user > 20 for process in family(computing, drawing)))
    sample = seen.sample(family(computing, drawing))
    assert 0 < sample["busy"] < 1.5
    assert sample["programs"] == ["simpleFoam"]
    assert machinery.sample(family(drawing))["busy"] == 0.0


def test_the_session_itself_is_machinery(tmp_path, until):
    (tmp_path / "session.pyz").write_text("import sys; sys.stdin.read()")
    with subprocess.Popen([sys.executable, str(tmp_path / "session.pyz"), "session"], stdin=subprocess.PIPE) as process:
        until(lambda: evidence._is_machinery(process.pid))
    assert not evidence._is_machinery(os.getpid())


def test_gpus_by_the_kernel(made, tmp_path, monkeypatch):
    for number, percent in enumerate(("12", "80", "broken")):
        (tmp_path / f"card{number}").write_text(percent)
    monkeypatch.setattr(evidence, "_BUSY_FILES", str(tmp_path / "card*"))
    assert made().sample([])["gpu"] == 0.8


def test_gpus_by_nvidia(made, tmp_path, monkeypatch):
    (tmp_path / "nvidia-smi").write_text("#!/bin/sh\necho 7\necho 63\n")
    (tmp_path / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(evidence, "_BUSY_FILES", str(tmp_path / "no card*"))
    assert made().sample([])["gpu"] == 0.63


def test_times_of_kernels():
    assert evidence._moment("1970-01-02T00:00:01.5Z") == 86401.0
    assert evidence._moment("None") is None


def test_no_gpu_no_jupyter_nothing_is_known(made, tmp_path, monkeypatch):
    monkeypatch.setattr(evidence, "_BUSY_FILES", str(tmp_path / "no card*"))
    monkeypatch.setenv("PATH", str(tmp_path))
    sample = made(kind="jupyter", base="/x/").sample([])
    assert sample == {"input_at": None, "busy": 0.0, "gpu": None, "programs": []}
