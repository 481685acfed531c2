"""Clusters on this machine, with real processes: one agent a node, which outlives its creator, and nothing left behind."""

import errno
import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from backend_clouds import agents, carrying, destroy, ended_with, eventually, in_child, leftovers

from jobs.backends import local_processes as processes
from jobs.backends.base import State, TryAgain


def up(backend, token, nodes=1):
    return eventually(lambda: len(agents(backend, token)) == nodes)


def seen(backend, token, node=0):
    return json.loads((backend._folders.path(token) / f"node-{node}" / "seen.json").read_text())


def test_as_many_agents_as_nodes_each_in_a_folder_of_its_own_and_one_job_folder(local, spec, token):
    backend = local()
    backend.create(token, spec(nodes=3))
    assert up(backend, token, 3)
    assert list(agents(backend, token)) == ["node-0", "node-1", "node-2"]
    configs = [json.loads((backend._folders.path(token) / f"node-{i}" / "CONFIG.json").read_text()) for i in range(3)]
    assert [config["node"] for config in configs] == [0, 1, 2]
    assert len({config["workdir"] for config in configs}) == 1
    assert len({config["folder"] for config in configs}) == 3


def test_up_from_the_moment_create_returns(local, spec, token):
    backend = local()
    for number in range(5):
        backend.create(f"{token}{number}", spec())
        for _ in range(20):
            assert backend.describe([f"{token}{number}"])[f"{token}{number}"].state is State.UP


def test_agents_outlive_the_process_that_started_them(local, spec, token):
    assert ended_with(in_child(lambda: local().create(token, spec(nodes=2)))) == 0
    backend = local()
    assert up(backend, token, 2)
    assert backend.describe([token])[token].state is State.UP
    assert all(os.getsid(pid) != os.getsid(0) for pid in agents(backend, token).values())


def test_agents_outlive_a_creator_that_is_killed_with_its_whole_group(local, spec, token):
    def act():
        os.setpgid(0, 0)
        local().create(token, spec())
        os.killpg(0, signal.SIGKILL)

    assert ended_with(in_child(act)) == -signal.SIGKILL
    assert up(local(), token)


def test_nothing_of_the_portal_is_in_an_agents_environment(local, spec, token, monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "of-the-portal")
    monkeypatch.setenv("DATABASE_URL", "postgres://of-the-portal")
    backend = local()
    backend.create(token, spec())
    assert up(backend, token)
    assert set(seen(backend, token)["environment"]) - {"LC_CTYPE"} == {"PATH", "LANG", "HEADRACE_TOKEN"}
    assert seen(backend, token)["environment"]["HEADRACE_TOKEN"] == token
    for pid in carrying(token):
        words = Path(f"/proc/{pid}/cmdline").read_bytes() + Path(f"/proc/{pid}/environ").read_bytes()
        assert b"not-to-be-seen" not in words
        assert b"of-the-portal" not in words


def test_an_agent_inherits_no_open_file(local, spec, token, place):
    with open(place / "database", "w") as secret:
        os.set_inheritable(secret.fileno(), True)
        backend = local()
        backend.create(token, spec())
    assert up(backend, token)
    assert set(seen(backend, token)["open"]) <= {"0", "1", "2", "3"}  # 3 is the list's own


def test_the_start_file_with_the_secret_is_read_by_its_owner_only(local, spec, token):
    backend = local()
    backend.create(token, spec())
    node = backend._folders.path(token) / "node-0"
    assert stat.S_IMODE((node / "CONFIG.json").stat().st_mode) == 0o600
    assert stat.S_IMODE(node.stat().st_mode) == 0o700


def test_a_second_create_starts_no_second_agent(local, spec, token):
    backend = local()
    backend.create(token, spec())
    assert up(backend, token)
    before = agents(backend, token)
    local().create(token, spec())
    assert agents(local(), token) == before


def test_a_dead_agent_is_told_with_its_last_words_and_not_started_again(local, spec, token, agent):
    agent.with_suffix(".exit").touch()
    backend = local()
    backend.create(token, spec())
    assert eventually(lambda: backend.describe([token])[token].state is State.FAILED)
    assert backend.describe([token])[token].why == "its agent ended: nothing to do here"
    backend.create(token, spec())
    assert backend.describe([token])[token].state is State.FAILED


def test_a_killed_agent_is_failed_and_a_zombie_is_not_alive(local, spec, token):
    backend = local()
    backend.create(token, spec())
    assert up(backend, token)
    os.kill(agents(backend, token)["node-0"], signal.SIGKILL)
    assert eventually(lambda: backend.describe([token])[token].state is State.FAILED)


def test_up_as_long_as_one_of_its_agents_lives(local, spec, token):
    backend = local()
    backend.create(token, spec(nodes=2))
    assert up(backend, token, 2)
    os.kill(agents(backend, token)["node-0"], signal.SIGKILL)
    assert eventually(lambda: len(agents(backend, token)) == 1)
    assert backend.describe([token])[token].state is State.UP


def test_an_agent_that_was_let_go_is_no_failure(local, spec, token, agent):
    agent.with_suffix(".exit").touch()
    backend = local()
    backend.create(token, spec())
    assert eventually(lambda: backend.describe([token])[token].state is State.FAILED)
    (backend._folders.path(token) / "node-0" / "released").touch()
    assert backend.describe([token])[token].state is State.UP


