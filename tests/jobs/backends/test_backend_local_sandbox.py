"""Walls on this machine, tried by commands that want out: from uids of their own, bubblewrap and Landlock.

Numbers from 60600 on are these tests' own: outside of the range that portals on this machine give out.
"""

import contextlib
import os
import pwd
import shutil
import subprocess
from pathlib import Path

import pytest
from backend_clouds import AS_ROOT, agents, destroy, ended_with, eventually, in_child, leftovers

from jobs.agent import sandbox as walls_of_the_agent
from jobs.backends import local_ipc
from jobs.backends.base import State, TryAgain
from jobs.backends.local import Local
from jobs.backends.local_sandbox import Bubblewrap, Landlock, NoSandbox, OwnUid
from jobs.backends.local_uids import Uids

as_root = pytest.mark.skipif(not AS_ROOT, reason="needs root")


@pytest.fixture
def secret(place):
    """The portal's data folder, with the modes it has."""
    data = place / "data"
    data.mkdir(mode=0o700)
    (data / "database").write_text("everybody's money")
    key = place / "secret-key"
    key.write_text("the secret key")
    key.chmod(0o600)
    return place


@pytest.fixture
def run(spec, token, agent):
    """Runs a job in a cluster of its own until it wrote `end` into its folder; returns what it printed into `said`."""

    def run(backend, text, name=token):
        agent.with_suffix(".sh").write_text(f"({text}) >said 2>&1; echo done >end")
        backend.create(name, spec())
        work = backend._folders.path(name) / "work"
        assert eventually(lambda: (work / "end").exists())
        return (work / "said").read_text()

    return run


def own_uid(local):
    backend = local()
    assert backend.sandbox == "uid"
    return backend


@as_root
def test_a_job_cannot_read_what_is_the_portals(local, run, secret, token):
    backend = own_uid(local)
    start_file = backend._folders.path(token) / "node-0" / "CONFIG.json"
    mark = backend._folders.path(token) / "cluster.json"
    wanted = [secret / "data" / "database", secret / "secret-key", start_file, mark, "/etc/shadow"]
    said = run(backend, "; ".join(f"cat {path}" for path in wanted) + f"; ls {secret / 'data'} {backend._folders.home}")
    assert said.count("Permission denied") == 7
    assert "money" not in said
    assert "secret key" not in said
    assert "not-to-be-seen" not in said


@as_root
def test_a_job_owns_its_folders_and_nothing_around_them(local, run, token):
    backend = own_uid(local)
    text = "touch mine $TMPDIR/mine && echo fine; touch ../other; touch ../node-0/other; id -u; id -G; mv ../work ../away"
    said = run(backend, text)
    uid = str(backend._uids.of(backend._folders.path(token)))
    assert said.startswith("fine\n")
    assert said.count("Permission denied") == 3
    assert [line for line in said.split("\n") if line.isdigit()] == [uid, uid]
    assert (backend._folders.path(token) / "work").is_dir()


@as_root
def test_a_job_cannot_reach_agent_or_portal_by_signals_or_proc(local, run, token):
    backend = own_uid(local)
    said = run(backend, f"kill -9 $PPID; kill -9 {os.getpid()}; cat /proc/$PPID/environ; cat /proc/{os.getpid()}/environ")
    assert said.lower().count("not permitted") == 2
    assert said.count("Permission denied") == 2
    assert backend.describe([token])[token].state is State.UP


@as_root
def test_two_living_clusters_never_share_a_uid(local, spec, token, run):
    backend = own_uid(local)
    other = run(backend, "echo mine >private; chmod 644 private", f"{token}1")
    assert other == ""
    private = backend._folders.path(f"{token}1") / "work" / "private"
    assert "Permission denied" in run(backend, f"cat {private}", f"{token}2")
    owners = {os.stat(backend._folders.path(f"{token}{i}") / "work").st_uid for i in (1, 2)}
    assert len(owners) == 2
    assert 0 not in owners


