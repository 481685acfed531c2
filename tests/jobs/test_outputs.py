"""Outputs arrive in packs and pieces, survive repeats, and are read back byte for byte."""

import hashlib
import json

import pytest

from jobs import outputs

NAMES = ["a.txt", "deep/er/b.dat", "mesh 1.inp", "Träger(2).inp", "-rf", "a;touch pwned", "../../evil", "/etc/passwd", "n\udcffx", "🚀.csv"]


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture(autouse=True)
def folders(settings, tmp_path):
    settings.LOGS_DIR = tmp_path / "logs"
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": str(tmp_path / "files")}},
    }
    return tmp_path


def batch(files: dict[str, bytes], attempt: int = 1):
    header = [{"path": path, "size": len(data), "sha256": sha(data), "mode": 0o644, "mtime": 1.0} for path, data in files.items()]
    return outputs.store_batch("aBcDeF", attempt, header, memoryview(b"".join(files.values())))


def tell(files: dict[str, bytes], *more: dict) -> None:
    lines = [{"path": path, "size": len(data), "sha256": sha(data), "mode": 0o644, "mtime": 1.0} for path, data in files.items()]
    outputs.write_manifest("aBcDeF", 1, 0, True, b"".join(json.dumps(line).encode() + b"\n" for line in [*lines, *more]))


def test_small_files_of_any_name_come_back(folders):
    files = {name: f"{index}: {name!r}".encode() for index, name in enumerate(NAMES)} | {"empty": b""}
    assert batch(files) == (len(files), [])
    tell(files)
    kept = outputs.manifest("aBcDeF", 1)
    assert kept.complete
    assert {entry.path: kept.open(entry).read() for entry in kept.all} == files
    assert (kept.files, kept.bytes) == (len(files), sum(map(len, files.values())))
    inside = [path for path in folders.rglob("*") if path.is_file()]
    assert all("evil" not in path.name and "passwd" not in path.name for path in inside)


def test_before_the_manifest_what_came_is_shown_as_unfinished():
    batch({"a": b"1"})
    kept = outputs.manifest("aBcDeF", 1)
    assert ([entry.path for entry in kept.all], kept.complete) == (["a"], False)


def test_a_repeated_batch_doubles_nothing():
    batch({"a": b"1", "b": b"2"})
    batch({"a": b"1", "b": b"2"})
    tell({"a": b"1", "b": b"2"})
    assert [entry.path for entry in outputs.manifest("aBcDeF", 1).all] == ["a", "b"]


def test_a_damaged_small_file_is_named_and_the_others_are_kept():
    header = [
        {"path": "bad", "size": 1, "sha256": sha(b"x"), "mode": 0, "mtime": 0},
        {"path": "good", "size": 1, "sha256": sha(b"2"), "mode": 0, "mtime": 0},
    ]
    stored, failed = outputs.store_batch("aBcDeF", 1, header, memoryview(b"12"))
    assert (stored, [entry["path"] for entry in failed]) == (1, ["bad"])
    with pytest.raises(ValueError, match="add up"):
        outputs.store_batch("aBcDeF", 1, header, memoryview(b"123"))


def test_a_big_file_goes_on_where_it_was_cut():
    data = bytes(range(256)) * 5000
    assert outputs.store_chunk("aBcDeF", 1, "big", 0, len(data), data[:500_000], None) == 500_000
    with pytest.raises(outputs.PastEnd) as told:
        outputs.store_chunk("aBcDeF", 1, "big", 900_000, len(data), data[900_000:], None)
    assert told.value.size == 500_000
    assert outputs.store_chunk("aBcDeF", 1, "big", 400_000, len(data), data[400_000:800_000], None) == 800_000
    assert outputs.store_chunk("aBcDeF", 1, "big", 800_000, len(data), data[800_000:], sha(data)) == len(data)
    tell({"big": data})
    kept = outputs.manifest("aBcDeF", 1)
    with kept.open(kept.all[0]) as file:
        file.seek(1000)
        assert file.read(10) == data[1000:1010]


def test_a_big_file_with_another_checksum_starts_anew():
    with pytest.raises(outputs.Damaged):
        outputs.store_chunk("aBcDeF", 1, "big", 0, 3, b"abc", sha(b"abd"))
    assert outputs.store_chunk("aBcDeF", 1, "big", 0, 3, b"abd", sha(b"abd")) == 3


def test_the_manifest_says_what_is_not_there():
    batch({"a": b"1"})
    tell(
        {"a": b"1", "lost": b"22"},
        {"path": "link", "skipped": "symlink", "detail": "/etc/passwd"},
        {"path": "out/", "size": 0, "dir": True},
        {"path": "torn", "failed": "changed while it was read"},
    )
    kept = outputs.manifest("aBcDeF", 1)
    assert {entry.path: entry.kind for entry in kept.all} == {
        "a": "file",
        "lost": "failed",
        "link": "skipped",
        "out/": "dir",
        "torn": "failed",
    }
    with pytest.raises(FileNotFoundError):
        kept.open(kept.named("link"))


def test_lists_by_page_and_by_search():
    files = {f"f{number:03}.dat": b"x" for number in range(300)}
    batch(files)
    tell(files)
    kept = outputs.manifest("aBcDeF", 1)
    assert [entry.path for entry in kept.entries(250, 100)][:2] == ["f250.dat", "f251.dat"]
    assert [entry.index for entry in kept.entries(search="F29")] == list(range(290, 300))


def test_deleting_leaves_no_byte(folders):
    batch({"a": b"1"})
    tell({"a": b"1"})
    outputs.delete("aBcDeF", 1)
    assert [path for path in folders.rglob("*") if path.is_file()] == []
    assert outputs.manifest("aBcDeF", 1).all == ()


def test_a_file_that_no_disk_holds_is_refused_before_a_byte_of_it_is_kept(folders):
    with pytest.raises(OSError, match="No space left"):
        outputs.store_chunk("aBcDeF", 1, "big", 0, 1 << 60, b"x" * 100, None)
    assert sum(path.stat().st_size for path in folders.rglob("part-*")) == 0
    assert outputs.store_chunk("aBcDeF", 1, "small", 0, 3, b"abc", sha(b"abc")) == 3


def test_half_a_file_does_not_outlive_the_agent_that_sent_it(folders):
    outputs.store_chunk("aBcDeF", 1, "big", 0, 1000, b"x" * 100, None)
    assert list(folders.rglob("part-*"))
    tell({})
    assert not list(folders.rglob("part-*"))
