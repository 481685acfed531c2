"""Promise: the log in the portal is the log on the node, byte for byte, and what is missing is named."""

import errno
import hashlib
import os
import random
import subprocess
import sys
import time
from multiprocessing import get_context

import pytest

from jobs import logs
from jobs.logs import names

LINES = b"".join(b"step %d residual %.3e\n" % (i, 1 / (i + 1)) for i in range(20_000))


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "aBcDeF" / "1"


def fill(folder, data, stream="stdout", generation=0):
    for at in range(0, len(data), 100_000):
        logs.write(folder, stream, generation, at, data[at : at + 100_000])
    return logs.path_of(folder, stream, generation)


# writing


def test_bytes_come_back_as_they_were_written(folder):
    assert logs.write(folder, "stdout", 0, 0, b"one\n") == 4
    assert logs.write(folder, "stdout", 0, 4, b"two\0\xff\n") == 10
    assert logs.read(folder, "stdout", 0, 99) == b"one\ntwo\0\xff\n"
    assert logs.read(folder, "stdout", 4, 7) == b"two"


def test_same_bytes_twice_change_nothing(folder):
    logs.write(folder, "stdout", 0, 0, b"hello world")
    assert logs.write(folder, "stdout", 0, 0, b"hello") == 11
    assert logs.write(folder, "stdout", 0, 6, b"world, again") == 18
    assert logs.read(folder, "stdout", 0, 99) == b"hello world, again"


def test_an_offset_past_the_end_is_told_the_size(folder):
    logs.write(folder, "stdout", 0, 0, b"12345")
    with pytest.raises(logs.PastEnd) as error:
        logs.write(folder, "stdout", 0, 6, b"x")
    assert error.value.size == 5
    assert logs.size(folder, "stdout") == 5


def test_a_log_nobody_wrote_is_empty(folder):
    assert logs.size(folder, "stdout") == 0
    assert logs.read(folder, "stdout", 0, 10) == b""
    assert logs.streams(folder) == []
    assert logs.complete(folder, "stdout") is None


def write_all(folder, seed):
    order = random.Random(seed)
    at = 0
    while at < len(LINES):
        start = max(0, at - order.randrange(5_000))
        try:
            at = max(at, logs.write(folder, "stdout", 0, start, LINES[start : start + order.randrange(1, 9_000)]))
        except logs.PastEnd as error:
            at = error.size


def test_two_processes_that_write_the_same_log_lose_and_double_nothing(folder):
    context = get_context("fork")
    writers = [context.Process(target=write_all, args=(folder, seed)) for seed in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    assert logs.read(folder, "stdout", 0, 1 << 30) == LINES
    assert logs.total_lines(logs.path_of(folder, "stdout")) == 20_000


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from jobs import logs
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (70_000, 70_000))
folder = Path(sys.argv[1])
try:
    logs.write(folder, "stdout", 0, 0, b"x" * 100_000)
except OSError as error:
    print(error.errno, logs.size(folder, "stdout"))