@as_root
def test_two_portals_on_one_machine_never_share_a_uid(place, spec, token):
    portals = [Local("local", folder=place / name, cores=4) for name in ("one", "two")]
    for portal in portals:
        portal.create(token, spec())
    owners = {os.stat(portal._folders.path(token) / "work").st_uid for portal in portals}
    assert len(owners) == 2
    assert destroy(portals[0], token)
    assert eventually(lambda: len(agents(portals[1], token)) == 0)  # the same token: its processes are one cluster's
    assert portals[1].tokens() == [token]
    assert destroy(portals[1], token)


@as_root
def test_clusters_made_at_once_get_different_uids(local, spec, token):
    children = [in_child(lambda name=f"{token}{i}": own_uid(local).create(name, spec())) for i in range(6)]
    assert [ended_with(pid) for pid in children] == [0] * 6
    folders = local()._folders
    assert len({os.stat(folders.path(f"{token}{i}") / "work").st_uid for i in range(6)}) == 6


@as_root
def test_a_uid_rests_before_it_is_given_out_again(local, spec, token, place):
    backend = local(uids=(60600, 60603), uid_folder=place / "uids")
    owners = []
    for _ in range(3):
        backend.create(token, spec())
        owners.append(os.stat(backend._folders.path(token) / "work").st_uid)
        assert destroy(backend, token)
    assert len(set(owners)) == 3


@as_root
def test_without_a_free_uid_it_is_try_again(local, spec, token, place):
    backend = local(uids=(60610, 60611), uid_folder=place / "uids")
    for number in (1, 2):
        backend.create(f"{token}{number}", spec())
    with pytest.raises(TryAgain, match="are taken by other clusters"):
        backend.create(f"{token}3", spec())
    assert backend.describe([f"{token}3"])[f"{token}3"].state is State.PENDING
    for number in (3, 2, 1):
        assert destroy(backend, f"{token}{number}")


def test_a_number_that_an_account_has_is_never_given_out(place):
    taken = pwd.getpwall()[1].pw_uid
    uids = Uids(taken, taken, place / "uids")
    with pytest.raises(TryAgain):
        uids.take(place / "cluster")


def test_a_number_whose_cluster_is_gone_is_given_out_again(place):
    uids = Uids(60612, 60612, place / "uids")
    (place / "one").mkdir()
    assert uids.take(place / "one") == uids.take(place / "one") == 60612
    with pytest.raises(TryAgain):
        uids.take(place / "two")
    (place / "one").rename(place / ".gone-one")
    with pytest.raises(TryAgain):
        uids.take(place / "two")
    (place / ".gone-one").rmdir()
    assert uids.take(place / "two") == 60612


def test_nobody_elses_processes_are_ever_ended(place):
    uids = Uids(60613, 60614, place / "uids")
    for uid in (0, os.getuid(), 1000, 65534):
        with pytest.raises(ValueError, match="not ours to end"):
            uids.end(uid)


@as_root
def test_what_a_job_left_in_shared_folders_is_removed(local, run, token):
    with contextlib.suppress(FileExistsError):
        os.mkdir("/tmp/.X11-unix")
        os.chmod("/tmp/.X11-unix", 0o1777)
    backend = own_uid(local)
    said = run(backend, "mkdir -p /tmp/left-$$/deep; echo secret >/tmp/left-$$/deep/file; echo x >/dev/shm/left-$$; echo x >/tmp/.X11-unix/left-$$; echo $$")
    left = [Path(f"{folder}/left-{said.strip()}") for folder in ("/tmp", "/dev/shm", "/tmp/.X11-unix")]
    assert all(path.exists() for path in left)
    assert destroy(backend, token)
    assert not any(path.exists() for path in left)


@as_root
def test_shared_memory_semaphores_and_queues_of_a_job_are_removed(local, run, token):
    if not shutil.which("ipcmk"):
        pytest.skip("needs ipcmk of util-linux")
    backend = own_uid(local)
    assert run(backend, "ipcmk -M 4096; ipcmk -S 2; ipcmk -Q").count("id: ") == 3
    uid = backend._uids.of(backend._folders.path(token))
    assert [len(local_ipc._of(uid, kind)) for kind in ("shm", "sem", "msg")] == [1, 1, 1]
    assert destroy(backend, token)
    assert [len(local_ipc._of(uid, kind)) for kind in ("shm", "sem", "msg")] == [0, 0, 0]


