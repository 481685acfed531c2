"""Walls around the command: another user, Landlock, a wrap; and what the agent does in a folder that is not its own."""

import os
import shutil

import pytest

from jobs.agent import sandbox, tree

UID = 54321
as_root = pytest.mark.skipif(os.getuid() != 0, reason="needs root to become another user")


@pytest.fixture
def open_path(tmp_path):
    """The way to the job folder can be walked by the other user."""
    path = tmp_path
    while path != path.parent:
        if path.stat().st_uid == os.getuid() and not path.stat().st_mode & 0o001:
            os.chmod(path, path.stat().st_mode | 0o011)
        path = path.parent


@as_root
def test_command_runs_as_its_own_user_and_reaches_nothing_of_the_agents(make_agent, portal, open_path):
    import hashlib

    agent = make_agent(run_as={"uid": UID, "gid": UID}, sandbox="uid")
    portal.inputs["a1"] = b"heat"
    digest = hashlib.sha256(b"heat").hexdigest()
    portal.spec["inputs"] = [{"id": "a1", "name": "in/deck", "size": 4, "sha256": digest, "mode": 0o600}]
    exit = agent.run(
        "id -u; id -g; id -G; cat in/deck; echo x > in/new; echo t > $TMPDIR/t",
        f"cat {agent.folder}/spec.json {agent.folder}/stdout; ls {agent.folder}; kill -9 $PPID; sleep 0.1; false | cat",
    )
    assert exit["pipe"] == [1, 0]
    lines = portal.log().decode()
    assert lines.startswith(f"{UID}\n{UID}\n{UID}\nheat")
    assert lines.count("Permission denied") == 3
    assert "not permitted" in lines
    assert portal.files == {"in/new": b"x\n"}


@as_root
def test_leftovers_of_a_lost_holder_are_found_by_their_user(make_agent, portal, until, open_path):
    agent = make_agent(run_as={"uid": UID + 1, "gid": UID + 1}, sandbox="uid")
    portal.spec["commands"] = ["env -i setsid sleep 600 & sleep 0.2; echo armed; sleep 600"]
    agent.start()
    until(lambda: b"armed" in portal.log())
    agent.kill("holder")
    assert agent.finished()["why"] == "lost"
    assert tree.marked("no such token", UID + 1) == []


@as_root
def test_hard_link_to_somebody_elses_file_is_not_saved(make_agent, portal, open_path):
    agent = make_agent(run_as={"uid": UID, "gid": UID})
    agent.work.mkdir(parents=True)
    os.chown(agent.work, UID, UID)
    secret = agent.base / "secret"
    secret.write_text("secret")
    os.link(secret, agent.work / "stolen")
    agent.run("echo x > good")
    assert portal.files == {"good": b"x\n"}


@pytest.mark.skipif(not sandbox.landlock_available(), reason="needs a kernel with Landlock")
def test_landlock_fences_the_command_in(make_agent, portal):
    agent = make_agent()
    rules = {"rw": [str(agent.work)], "ro": ["/usr", "/bin", "/lib", "/lib64", "/etc"]}
    agent = make_agent(landlock=rules, sandbox="landlock")
    agent.run(f"echo x > inside; cat {agent.folder}/spec.json; echo y > {agent.base}/outside; echo t > $TMPDIR/t; cat $TMPDIR/t")
    assert portal.log().count(b"Permission denied") == 2
    assert portal.log().endswith(b"t\n")
    assert portal.files == {"inside": b"x\n"}
    assert not (agent.base / "outside").exists()


@pytest.mark.skipif(not shutil.which("bwrap"), reason="needs bubblewrap")
def test_wrap_is_put_before_the_shell_and_gets_none_of_the_users_variables(make_agent, portal, until):
    base = make_agent().base
    wrap = [
        "bwrap", "--unshare-pid", "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib",
        "--symlink", "usr/lib64", "/lib64", "--proc", "/proc", "--dev", "/dev", "--die-with-parent",
        "--bind", str(base / "work"), str(base / "work"), "--bind", str(base / "tmp"), str(base / "tmp"), "--chdir", str(base / "work"),
    ]  # fmt: skip
    agent = make_agent(wrap=wrap, sandbox="bwrap")
    exit = agent.run(
        "echo $MINE; ls /etc; setsid sleep 600 & echo x > inside; false | cat",
        environment={"MINE": "mine", "LD_PRELOAD": "/evil.so"},
    )
    assert (exit["code"], exit["pipe"]) == (1, [1, 0])
    assert b"mine\n" in portal.log()
    assert b"No such file" in portal.log()
    assert portal.files == {"inside": b"x\n"}
    assert agent.processes() == []


def test_limits_are_set(make_agent, portal):
    agent = make_agent(rlimits={"as": 500 << 20, "nofile": 64})
    exit = agent.run("ulimit -v; ulimit -n; ulimit -c; head -c 900M /dev/zero | tail -c 900M > /dev/null")
    assert portal.log().startswith(b"512000\n64\n0\n")
    assert exit["code"] != 0


@pytest.fixture
def memory_cgroup():
    """A cgroup (v1) with 64 MB of memory."""
    path = f"/sys/fs/cgroup/memory/hr-test-{os.getpid()}"
    try:
        os.mkdir(path)
        with open(f"{path}/memory.limit_in_bytes", "w") as file:
            file.write(str(64 << 20))
    except OSError:
        pytest.skip("needs a writable cgroup v1 with memory")
    yield path
    os.rmdir(path)


def test_killed_for_memory_is_told(make_agent, portal, memory_cgroup, until):
    agent = make_agent(cgroups=[memory_cgroup], memory=64 << 20)
    exit = agent.run("python3 -c 'x = bytearray(500 << 20)'; code=$?; echo code $code; exit $code")
    assert exit["memory_killed"] is True
    assert exit["code"] == 137
    assert portal.log().endswith(b"code 137\n")
    with open(f"{memory_cgroup}/cgroup.procs") as file:
        until(lambda: file.seek(0) == 0 and file.read() == "")
