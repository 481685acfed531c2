"""Homes as archives: everything comes back as it was, whatever it is called; nothing hostile gets out of its folder."""

import io
import os
import resource
import socket
import stat
import subprocess
import tarfile
import tempfile
from pathlib import Path

import pytest

from jobs.agent import health, home, restore
from tests.jobs.agent.homes import config_of, fill, looked, nothing, restored, saved

UID = 54330
as_root = pytest.mark.skipif(os.getuid() != 0, reason="needs root to become another user")


@pytest.fixture
def config(tmp_path):
    return config_of(tmp_path / "one")


def test_everything_comes_back_as_it_was(config, tmp_path):
    fill(tmp_path / "one" / "work")
    data, archive = saved(config)
    assert (archive.skipped, archive.changed, archive.files) == ([], 0, len([1 for facts in looked(config.workdir).values() if facts[0] == stat.S_IFREG]))
    before = looked(config.workdir)
    two = restored(data, tmp_path)
    assert looked(two.workdir) == before
    assert saved(two)[0] == data
    assert home.measure(two, nothing).mark == home.measure(config, nothing).mark


@as_root
def test_everything_comes_back_to_another_user(config, tmp_path):
    fill(tmp_path / "one" / "work")
    with tempfile.TemporaryDirectory(prefix="headrace-home-") as open_to_all:
        os.chmod(open_to_all, 0o711)
        two = restored(saved(config)[0], Path(open_to_all), run_as={"uid": UID, "gid": UID})
        assert looked(two.workdir) == looked(config.workdir)
        assert {os.lstat(os.path.join(above, name)).st_uid for above, folders, files in os.walk(two.workdir) for name in folders + files} == {UID}


def test_other_programs_read_the_archive(config, tmp_path):
    fill(tmp_path / "one" / "work")
    data, _ = saved(config)
    (tmp_path / "out").mkdir()
    subprocess.run(["tar", "-xf", "-", "-C", str(tmp_path / "out")], input=data, check=True, capture_output=True)
    before, after = looked(config.workdir), looked(tmp_path / "out")
    assert before.keys() == after.keys()
    assert {name: facts[3:] for name, facts in before.items()} == {name: facts[3:] for name, facts in after.items()}


def test_what_no_archive_can_hold_is_named(config, tmp_path):
    work = tmp_path / "one" / "work"
    os.mkfifo(work / "fifo")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(work / "sock"))
    (work / "kept").touch()
    data, archive = saved(config)
    assert sorted(archive.skipped) == [("fifo", "a fifo"), ("sock", "a socket")]
    assert looked(restored(data, tmp_path).workdir).keys() == {b"kept"}


def test_a_file_that_changes_meanwhile_keeps_the_archive_whole(config, tmp_path):
    work = tmp_path / "one" / "work"
    for name in "abc":
        (work / name).write_bytes(b"x" * 3_000_000)
    archive = home.Archive(config, nothing)
    pieces = []
    for piece in archive.pieces():
        pieces.append(piece)
        if len(pieces) == 2:  # in the middle of the first file
            os.truncate(work / "a", 1_500_000)
            with open(work / "b", "ab") as file:
                file.write(b"y" * 10)
            (work / "c").unlink()
    assert archive.changed == 1
    two = restored(b"".join(pieces), tmp_path)
    kept = {name: size for name in "ab" if (size := os.path.getsize(os.path.join(two.workdir, name)))}
    assert kept == {"a": 3_000_000, "b": 3_000_010}


def test_the_mark_changes_with_the_home(config, tmp_path):
    work = tmp_path / "one" / "work"
    (work / "a").write_text("1")
    seen = [home.measure(config, nothing).mark]
    assert home.measure(config, nothing).mark == seen[0]
    for change in (lambda: (work / "a").chmod(0o600), lambda: (work / "b").mkdir(), lambda: os.symlink("x", work / "l"), lambda: os.utime(work / "a", ns=(5, 5))):
        change()
        seen.append(home.measure(config, nothing).mark)
    assert len(set(seen)) == len(seen)


def test_a_file_of_many_names_is_measured_once(config, tmp_path):
    """And with the long first name that each other member tells."""
    work = tmp_path / "one" / "work"
    (work / ("a" * 250) / ("b" * 250) / ("c" * 250)).mkdir(parents=True)
    first = work / ("a" * 250) / ("b" * 250) / ("c" * 250) / "sparse"
    first.touch()
    os.truncate(first, 3_000_000)
    for number in range(40):
        os.link(first, work / f"name {number}")
    measured = home.measure(config, nothing)
    assert (measured.files, measured.size < 3_200_000) == (41, True)
    assert health._look_through(config)[1:3] == (3_000_000, 41)
    data, archive = saved(config)
    assert archive.files == 41
    assert looked(restored(data, tmp_path).workdir) == looked(config.workdir)


def hostile(*members):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, kind, link, data in members:
            info = tarfile.TarInfo(name)
            info.type, info.linkname, info.size = kind, link, len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


@pytest.mark.parametrize(
    "members",
    [
        [("../escaped", tarfile.REGTYPE, "", b"x")],
        [("/tmp/escaped-headrace", tarfile.REGTYPE, "", b"x")],
        [("link", tarfile.SYMTYPE, "..", b""), ("link/escaped", tarfile.REGTYPE, "", b"x")],
        [("hard", tarfile.LNKTYPE, "/etc/passwd", b"")],
        [("hard", tarfile.LNKTYPE, "../archive.tar", b"")],
        [("pipe", tarfile.FIFOTYPE, "", b"")],
        [("null", tarfile.CHRTYPE, "", b"")],
    ],
)
def test_a_hostile_archive_stays_inside(members, tmp_path):
    with pytest.raises(restore.Broken):
        restored(hostile(*members), tmp_path)
    assert not (tmp_path / "two" / "escaped").exists()
    assert not os.path.exists("/tmp/escaped-headrace")


def test_half_an_unpacked_home_is_replaced(config, tmp_path):
    fill(tmp_path / "one" / "work")
    data, _ = saved(config)
    left = tmp_path / "two" / "work" / "left" / "locked"
    left.mkdir(parents=True)
    (left / "file").touch()
    left.chmod(0o000)
    assert looked(restored(data, tmp_path).workdir) == looked(config.workdir)


def test_a_broken_archive_says_so(config, tmp_path):
    (tmp_path / "one" / "work" / "a").write_bytes(b"x" * 100_000)
    data, _ = saved(config)
    with pytest.raises(restore.Broken, match="ends early|unexpected end"):
        restored(data[:50_000], tmp_path)


def test_memory_stays_flat_with_very_many_files(config, tmp_path):
    for number in range(200):
        folder = tmp_path / "one" / "work" / f"folder {number}"
        folder.mkdir()
        for other in range(50):
            (folder / f"file {other}").write_bytes(b"x" * 2000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    archive = home.Archive(config, nothing)
    size = sum(len(piece) for piece in archive.pieces())
    assert archive.files == 10_000
    assert size > 20_000_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 5_000  # KB


def test_a_sparse_file_takes_no_more_of_the_disk_than_before(config, tmp_path):
    """A hole at the beginning, between and at the end."""
    path = Path(config.workdir) / "sparse"
    with path.open("wb") as file:
        for at in (3 << 20, 9 << 20):
            file.seek(at)
            file.write(b"data")
        file.truncate(16 << 20)
    back = Path(restored(saved(config)[0], tmp_path).workdir) / "sparse"
    assert back.read_bytes() == path.read_bytes()
    assert back.stat().st_blocks * 512 <= 4 << 20
