"""Limits hold for real commands, by whichever cgroups this machine has, and what cannot be limited is told."""

import os
from pathlib import Path

import pytest
from backend_clouds import destroy, eventually

from jobs.backends import local_limits
from jobs.backends.local_limits import Hierarchy, Limits

HOG = r"x=$(head -c 150M /dev/zero | tr '\0' x); [ ${#x} = 157286400 ]"


@pytest.fixture
def run(spec, token, agent):
    def run(backend, text, **changes):
        agent.with_suffix(".sh").write_text(f"({text}) >said 2>&1; echo $? >end")
        backend.create(token, spec(**changes))
        work = backend._folders.path(token) / "work"
        assert eventually(lambda: (work / "end").exists() and (work / "end").read_text())
        return int((work / "end").read_text())

    return run


def has(controller):
    limits = Limits("test-probe", 100)
    return any(controller in hierarchy.controllers for hierarchy in limits.hierarchies)


def cgroup_of(backend, token, controller):
    for hierarchy in backend._limits.hierarchies:
        if controller in hierarchy.controllers:
            return hierarchy, hierarchy.root / backend._limits._pool / token / "0"
    raise AssertionError(controller)


def test_a_command_that_wants_more_memory_than_its_node_has_is_killed(local, run):
    if not has("memory"):
        pytest.skip("no memory controller that can be used")
    assert run(local(), HOG, memory=64 << 20) == 137


def test_without_cgroups_memory_is_limited_process_by_process(local, run):
    backend = local(cgroups=False)
    assert "memory limited for each process alone (rlimit), cores and processes not limited" in backend.about()
    assert run(backend, HOG, memory=64 << 20) not in (0, 137)


def test_the_same_command_runs_where_there_is_enough(local, run):
    assert run(local(), HOG, memory=1 << 30) == 0


def test_cores_are_those_asked_for(local, spec, token):
    if not has("cpu"):
        pytest.skip("no cpu controller that can be used")
    backend = local()
    backend.create(token, spec(cores=3))
    hierarchy, folder = cgroup_of(backend, token, "cpu")
    name = "cpu.max" if hierarchy.version == 2 else "cpu.cfs_quota_us"
    assert (folder / name).read_text().split()[0] == "300000"


def test_processes_are_limited(local, run, token):
    if not has("pids"):
        pytest.skip("no pids controller that can be used")
    backend = local(pids=20)
    run(backend, "for i in $(seq 50); do sleep 3 & done")
    _, folder = cgroup_of(backend, token, "pids")
    assert (folder / "pids.max").read_text() == "20\n"
    assert "max 0" not in (folder / "pids.events").read_text()


def test_cgroups_carry_the_token_and_are_found_by_it(local, spec, token):
    backend = local()
    backend.create(token, spec(nodes=2))
    if not backend._limits.hierarchies:
        pytest.skip("no cgroups that can be used")
    assert backend._limits.tokens() == {token}
    assert destroy(backend, token)
    assert backend._limits.tokens() == set()


def test_a_cgroup_without_a_folder_is_found_and_removed(local, token):
    backend = local()
    if not backend._limits.hierarchies:
        pytest.skip("no cgroups that can be used")
    backend._limits.make(token, 0, 1, 64 << 20)
    assert token in backend.tokens()
    assert destroy(backend, token)
    assert token not in backend.tokens()


def test_two_portals_do_not_see_each_others_cgroups(token):
    one, two = Limits("test-one", 100), Limits("test-two", 100)
    if not one.hierarchies:
        pytest.skip("no cgroups that can be used")
    one.make(token, 0, 1, 64 << 20)
    assert (one.tokens(), two.tokens()) == ({token}, set())
    assert one.remove(token, deadline=0)
    one.clear()
    two.clear()
    assert not list(Path("/sys/fs/cgroup").glob("*/headrace-test-*"))


@pytest.fixture
def version_2(tmp_path):
    """What a cgroup of version 2 looks like, as plain files."""
    for folder in (tmp_path, tmp_path / "headrace-p", tmp_path / "headrace-p" / "t", tmp_path / "headrace-p" / "t" / "0"):
        folder.mkdir(exist_ok=True)
        for name in ("cgroup.subtree_control", "memory.max", "memory.swap.max", "cpu.max", "pids.max"):
            (folder / name).write_text("")
    (tmp_path / "cgroup.controllers").write_text("cpuset cpu io memory pids\n")
    return tmp_path


def test_what_is_written_on_a_machine_with_version_2(version_2, monkeypatch):
    limits = Limits("p", pids=77)
    controllers = local_limits._of_version_2(version_2)
    assert controllers == ("memory", "cpu", "pids")
    limits.__dict__["hierarchies"] = (Hierarchy(version_2, 2, controllers),)
    assert limits.make("t", 0, cores=2, memory=1000) == [str(version_2 / "headrace-p" / "t" / "0")]
    made = version_2 / "headrace-p" / "t" / "0"
    written = {name: (made / name).read_text() for name in ("memory.max", "memory.swap.max", "cpu.max", "pids.max")}
    assert written == {"memory.max": "1000", "memory.swap.max": "0", "cpu.max": "200000 100000", "pids.max": "77"}
    assert (version_2 / "headrace-p" / "cgroup.subtree_control").read_text() == "+memory +cpu +pids"
    assert limits.about() == "memory, cores and processes limited by cgroup v2"
    assert limits.rlimits(1000) == {"core": 0}


def test_a_hierarchy_that_cannot_be_written_is_not_used(tmp_path):
    (tmp_path / "file").write_text("")
    assert not local_limits._works(Hierarchy(tmp_path / "file", 1, ("memory",)), "headrace-p")
    assert not local_limits._works(Hierarchy(tmp_path, 1, ("memory",)), "headrace-p")
    assert os.listdir(tmp_path) == ["file"]
