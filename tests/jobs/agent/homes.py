"""Homes to be saved and restored, and what is looked at to tell whether they are the same."""

import hashlib
import os
import stat
import tarfile
from pathlib import Path

from jobs.agent import home, restore
from jobs.agent.config import parse


def nothing():
    """No reason to stop."""


def config_of(folder, **extra):
    """An agent's configuration with its home in `folder`/work."""
    (folder / "work").mkdir(parents=True, exist_ok=True)
    raw = {"portal": "http://x", "token": "t-1", "secret": "s", "folder": str(folder), "workdir": str(folder / "work"), **extra}
    return parse(raw)


def saved(config):
    """(archive's bytes, the Archive)."""
    archive = home.Archive(config, nothing)
    data = b"".join(archive.pieces())
    assert len(data) % tarfile.RECORDSIZE == 0
    assert len(data) <= home.measure(config, nothing).size + tarfile.RECORDSIZE
    return data, archive


def restored(data, tmp_path, name="two", **extra):
    """The archive unpacked as the home of another agent; its configuration."""
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
    """A home with whatever file systems allow: odd names, links, holes in rights, old times."""
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
