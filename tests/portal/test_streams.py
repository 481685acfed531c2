"""Downloads and uploads by ranges and pieces: right headers, right bytes, names as they are."""

import asyncio

import pytest

from portal import streams

DATA = bytes(range(256)) * 8


@pytest.fixture
def parts(tmp_path):
    """2,048 bytes in three parts: a stretch of a file, bytes, a stretch of another file."""
    for name, data in ("one", b"before" + DATA[:1000]), ("two", DATA[1024:]):
        (tmp_path / name).write_bytes(data)
    return [streams.of_file(tmp_path / "one", 6), DATA[1000:1024], streams.of_file(tmp_path / "two")]


async def whole(answer):
    return b"".join([piece async for piece in answer.pieces()])


async def test_all_parts_come_in_order(parts):
    answer = streams.answer("GET", {}, parts, filename="x.bin")
    assert answer.status == 200
    assert dict(answer.headers)["Content-Length"] == "2048"
    assert await whole(answer) == DATA


@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [
        ("0-0", 0, 1),
        ("0-9", 0, 10),
        ("990-1100", 990, 1101),
        ("1020-", 1020, 2048),
        ("-5", 2043, 2048),
        ("-9999", 0, 2048),
        ("2047-9999", 2047, 2048),
    ],
)
async def test_a_range_is_206(parts, asked, start, end):
    answer = streams.answer("GET", {"range": f"bytes={asked}"}, parts, filename="x")
    headers = dict(answer.headers)
    assert answer.status == 206
    assert headers["Content-Range"] == f"bytes {start}-{end - 1}/2048"
    assert headers["Content-Length"] == str(end - start)
    assert await whole(answer) == DATA[start:end]


@pytest.mark.parametrize("asked", ["bytes=2048-", "bytes=5000-6000", "bytes=-0"])
async def test_a_range_of_nothing_is_416(parts, asked):
    answer = streams.answer("GET", {"range": asked}, parts, filename="x")
    assert answer.status == 416
    assert dict(answer.headers)["Content-Range"] == "bytes */2048"
    assert await whole(answer) == b""


@pytest.mark.parametrize(
    "asked", ["", "bytes=", "bytes=-", "bytes=5-2", "bytes=1-2,4-5", "lines=1-2", "bytes=x-y", "bytes=" + "9" * 40 + "-"]
)
async def test_a_range_that_is_none_is_everything(parts, asked):
    answer = streams.answer("GET", {"range": asked}, parts, filename="x")
    assert (answer.status, await whole(answer)) == (200, DATA)


async def test_if_range_of_another_version_is_everything(parts):
    asked = {"range": "bytes=5-9", "if-range": '"old"'}
    assert streams.answer("GET", asked, parts, filename="x", etag="new").status == 200
    assert streams.answer("GET", {**asked, "if-range": '"new"'}, parts, filename="x", etag="new").status == 206


async def test_what_the_client_has_is_not_sent_again(parts):
    answer = streams.answer("GET", {"if-none-match": '"a", "b"'}, parts, filename="x", etag="b")
    assert (answer.status, await whole(answer)) == (304, b"")


async def test_head_has_the_length_and_no_body(parts):
    answer = streams.answer("HEAD", {}, parts, filename="x")
    assert dict(answer.headers)["Content-Length"] == "2048"
    assert await whole(answer) == b""


@pytest.mark.parametrize(
    ("name", "plain", "full"),
    [
        ("out.log", "out.log", "out.log"),
        ('a "b".log', "a 'b'.log", "a%20%22b%22.log"),
        ("größe 50%.txt", "gr__e 50_.txt", "gr%C3%B6%C3%9Fe%2050%25.txt"),
        ("../../etc/passwd", ".._.._etc_passwd", ".._.._etc_passwd"),
        ("a\r\nSet-Cookie: x", "a__Set-Cookie: x", "a__Set-Cookie%3A%20x"),
        ("\U0001f680", "_", "%F0%9F%9A%80"),
        ("b\udcff", "b\xff", "b%5Cxff"),
    ],
)
def test_a_name_comes_in_both_forms_and_breaks_nothing(name, plain, full):
    assert streams.disposition(name) == f"attachment; filename=\"{plain}\"; filename*=UTF-8''{full}"
    assert streams.disposition(name, inline=True).startswith("inline; ")


def receiver(*messages):
    queue = list(messages)

    async def receive():
        if queue:
            return queue.pop(0)
        return await asyncio.Event().wait()

    return receive


async def test_a_body_comes_in_pieces_up_to_a_limit():
    messages = [{"type": "http.request", "body": b"x" * 10, "more_body": True}] * 3 + [{"type": "http.request"}]
    assert [piece async for piece in streams.body(receiver(*messages))] == [b"x" * 10] * 3
    assert await streams.whole_body(receiver(*messages), 30) == b"x" * 30
    with pytest.raises(streams.TooBig):
        await streams.whole_body(receiver(*messages), 29)


async def test_a_client_that_goes_in_the_middle_of_a_body_is_noticed():
    with pytest.raises(streams.Gone):
        await streams.whole_body(receiver({"type": "http.request", "body": b"x", "more_body": True}, {"type": "http.disconnect"}), 99)


async def test_work_ends_with_its_client_or_by_itself():
    ended = asyncio.Event()

    async def forever():
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    await streams.while_there(receiver({"type": "http.disconnect"}), forever())
    assert ended.is_set()
    await streams.while_there(receiver(), asyncio.sleep(0))


async def test_an_error_of_the_work_is_not_lost():
    async def broken():
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        await streams.while_there(receiver(), broken())
