"""Homes as archives: everything comes back as it was, whatever it is called; nothing hostile gets out of its folder."""

import hashlib
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

from jobs.agent import health, home, restore, walk
from jobs.agent.config import parse
from portal.forms.names import LONGEST_PATH

UID = 54330
as_root = pytest.mark.skipif(os.getuid() != 0, reason="needs root to become another user")


def nothing():
    """No reason to stop."""


def config_of(folder, **extra):
    (folder / "work").mkdir(parents=True, exist_ok=True)
    raw = {"portal": "http://x", "token": "t-1", "secret": "s", "folder": str(folder), "workdir": str(folder / "work"), **extra}
    return parse(raw)


@pytest.fixture
def config(tmp_path):
    return config_of(tmp_path / "one")


def saved(config):
    """(archive's bytes, the Archive)."""
    archive = home.Archive(config, nothing)
    data = b"".join(archive.pieces())
    assert len(data) % tarfile.RECORDSIZE == 0
    assert len(data) <= home.measure(config, nothing).size + tarfile.RECORDSIZE
    return data, archive


def restored(data, tmp_path, name="two", **extra):
    config = config_of(tmp_path / name, **extra)
    (tmp_path / "archive.tar").write_bytes(data)
    if config.run_as:
        os.chown(config.workdir, *config.run_as)
    restore.restore(config, str(tmp_path / "archive.tar"))
    return config


def looked(path):
    """All that is kept of a home."""
    found, inodes = {}, {}
    for above, folders, files in os.walk(os.fsencode(path)):
        for name in folders + files:
            full = os.path.join(above, name)
            status = os.lstat(full)
            facts = [stat.S_IFMT(status.st_mode), stat.S_IMODE(status.st_mode), status.st_mtime_ns]
            if stat.S_ISLNK(status.st_mode):
                facts.append(os.readlink(full))
            elif stat.S_ISREG(status.st_mode):
                facts.append(hashlib.sha256(Path(os.fsdecode(full)).read_bytes()).hexdigest())
                facts.append(inodes.setdefault(status.st_ino, len(inodes)) if status.st_nlink > 1 else None)
            found[os.path.relpath(full, os.fsencode(path))] = tuple(facts)
    return found


def fill(work):
    (work / "deep" / ("d" * 120) / ("e" * 120)).mkdir(parents=True)
    (work / "deep" / ("d" * 120) / ("e" * 120) / ("f" * 200)).write_text("long")
    (work / "empty folder").mkdir(mode=0o711)
    (work / "empty file").touch()
    (work / "script.sh").write_text("#!/bin/sh\n")
    (work / "script.sh").chmod(0o4755)
    (work / "ünïcode 文件").write_text("u")
    for name in (b"bytes \xff\xfe", b"new\nline", b"-rf *", b"a" * 100, b"b" * 101, b" lead", b"tab\t", b"100%=", b"\xff" * 150):
        with open(os.path.join(os.fsencode(work), name), "wb") as file:
            file.write(name * 3)
    (work / "big").write_bytes(os.urandom(3_000_001))
    os.link(work / "big", work / "deep" / "second name")
    os.symlink("/etc/passwd", work / "absolute")
    os.symlink("../../..", work / "deep" / "out")
    os.symlink(b"\xfe\xfd" * 60, os.path.join(os.fsencode(work), b"odd link"))
    os.symlink("nowhere", work / "dangling")
    (work / "locked").mkdir()
    (work / "locked" / "inside").write_text("x")
    (work / "locked").chmod(0o500)
    for number, path in enumerate((work / "big", work / "locked", work / "empty folder")):
        os.utime(path, ns=(1, 1_700_000_000_123_456_789 + number))
    os.utime(work / "empty file", ns=(0, 0))
    os.utime(work / "script.sh", ns=(0, -5_500_000_000))


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


def deep(top, levels, folder="d"):
    """Folders in each other, every fourth with a file, deeper than a path may be long."""
    here = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
    for level in range(levels):
        os.mkdir(folder, dir_fd=here)
        here, above = os.open(folder, os.O_RDONLY | os.O_DIRECTORY, dir_fd=here), here
        os.close(above)
        if level % 4 == 3:
            os.close(os.open(f"z{level}", os.O_WRONLY | os.O_CREAT, dir_fd=here))
    os.close(here)


def entries(data):
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        return [(member.name, member.isdir()) for member in tar]


@pytest.fixture
def few_descriptors():
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 90, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@pytest.mark.usefixtures("few_descriptors")
def test_folders_lie_as_deep_as_any_path_that_may_be_sent(config):
    assert LONGEST_PATH // 2 <= walk.DEEPEST
    deep(config.workdir, walk.DEEPEST)
    data, archive = saved(config)
    assert (archive.skipped, archive.files, len(entries(data))) == ([], walk.DEEPEST // 4, walk.DEEPEST + walk.DEEPEST // 4)


@pytest.mark.usefixtures("few_descriptors")
def test_deep_folders_come_back_in_place_of_deeper_ones(config, tmp_path):
    deep(config.workdir, 80)
    (tmp_path / "two" / "work").mkdir(parents=True)
    deep(tmp_path / "two" / "work", 200, "other")
    data, _ = saved(config)
    assert saved(restored(data, tmp_path))[0] == data


def test_what_lies_deeper_is_named_with_its_reason(config):
    deep(config.workdir, walk.DEEPEST + 1)
    (Path(config.workdir) / "long").mkdir()
    deep(Path(config.workdir) / "long", walk.LONGEST // 250 + 2, "n" * 250)
    _, archive = saved(config)
    assert [(why, path[:3]) for path, why in archive.skipped] == [
        ("more than 512 folders deep", "d/d"), ("a path of more than 32768 bytes", "lon"),
    ]  # fmt: skip


def test_a_folder_that_moves_while_it_is_looked_through_leads_nowhere_else(config, tmp_path):
    """Deeper than descriptors are held: what can't be had again is named, and a link in its place is not followed."""
    deep(config.workdir, 160)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").touch()
    place = Path(config.workdir).joinpath(*["d"] * 70)
    here = os.open(config.workdir, os.O_RDONLY)
    found = walk.walk(here)
    seen = [next(found)]
    place.rename(tmp_path / "moved")
    place.symlink_to(tmp_path / "outside")
    seen += found
    os.close(here)
    assert [entry.path for entry in seen if entry.kind == "unreadable"] == [b"d/" * level for level in range(96, 69, -4)]
    files = [b"d/" * level + b"z%d" % (level - 1) for level in range(160, 0, -4)]
    assert [entry.path for entry in seen if entry.kind == "file"] == [path for path in files if not 69 < path.count(b"/") < 97]


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