@as_root
def test_below_a_closed_folder_clusters_move_to_where_their_users_get_to(place, spec, token, run):
    (place / "home").mkdir(mode=0o700)
    backend = Local("local", folder=place / "home" / "clusters", cores=4)
    assert run(backend, "touch mine && pwd") == f"{backend._folders.path(token) / 'work'}\n"
    assert str(place) not in str(backend._folders.home)
    assert str(backend._folders.home) in backend.about()
    assert (place / "home").stat().st_mode & 0o777 == 0o700
    assert destroy(backend, token)
    assert leftovers(backend, token) == []
    shutil.rmtree(backend._folders.home)


def test_a_machine_without_any_wall_says_so(local):
    backend = local(sandboxes=["none"])
    assert backend.sandbox == "none"
    assert "sandbox: none" in backend.about()


def test_what_does_not_work_here_is_not_used(place, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: "/bin/false")
    assert not Bubblewrap().works(place)
    uids = Uids(60615, 60616, place / "uids")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert not OwnUid.works(uids)


def test_bubblewrap_hides_the_portal_and_other_processes(secret):
    walls, work = Bubblewrap(), secret / "work"
    work.mkdir()
    if not walls.works(work):
        pytest.skip("bubblewrap does not work on this machine")
    (secret / "tmp").mkdir()
    wrap = walls.prepare("token", secret)["wrap"]
    text = f"echo mine >here; cat {secret}/data/database; ls {secret}; kill -9 {os.getpid()}; echo $$; ls /usr/bin/env; touch /usr/no"
    said = subprocess.run([*wrap, "/bin/sh", "-c", text], capture_output=True, text=True, timeout=20, check=False)
    assert (work / "here").read_text() == "mine\n"
    assert "money" not in said.stdout
    assert said.stdout.split() == ["tmp", "work", "2", "/usr/bin/env"]
    assert "Read-only file system" in said.stderr


def test_landlock_hides_the_portal(secret):
    if not Landlock.works():
        pytest.skip("this kernel has no Landlock")
    config = Landlock().prepare("token", secret)["landlock"]

    def job():
        walls_of_the_agent.landlock(config["rw"], config["ro"])
        (secret / "work" / "here").write_text(Path("/etc/passwd").read_text())
        for path in (secret / "data" / "database", secret / "secret-key"):
            with pytest.raises(PermissionError):
                path.read_text()
        with pytest.raises(PermissionError):
            (secret / "other").write_text("x")
        assert subprocess.run(["/bin/sh", "-c", "echo out >/dev/null; exit 3"], check=False).returncode == 3

    assert ended_with(in_child(job)) == 0
    assert (secret / "work" / "here").exists()


def test_no_sandbox_still_makes_the_folders(place):
    assert NoSandbox().prepare("token", place) == {}
    assert sorted(path.name for path in place.iterdir()) == ["tmp", "work"]


@as_root
@pytest.mark.parametrize("kinds", [["uid", "bwrap", "landlock", "none"], ["uid", "none"]])
def test_without_root_all_of_it_works_too(place, agent, spec, token, run, kinds):
    """Create, run, describe and destroy as a user without any right, in a process that gave them up."""
    if not os.access("/usr/bin/python3", os.X_OK):
        pytest.skip("needs a Python that every user may run")
    agent.chmod(0o644)
    place.chmod(0o777)

    def unprivileged():
        os.setgroups([])
        os.setgid(60680)
        os.setuid(60680)
        backend = Local("local", folder=place / "clusters", cores=4, python="/usr/bin/python3", sandboxes=kinds)
        assert backend.sandbox in kinds[1:], backend.about()
        assert "rlimit" in backend.about(), backend.about()
        assert run(backend, "echo hello; pwd") == f"hello\n{place}/clusters/{token}/work\n"
        assert backend.describe([token])[token].state is State.UP
        assert destroy(backend, token)
        assert leftovers(backend, token) == []

    assert ended_with(in_child(unprivileged)) == 0