def test_the_pid_of_another_process_is_not_an_agent(local, spec, token, agent):
    agent.with_suffix(".exit").touch()
    backend = local()
    backend.create(token, spec())
    assert eventually(lambda: backend.describe([token])[token].state is State.FAILED)
    (backend._folders.path(token) / "node-0" / "holder.pid").write_text(f"{os.getpid()} 1")
    assert backend.describe([token])[token].state is State.FAILED


def test_an_agent_that_cannot_start_is_told(local, spec, token, place):
    backend = local()
    backend.create(token, spec(agent=str(place / "missing.pyz")))
    assert eventually(lambda: backend.describe([token])[token].state is State.FAILED)
    assert "missing.pyz" in backend.describe([token])[token].why


def test_destroy_reaches_what_left_its_session_and_shed_its_environment(local, spec, token, agent):
    agent.with_suffix(".sh").write_text("for i in 1 2 3; do setsid env -i sleep 600 & done; sleep 600")
    backend = local()
    backend.create(token, spec())
    started = eventually(lambda: sleepers(backend, token, 4))
    assert len(started) == 4
    assert destroy(backend, token)
    assert leftovers(backend, token) == []
    assert not any(is_alive(pid) for pid in started)


def test_destroy_ends_a_command_that_forks_faster_than_it_can_be_killed(local, spec, token, agent):
    agent.with_suffix(".sh").write_text("bomb() { while :; do (exec sleep 0.2) & (exec sleep 0.01); done; }; bomb & bomb & bomb & wait")
    backend = local(pids=400)
    backend.create(token, spec())
    assert eventually(lambda: len(carrying(token)) > 12)
    assert destroy(backend, token)
    assert leftovers(backend, token) == []


def test_processes_without_a_folder_are_found_by_destroy(local, spec, token):
    stray = subprocess.Popen(["sleep", "600"], env={"HEADRACE_TOKEN": token, "PATH": os.environ["PATH"]})
    backend = local()
    assert destroy(backend, token)
    assert stray.wait() == -signal.SIGKILL


def test_on_a_kernel_without_process_descriptors_too(local, spec, token, monkeypatch):
    monkeypatch.setattr(os, "pidfd_open", refused)
    backend = local()
    backend.create(token, spec())
    assert up(backend, token)
    assert destroy(backend, token)
    assert leftovers(backend, token) == []


def test_destroy_spares_whoever_carries_another_token(local, token):
    other = subprocess.Popen(["sleep", "600"], env={"HEADRACE_TOKEN": f"{token}2", "PATH": os.environ["PATH"]})
    assert destroy(local(), token)
    assert other.poll() is None
    other.kill()
    other.wait()


def test_a_broken_folder_is_told_and_nothing_is_claimed(place, local, spec, token):
    (place / "clusters").write_text("not a folder")
    backend = local(sandboxes=["none"])
    with pytest.raises(TryAgain, match="could not make"):
        backend.create(token, spec())
    assert backend.capacity()[""].free is None
    with pytest.raises(TryAgain):
        backend.tokens()
    with pytest.raises(TryAgain):
        backend.destroy(token)
    assert "none" in backend.about()
    (place / "clusters").unlink()


def test_what_is_not_ours_in_the_folder_is_left_alone(place, local, token):
    (place / "clusters").mkdir()
    (place / "clusters" / "notes").mkdir()
    (place / "clusters" / "notes" / "readme.txt").write_text("keep")
    backend = local(sandboxes=["none"])
    assert list(backend.tokens()) == []
    assert backend.destroy("..")
    assert (place / "clusters" / "notes" / "readme.txt").read_text() == "keep"


def test_no_lock_file_stays_of_a_cluster_that_was_refused_or_removed(local, spec, token):
    backend = local()
    backend.create(token, spec(cores=8))
    with pytest.raises(TryAgain):
        backend.create(f"{token}1", spec())
    assert destroy(backend, token)
    assert not list((backend._folders.home / ".locks").glob("hrtest-*"))


def refused(pid):
    raise OSError(errno.ENOSYS, "no such call")


def sleepers(backend, token, count):
    """The sleeping children of the stand-in, wherever they went; empty until all of them are there."""
    found = [pid for pid in everybody() if words(pid) == [b"sleep", b"600"] and belongs(backend, token, pid)]
    return found if len(found) >= count else []


def belongs(backend, token, pid):
    uid = backend._uids.of(backend._folders.path(token))
    belongs = processes.runs_as(uid) if uid else processes.in_cgroup(backend._limits.path(token))
    return belongs(pid)


def everybody():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def words(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[:-1]
    except OSError:
        return []


def is_alive(pid):
    return words(pid) == [b"sleep", b"600"]


def test_python_of_the_agents_is_not_the_portals_virtual_environment(local, spec, token):
    backend = local()
    backend.create(token, spec())
    assert up(backend, token)
    program = os.readlink(f"/proc/{agents(backend, token)['node-0']}/exe")
    assert program == os.path.realpath(sys.executable)
