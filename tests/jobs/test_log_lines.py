"""Lines of a log: by number, by offset, by text, from the end; at any size, whatever happened to the index."""

import resource

import pytest

from jobs import logs
from jobs.logs import names

LINES = b"".join(b"step %d residual %.3e\n" % (i, 1 / (i + 1)) for i in range(20_000))


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "aBcDeF" / "1"


def fill(folder, data):
    for at in range(0, len(data), 100_000):
        logs.write(folder, "stdout", 0, at, data[at : at + 100_000])
    return logs.path_of(folder, "stdout", 0)


@pytest.mark.parametrize("data", [b"", b"\n", b"a", b"a\n", b"a\nb", b"\n\n\n", LINES, LINES + b"unfinished", b"x" * 300_000 + b"\ny"])
def test_lines_are_found_by_number_and_by_offset(folder, data):
    path = fill(folder, data) if data else logs.path_of(folder, "stdout")
    split = data.split(b"\n")[: -1 if data.endswith(b"\n") or not data else None]
    starts = [0]
    for line in split:
        starts.append(starts[-1] + len(line) + 1)
    assert logs.total_lines(path) == len(split)
    for first in {0, 1, len(split) // 2, len(split) - 3, len(split) - 1, len(split), len(split) + 5} - {-1, -2, -3}:
        found = logs.lines(path, first, 7)
        assert found.offsets == starts[:-1][first : first + 7]
        for number, offset in enumerate(found.offsets, first):
            assert logs.line_at(path, offset) == number


@pytest.mark.parametrize("damage", ["missing", "torn", "too long"])
def test_a_damaged_index_is_made_again(folder, damage):
    path = fill(folder, LINES)
    index = names.beside(path, "index")
    if damage == "missing":
        index.unlink()
    elif damage == "torn":
        index.write_bytes(index.read_bytes()[:-13])
    else:
        index.write_bytes(index.read_bytes() * 3)
    assert logs.total_lines(path) == 20_000
    assert logs.lines(path, 19_999, 5).offsets == [LINES.rindex(b"\n", 0, -1) + 1]


def test_search_finds_each_line_once_in_order(folder):
    path = fill(folder, LINES)
    found = logs.search(path, "STEP 1999", limit=100)
    expected = [i for i in range(20_000) if str(i).startswith("1999")]
    assert [line for line, _ in found.hits] == expected
    assert all(LINES[offset:].startswith(b"step 1999") for _, offset in found.hits)
    assert not found.more


def test_search_goes_on_where_it_stopped(folder):
    path = fill(folder, LINES)
    hits, after, more = [], -1, True
    while more:
        found = logs.search(path, "residual", after, limit=3_000)
        hits, after, more = hits + found.hits, found.last, found.more
    assert [line for line, _ in hits] == list(range(20_000))


def test_a_match_across_two_pieces_and_in_a_line_of_ten_megabytes_is_found(folder):
    data = bytearray(b"x" * (10 << 20))
    data[(1 << 20) - 3 : (1 << 20) + 3] = b"needle"
    data[(5 << 20) + 1 : (5 << 20) + 7] = b"needle"
    path = fill(folder, b"first\n" + bytes(data) + b"\nneedle last\n")
    assert [line for line, _ in logs.search(path, "needle").hits] == [1, 2]
    assert logs.search(path, "needle").hits[0][1] == 6 + (1 << 20) - 3


def test_search_stops_at_its_deadline_and_says_where(folder):
    path = fill(folder, LINES * 10)
    found = logs.search(path, "nowhere", seconds=-1)
    assert found.more
    assert 0 < found.last < 200_000
    assert not logs.search(path, "nowhere", found.last).more


def test_the_last_lines(folder):
    path = fill(folder, b"one\ntwo\nthree")
    assert logs.tail_lines(path, 2) == b"two\nthree"
    assert logs.tail_lines(path, 9) == b"one\ntwo\nthree"
    assert logs.tail_lines(path, 0) == b""
    logs.write(folder, "stdout", 0, 13, b"\n")
    assert logs.tail_lines(path, 1) == b"three\n"


def test_a_gigabyte_needs_little_memory(folder):
    path = fill(folder, b"start\n")
    with path.open("r+b") as file:
        file.truncate(1 << 30)
        file.seek((1 << 30) - 12)
        file.write(b"\nneedle end\n")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert logs.total_lines(path) == 3
    assert logs.lines(path, 2, 5).offsets == [(1 << 30) - 11]
    assert logs.search(path, "NEEDLE", seconds=60).hits == [(2, (1 << 30) - 11)]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000
