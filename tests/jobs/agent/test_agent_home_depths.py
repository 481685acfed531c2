"""Homes whose folders lie deep: as deep as any path that may be sent, with few descriptors, and nowhere else."""

import io
import os
import resource
import tarfile
from pathlib import Path

import pytest

from jobs.agent import walk
from portal.forms.names import LONGEST_PATH
from tests.jobs.agent.homes import config_of, restored, saved


@pytest.fixture
def config(tmp_path):
    return config_of(tmp_path / "one")


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
