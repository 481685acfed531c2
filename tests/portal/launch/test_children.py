"""A child's life: tied to its parent, told when it dies, ended in time, its log kept short."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from portal.launch import children, options, record
from portal.launch.children import Child
from tests.waiting import alive, until


def child(folder: Path, code: str) -> Child:
    return Child("tried", [sys.executable, "-c", code], os.environ, folder / "tried.log", folder)


def ended(one: Child) -> str:
    return until(one.buried, 20)


def test_pauses_grow_while_it_keeps_dying(tmp_path):
    one = child(tmp_path, "raise SystemExit('no luck')")
    pauses = []
    for _ in range(3):
        one.start()
        assert ended(one) == "ended with exit code 1"
        pauses.append(one.pause)
    assert pauses == [0.4, 0.8, 1.6]
    assert one.last_words() == "no luck"
    one.deaths = 30
    assert one.pause == children.LONGEST


def test_a_signal_is_named(tmp_path):
    one = child(tmp_path, "import time; time.sleep(60)")
    one.start()
    os.kill(one.pid, signal.SIGKILL)
    assert ended(one) == "was killed by SIGKILL"


def test_it_dies_with_its_parent(tmp_path):
    code = f"""
import os, sys
sys.path.insert(0, {os.getcwd()!r})
from pathlib import Path
from portal.launch.children import Child
one = Child("tried", [sys.executable, "-c", "import time; time.sleep(60)"], os.environ, Path({str(tmp_path / "log")!r}), Path("/"))
one.start()
print(one.pid, flush=True)
os.kill(os.getpid(), 9)
"""
    pid = int(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30).stdout)
    until(lambda: not alive(pid), 10)


def test_killing_takes_its_session_and_nobody_else(tmp_path):
    code = "import subprocess, sys\nfor new in (False, True):\n print(subprocess.Popen(['sleep', '60'], start_new_session=new).pid, flush=True)\n"
    one = child(tmp_path, code + "import time; time.sleep(60)")
    one.start()
    inside, outside = until(lambda: [int(word) for word in one.log.read_text().split()] if one.log.read_text().count("\n") == 2 else None)
    one.kill()
    ended(one)
    until(lambda: not alive(inside), 10)
    assert alive(outside)
    os.kill(outside, signal.SIGKILL)


def test_a_grown_log_is_put_aside(tmp_path):
    log = tmp_path / "web.log"
    log.write_text("x" * 100)
    children.rotate(log, limit=1000)
    assert log.read_text() == "x" * 100
    children.rotate(log, limit=100)
    assert (log.read_text(), (tmp_path / "web.log.1").read_text()) == ("", "x" * 100)


def test_a_zombie_is_dead():
    process = subprocess.Popen(["true"])
    until(lambda: not alive(process.pid), 10)
    assert record.start_time(process.pid) is None
    process.wait()


def test_data_is_read_before_the_settings():
    environ = {"HEADRACE_DATA": "/old"}
    options.early(["manage.py", "migrate", "--data", "/x"], environ)
    assert environ == {"HEADRACE_DATA": "/old"}
    options.early(["manage.py", "up", "--demo", "--data=/x"], environ)
    assert environ == {"HEADRACE_DATA": "/x"}
    options.early(["manage.py", "up", "--data", "/y", "--demo"], environ)
    assert environ == {"HEADRACE_DATA": "/y"}
