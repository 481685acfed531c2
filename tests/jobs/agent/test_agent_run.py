"""A command from hello to done: how it ends, and that nothing of it stays alive."""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from jobs.agent import build


@pytest.mark.parametrize(
    ("command", "code", "number"),
    [
        ("true", 0, None),
        ("false", 1, None),
        ("exit 42", 42, None),
        ("echo start; kill -9 $$; echo never", None, 9),
        ("kill -SEGV $$", None, 11),
        ("no-such-program-here", 127, None),
    ],
)
def test_exit_is_told_as_it_was(agent, command, code, number):
    exit = agent.run(command)
    assert (exit["code"], exit["signal"], exit["why"]) == (code, number, None)
    assert (exit["memory_killed"], exit["disk_full"]) == (False, False)
    assert exit["leftovers"] == 0
    assert exit["ran"] >= 0


def test_output_arrives_byte_for_byte_with_its_hash(agent, portal):
    agent.run("echo out", "echo err >&2", "printf 'no end'")
    assert portal.log() == b"out\nerr\nno end"
    (stream,) = portal.last("done")["streams"]
    digest = hashlib.sha256(portal.log()).hexdigest()
    assert stream == {"name": "stdout", "generation": 0, "size": 14, "sha256": digest}


def test_stdout_and_stderr_keep_their_order_and_stdin_is_empty(agent, portal):
    exit = agent.run("for i in 1 2 3; do echo o$i; echo e$i >&2; done; cat; read x || echo closed")
    assert exit["code"] == 0
    assert portal.log() == b"o1\ne1\no2\ne2\no3\ne3\nclosed\n"


@pytest.mark.parametrize(
    ("command", "pipefail", "code", "pipe"),
    [
        ("false | tee out.log", True, 1, [1, 0]),
        ("false | tee out.log", False, 0, None),
        ("(exit 3) | cat | (exit 4) | cat", True, 4, [3, 0, 4, 0]),
        ("true | true", True, 0, [0, 0]),
        ("false | true; exit 7", True, 7, None),
        ("false", True, 1, None),
    ],
)
def test_pipe_tells_which_part_failed(agent, command, pipefail, code, pipe):
    exit = agent.run(command, pipefail=pipefail)
    assert exit["code"] == code
    if pipefail or code:
        assert exit["pipe"] == pipe


def test_own_exit_trap_of_the_command_still_works(agent, portal):
    exit = agent.run("trap 'echo mine' EXIT", "false | cat", "exit 5")
    assert exit["code"] == 5
    assert portal.log() == b"mine\n"


def test_commands_are_one_script(agent, portal):
    exit = agent.run("cd /", "x=5", "if true; then", "  echo $x $PWD", "fi", "cat <<END", "line", "END")
    assert exit["code"] == 0
    assert portal.log() == b"5 /\nline\n"


def test_environment_holds_what_is_promised_and_nothing_else(agent, portal):
    agent.run("env -0", environment={"MINE": "a b", "OMP_NUM_THREADS": "7", "HEADRACE_TOKEN": "forged", "BAD=": "x"})
    found = dict(item.split("=", 1) for item in portal.log().decode().split("\0") if item)
    for name in ("PWD", "SHLVL", "_"):  # bash's own
        found.pop(name, None)
    assert found.pop("USER")
    assert found.pop("PATH").startswith("/usr/local/sbin:")
    assert found == {
        "HOME": str(agent.work), "TMPDIR": str(agent.base / "tmp"), "LANG": "C.UTF-8", "MINE": "a b",
        "OMP_NUM_THREADS": "7", "HEADRACE_TOKEN": agent.token, "HEADRACE_JOB_DIR": str(agent.work),
        "HEADRACE_CORES": "2", "HEADRACE_NODES": "1", "HEADRACE_HOSTS": "one,two",
    }


def test_command_inherits_no_descriptor(agent, portal):
    agent.run("ls /proc/self/fd | wc -l")
    assert portal.log().strip() == b"4"  # 0, 1, 2 and that of ls itself


@pytest.mark.parametrize(
    "command",
    [
        "sleep 600 & echo main-done",
        "setsid sleep 600 & echo main-done",
        "nohup sleep 600 >/dev/null 2>&1 & echo main-done",
        "(setsid bash -c 'sleep 600 & sleep 600' &) ; echo main-done",
        "env -i setsid sleep 600 & echo main-done",
        "bash -c 'trap \"\" TERM; echo armed > armed; while :; do sleep 0.1; done' & "
        "until [ -e armed ]; do sleep 0.01; done; echo main-done",
    ],
)
def test_nothing_stays_alive_after_the_main_program(agent, portal, command):
    exit = agent.run(command)
    assert exit["code"] == 0
    assert exit["leftovers"] >= 1
    assert portal.log().endswith(b"main-done\n")
    assert agent.processes() == []


def test_second_part_of_a_killed_shell_does_not_stay(agent):
    exit = agent.run("python3 -c 'import os; os.kill(os.getppid(), 9)'; sleep 300")
    assert exit["signal"] == 9
    assert agent.processes() == []


def test_trailing_output_of_a_process_substitution_is_kept(agent, portal):
    agent.run("seq 1000 > >(sleep 0.1; tee copy.txt > /dev/null)")
    assert portal.files["copy.txt"].endswith(b"\n1000\n")


def test_script_that_bash_can_not_read_fails_with_its_words(agent, portal):
    exit = agent.run("if true; then", "echo never")
    assert exit["code"] == 2
    assert b"syntax error" in portal.log()


def test_very_long_script_runs_too(agent, portal):
    exit = agent.run("# " + "x" * 300000, "echo ran", "false | cat")
    assert (exit["code"], exit["pipe"]) == (1, [1, 0])
    assert portal.log() == b"ran\n"


def test_agent_in_the_foreground_ends_with_its_release(make_agent, portal, until):
    agent = make_agent(foreground=True)
    process = subprocess.Popen([agent.python, str(agent.pyz), str(agent.config_path)])
    until(lambda: portal.last("done"))
    assert process.poll() is None
    portal.release()
    assert process.wait(20) == 0


def test_same_sources_give_the_same_bytes(pyz, tmp_path):
    assert build(tmp_path / "again.pyz").read_bytes() == pyz.read_bytes()


@pytest.mark.parametrize("text", ["", "{}", '{"folder": "relative"}', None])
def test_start_file_that_can_not_be_used_is_one_line(pyz, tmp_path, text):
    path = tmp_path / "config.json"
    if text is not None:
        path.write_text(text)
    done = subprocess.run([sys.executable, pyz, path], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


def test_agent_of_the_oldest_python_does_the_same(make_agent, portal):
    old = next(iter(sorted(Path.home().glob(".pyenv/versions/3.6.*/bin/python3"))), None) or shutil.which("python3.6")
    if old is None:
        pytest.skip("needs a Python 3.6")
    assert subprocess.check_output([str(old), "--version"]).startswith(b"Python 3.6")
    agent = make_agent(python=str(old))
    exit = agent.run("echo $'caf\\xc3\\xa9'; mkdir d; echo x > d/$'\\xff\\xe4'; false | cat")
    assert (exit["code"], exit["pipe"]) == (1, [1, 0])
    assert portal.log() == "café\n".encode()
    assert portal.files["d/\udcff\udce4"] == b"x\n"
