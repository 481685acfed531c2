"""Removal of folders that users filled: no link is followed, nothing is too deep, and it takes turns."""

import os
import time

import pytest
from backend_clouds import AS_ROOT, ended_with, eventually, in_child

from jobs.backends.local_removal import remove


def now(seconds=20):
    return time.monotonic() + seconds


@pytest.fixture
def kept(tmp_path):
    """What must still be there afterwards."""
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("kept")
    yield kept
    assert (kept / "file").read_text() == "kept"


def test_a_tree_goes_and_its_neighbours_stay(tmp_path, kept):
    (tmp_path / "job" / "a" / "b").mkdir(parents=True)
    (tmp_path / "job" / "a" / "file").write_text("x")
    assert remove(tmp_path, "job", now())
    assert os.listdir(tmp_path) == ["kept"]


def test_links_go_and_what_they_point_to_stays(tmp_path, kept):
    job = tmp_path / "job"
    (job / "deep").mkdir(parents=True)
    for link, to in (("out", kept), ("deep/out", kept), ("file", kept / "file"), ("nowhere", "nowhere"), ("up", "..")):
        (job / link).symlink_to(to)
    os.link(kept / "file", job / "hard")
    assert remove(tmp_path, "job", now())
    assert not job.exists()


def test_a_link_in_place_of_the_folder_itself_is_not_followed(tmp_path, kept):
    (tmp_path / "job").symlink_to(kept)
    assert remove(tmp_path, "job", now())
    assert os.listdir(tmp_path) == ["kept"]


def test_pipes_sockets_and_strange_names(tmp_path):
    job = tmp_path / "job"
    job.mkdir()
    os.mkfifo(job / "pipe")
    for name in (b"-rf", b"new\nline", b"\xff\xfe", b"x" * 255, b" ", b"'\"$(reboot)"):
        with open(os.fsencode(job) + b"/" + name, "w"):
            pass
    assert remove(tmp_path, "job", now())
    assert os.listdir(tmp_path) == []


def test_a_path_longer_than_any_path_may_be(tmp_path):
    (tmp_path / "job").mkdir()

    def dig():
        os.chdir(tmp_path / "job")
        for _ in range(3000):
            os.mkdir("deeper")
            os.chdir("deeper")
        with open("file", "w"):
            pass

    assert ended_with(in_child(dig)) == 0
    assert remove(tmp_path, "job", now())
    assert os.listdir(tmp_path) == []


def test_it_stops_in_time_and_goes_on_later(tmp_path):
    for number in range(30):
        folder = tmp_path / "job" / f"folder-{number}"
        folder.mkdir(parents=True)
        for file in range(100):
            (folder / f"file-{file}").touch()
    assert remove(tmp_path, "job", deadline=0) is False
    assert (tmp_path / "job").is_dir()
    assert eventually(lambda: remove(tmp_path, "job", now(0.005)))
    assert os.listdir(tmp_path) == []


def test_what_is_not_there_is_removed(tmp_path):
    assert remove(tmp_path, "never", now())
    assert remove(tmp_path / "never", "never", now())


def test_folders_that_their_owner_made_read_only(tmp_path):
    """As a user without rights, if there is the choice: root is not stopped by modes."""
    tmp_path.chmod(0o777)
    for parent in tmp_path.parents[:2]:
        parent.chmod(0o711)

    def unprivileged():
        if AS_ROOT:
            os.setgid(60681)
            os.setuid(60681)
        os.chdir(tmp_path)
        os.makedirs("job/closed/inner/most")
        for path in ("job/closed/file", "job/closed/inner/file"):
            open(path, "w").close()
        for path, mode in (("job/closed/inner/most", 0), ("job/closed/inner", 0o500), ("job/closed", 0), ("job", 0o500)):
            os.chmod(path, mode)
        assert remove(tmp_path, "job", now())

    assert ended_with(in_child(unprivileged)) == 0
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not AS_ROOT, reason="needs root")
def test_what_cannot_be_removed_is_told(tmp_path):
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / "file").touch()
    (tmp_path / "job").chmod(0o755)
    tmp_path.chmod(0o755)
    for parent in tmp_path.parents[:2]:
        parent.chmod(0o711)

    def stranger():
        os.setgid(60681)
        os.setuid(60681)
        assert remove(tmp_path, "job", now()) is False

    assert ended_with(in_child(stranger)) == 0
    assert (tmp_path / "job" / "file").exists()
