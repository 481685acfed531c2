"""`manage.py up` with real processes: starts, keeps alive, ends; refuses in one line."""

from __future__ import annotations

import os
import signal
import socket
import stat
import urllib.request
from pathlib import Path

import pytest

from tests.waiting import alive, until

from .conftest import manage

CHILDREN = {"valkey", "worker", "beat", "web"}


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_up_serves_restarts_and_ends(up, data):
    run = up()
    address = run.ready()
    with urllib.request.urlopen(address) as answer:
        assert answer.status == 200
    assert run.processes().keys() == {"up"} | CHILDREN
    _secrets_are_kept(run, data)
    _whoever_dies_is_started_again(run)
    until(lambda: run.manage("status").returncode == 0)
    pids = run.processes().values()
    assert run.end() < 10
    assert run.process.returncode == 0
    assert not [pid for pid in pids if alive(pid)]
    assert run.manage("status").returncode == 1


def _secrets_are_kept(run, data):
    line = next(line for line in run.text.splitlines() if "New user admin" in line)
    password = line.split()[4].rstrip(",")
    assert run.run(f"print(User.objects.get(username='admin').check_password({password!r}))") == "True"
    assert all(password.encode() not in file.read_bytes() for file in data.rglob("*.log*"))
    assert mode(data) == 0o711
    assert mode(data / "secret_key") == mode(data / "headrace.sqlite3") == 0o600
    assert {mode(data / name) for name in ("run", "log", "logs", "files", "uploads")} == {0o700}
    assert mode(data / "clusters") == 0o711


def _whoever_dies_is_started_again(run):
    for name in sorted(CHILDREN):
        pid = run.processes()[name]
        os.kill(pid, signal.SIGKILL)
        until(lambda name=name, pid=pid: run.processes().get(name, pid) != pid)
        assert f"{name} was killed by SIGKILL" in run.text


def test_a_killed_up_leaves_nothing_behind_and_the_next_one_starts(up, data):
    run = up()
    run.ready()
    pids = run.processes()
    run.end(signal.SIGKILL)
    until(lambda: not [pid for pid in pids.values() if alive(pid)], 10)
    assert "`up` is dead" in manage(data, "status").stdout
    again = up()
    again.ready()
    assert "New user" not in again.text
    assert again.end(signal.SIGINT) < 10
    assert again.process.returncode == 0


def test_a_second_up_on_the_same_folder_is_refused(up, data):
    run = up()
    run.ready()
    second = manage(data, "up", "--port", "0")
    assert second.returncode == 1
    assert second.stderr.splitlines() == [f"up: The data folder {data} is in use by another `up` (process {run.process.pid})"]
    assert run.process.poll() is None


def test_a_port_in_use_is_refused_before_anything_starts(data):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = manage(data, "up", "--port", str(port))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [f"up: Port {port} on 127.0.0.1 is in use; choose another one with --port"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--colour"], "unrecognized arguments: --colour"),
        (["--port", "http"], "'http' is not a port"),
        (["--port", "70000"], "'70000' is not a port"),
        (["--host", "192.0.2.1", "--port", "0"], "192.0.2.1 is not an address of this machine"),
        (["--data", "/proc/nowhere"], "/proc/nowhere cannot be written"),
        (["--data", "/dev/null"], "/dev/null cannot be written"),
    ],
)
def test_wrong_arguments_get_one_line(data, words, says):
    done = manage(data, "up", *words)
    assert done.returncode in (1, 2)
    assert len(done.stderr.splitlines()) == 1
    assert says in done.stderr
    assert not (data / "run" / "processes.json").exists()


def test_a_running_job_outlives_up_and_the_next_one_takes_it_over(up, data):
    first = up("--demo")
    port = int(first.ready().rstrip("/").rpartition(":")[2])
    first.run(SUBMIT)
    until(lambda: _status(first) == "running")
    holder = int(next(data.glob("clusters/*/node-0/**/holder.pid")).read_text().split()[0])
    first.end()
    assert alive(holder)
    second = up("--demo", port=port)  # where the agent looks for its portal
    second.ready()
    assert "New user" not in second.text
    assert second.ask("select count(*) from auth_user") == 2
    assert second.ask("select count(*) from jobs_workload where submit_key = 'demo'") == 1
    assert _status(second) == "running"
    second.run("[work.stop(User.objects.get(username='admin')) for work in Workload.objects.active()]")
    until(lambda: _status(second) == "stopped")
    until(lambda: second.ask("select count(*) from jobs_workload where ended is null") == 0)
    until(lambda: not alive(holder), 30)


SUBMIT = """
from portal.launch.demo import _version
owner = User.objects.get(username='engineer')
work = Workload.objects.create(name='long', owner=owner, coretype=Coretype.objects.get(code='local'), walltime=3600,
                               project=Project.objects.get(code='wing'))
Job.objects.create(workload=work, software=_version('shell'), commands=['echo begun; sleep 600'])
work.submit(owner)
"""


def _status(run):
    return run.ask("select status from jobs_workload where name = 'long'")