"""


def test_a_disk_that_fills_up_is_an_oserror_and_what_fitted_counts(folder):
    run = subprocess.run([sys.executable, "-c", FULL_DISK, str(folder)], capture_output=True, text=True, check=True)
    assert run.stdout.split() == [str(errno.EFBIG), "70000"]
    assert logs.write(folder, "stdout", 0, 70_000, b"y") == 70_001


# names


@pytest.mark.parametrize(
    "name",
    [
        "stdout",
        "file:results/run 1/out.log",
        "file:../../../etc/passwd",
        "file:/etc/passwd",
        "file:" + "deep/" * 900 + "end",
        "file:" + "ä" * 120,
        "file:line\nbreak\r\0nul",
        "file:" + os.fsdecode(b"\xff\xfe bytes"),
        "..",
        ".",
        "a.0.log",
        "~",
        "%2F",
        "*",
        "file:\U0001f680",
    ],
)
def test_any_name_is_a_stream_of_its_own_inside_the_folder(folder, name):
    logs.write(folder, name, 0, 0, b"mine")
    logs.write(folder, name + "x", 0, 0, b"other")
    assert logs.read(folder, name, 0, 9) == b"mine"
    assert {stream.name for stream in logs.streams(folder)} == {name, name + "x"}
    inside = {path.parent for path in folder.parent.parent.rglob("*") if path.is_file()}
    assert inside == {folder}


def test_names_that_differ_in_what_is_cut_do_not_meet(folder):
    one, two = "file:" + "long/" * 100 + "a", "file:" + "long/" * 100 + "b"
    logs.write(folder, one, 0, 0, b"1")
    logs.write(folder, two, 0, 0, b"2")
    assert (logs.read(folder, one, 0, 9), logs.read(folder, two, 0, 9)) == (b"1", b"2")


def test_stdout_is_first_and_the_newest_generation_counts(folder):
    logs.write(folder, "file:a", 0, 0, b"old old")
    logs.write(folder, "file:a", 1, 0, b"new")
    logs.write(folder, "file:a", 10, 0, b"newest")
    logs.write(folder, "stdout", 0, 0, b"x")
    assert logs.streams(folder) == [logs.Stream("stdout", 0, 1), logs.Stream("file:a", 10, 6)]
    assert logs.generations(folder, "file:a") == [0, 1, 10]
    assert logs.read(folder, "file:a", 0, 99) == b"newest"
    assert logs.read(folder, "file:a", 0, 99, generation=0) == b"old old"


# gaps


def test_a_gap_is_named_and_offsets_go_on_behind_it(folder):
    logs.write(folder, "stdout", 0, 0, b"head\n")
    assert logs.gap(folder, "stdout", 0, 5, 10_000_000_000, "log limit") == 10_000_000_000
    assert logs.write(folder, "stdout", 0, 10_000_000_000, b"tail\n") == 10_000_000_005
    assert logs.gaps(folder, "stdout") == [logs.Gap(5, 10_000_000_000, "log limit")]
    path = logs.path_of(folder, "stdout")
    assert path.stat().st_blocks * 512 < 1 << 20
    assert list(logs.kept(path)) == [(0, 5), (10_000_000_000, 10_000_000_005)]
    assert logs.read(folder, "stdout", 0, 100) == b"head\n"
    assert logs.read(folder, "stdout", 7, 100) == b""
    assert logs.total_lines(path) == 2
    assert logs.tail_lines(path, 5) == b"tail\n"


def test_a_gap_told_twice_is_one_and_bytes_we_hold_stay(folder):
    logs.write(folder, "stdout", 0, 0, b"0123456789")
    assert logs.gap(folder, "stdout", 0, 5, 20, "lost") == 20
    assert logs.gap(folder, "stdout", 0, 5, 20, "lost") == 20
    assert logs.gaps(folder, "stdout") == [logs.Gap(10, 20, "lost")]
    with pytest.raises(logs.PastEnd):
        logs.gap(folder, "stdout", 0, 30, 40, "later")


def test_a_gap_cut_short_before_the_file_grew_is_taken_again(folder):
    path = fill(folder, b"abc")
    names.beside(path, "gaps").write_text('{"start": 3, "end": 9, "reason": "lost"}\n{"star')
    assert logs.gaps(folder, "stdout") == []
    names.beside(path, "gaps").write_text('{"start": 3, "end": 9, "reason": "lost"}\n')
    logs.gap(folder, "stdout", 0, 3, 9, "lost")
    assert logs.gaps(folder, "stdout") == [logs.Gap(3, 9, "lost")]


# seal


def test_a_seal_compares_length_and_hash_with_the_agents(folder):
    fill(folder, LINES)
    digest = hashlib.sha256(LINES).hexdigest()
    assert logs.seal(folder, "stdout", 0, len(LINES), digest).complete
    assert logs.complete(folder, "stdout") == logs.Seal(len(LINES), digest, len(LINES), digest, True)
    assert not logs.seal(folder, "stdout", 0, len(LINES), "0" * 64).complete
    assert not logs.seal(folder, "stdout", 0, len(LINES) + 1, digest).complete


def test_a_log_with_a_gap_is_never_complete(folder):
    logs.write(folder, "stdout", 0, 0, b"head")
    logs.gap(folder, "stdout", 0, 4, 8, "limit")
    logs.write(folder, "stdout", 0, 8, b"tail")
    sealed = logs.seal(folder, "stdout", 0, 12, hashlib.sha256(b"headtail").hexdigest())
    assert sealed.sha256 == sealed.agent_sha256
    assert not sealed.complete


def test_what_its_node_could_not_seal_is_said_to_be_over_and_not_to_be_all(folder):
    fill(folder, LINES)
    logs.write(folder, "sealed", 0, 0, b"x")
    kept = logs.seal(folder, "sealed", 0, 1, hashlib.sha256(b"x").hexdigest())
    logs.close(folder)
    assert logs.complete(folder, "stdout") == logs.Seal(len(LINES), "", None, "", False)
    assert logs.complete(folder, "sealed") == kept


# beats


def test_the_last_beat_is_the_last_sign_of_life(folder):
    logs.append_beat(folder, 0, {"cpu": 1.0}, now=1000.0)
    logs.append_beat(folder, 0, {"cpu": 2.0}, now=1010.5)
    logs.append_beat(folder, 12, {"cpu": 0.5}, now=1003.0)
    assert logs.last_heard(folder) == {0: 1010.5, 12: 1003.0}
    assert logs.last_beat(folder, 0) == {"cpu": 2.0, "at": 1010.5}
    assert logs.last_beat(folder, 1) is None
    logs.heard(folder, 12, now=1020.0)
    logs.heard(folder, 3, now=1021.0)
    assert logs.last_heard(folder) == {0: 1010.5, 12: 1020.0, 3: 1021.0}
    assert logs.last_beat(folder, 12) == {"cpu": 0.5, "at": 1003.0}


def test_files_are_kept_once_beside_the_figures(folder):
    logs.append_beat(folder, 0, {"cpu": 1, "files": [{"path": "a", "size": 1}], "files_total": 1, "bytes_total": 1}, now=1.0)
    assert logs.last_beat(folder, 0) == {"cpu": 1, "at": 1.0}
    assert logs.listing(folder) == {"files": [{"path": "a", "size": 1}], "files_total": 1, "bytes_total": 1}
    assert logs.listing(folder, 7)["files"] == []


def test_thinning_out_keeps_peaks_and_the_newest(folder):
    for second in range(1000):
        logs.append_beat(folder, 0, {"cpu": 1.0, "memory": 10**9 if second == 501 else 5}, now=float(second))
    found = logs.beats(folder, 0, since=99.0, points=50)
    assert len(found) <= 50
    assert found[-1]["at"] == 999.0
    assert max(record["memory"] for record in found) == 10**9
    assert [record["at"] for record in logs.beats(folder, 0, since=996.0)] == [997.0, 998.0, 999.0]


def test_a_record_cut_short_by_a_full_disk_is_left_out(folder):
    logs.append_beat(folder, 0, {"cpu": 1.0}, now=1.0)
    with (folder / "beats" / "0.ndjson").open("a") as file:
        file.write('{"cpu": 2.0, "a')
    assert logs.last_beat(folder, 0) == {"cpu": 1.0, "at": 1.0}


# watching and deleting


def test_a_watch_is_seen_by_all_and_ends_by_itself(folder):
    now = time.time()
    assert logs.watch(folder, "stdout", now) is True
    assert logs.watch(folder, "stdout", now + 5) is False
    logs.watch(folder, "file:a/b.log", now + 20)
    assert logs.watched(folder, now + 21) == ["file:a/b.log", "stdout"]
    assert logs.watched(folder, now + 40) == ["file:a/b.log"]
    assert logs.watched(folder, now + 90) == []
    assert logs.watch(folder, "stdout", now + 90) is True


def test_deleting_takes_all_attempts_of_one_workload(settings, tmp_path):
    settings.LOGS_DIR = tmp_path
    for public_id, attempt in ("aaaaaa", 1), ("aaaaaa", 2), ("bbbbbb", 1):
        logs.write(logs.attempt_dir(public_id, attempt), "stdout", 0, 0, b"x")
    logs.delete("aaaaaa")
    logs.delete("aaaaaa")
    assert [path.name for path in tmp_path.iterdir()] == ["bbbbbb"]


@pytest.mark.parametrize("name", ["", "..", "a/b", "../x", "a\0b", "aaaaaa\n"])
def test_only_a_public_id_names_a_folder(settings, tmp_path, name):
    settings.LOGS_DIR = tmp_path
    with pytest.raises(ValueError, match="public id"):
        logs.attempt_dir(name, 1)
    with pytest.raises(ValueError, match="public id"):
        logs.delete(name)
