"""Live output: not a byte lost or doubled, at the viewer's own pace."""

import hashlib
import os

import pytest

from jobs import logs
from portal import live
from portal.consumers import tail
from portal.consumers.log import WINDOW
from tests.portal.live_client import follow, viewing, write

pytestmark = pytest.mark.django_db(transaction=True)

DATA = os.urandom(3 << 20)


async def test_an_info_comes_first_and_bytes_only_when_asked_for(work, folder, session, path):
    write(work, folder, b"one\ntwo\nthree")
    async with viewing(path, session) as viewer:
        assert await viewer.json() == {
            "type": "info",
            "size": 13,
            "lines": 3,
            "generation": 0,
            "complete": False,
            "ended": False,
            "unsure": False,
            "gaps": [],
            "sha256": None,
        }
        assert await viewer.receive_nothing(0.05)
        await follow(viewer, 4)
        assert await viewer.frame() == (4, b"two\nthree")


async def test_new_bytes_come_as_they_are_written(work, folder, session, path):
    async with viewing(path, session) as viewer:
        assert (await viewer.json())["size"] == 0
        await follow(viewer)
        at = 0
        for line in b"first\n", b"second\n", b"third\n":
            write(work, folder, line)
            assert await viewer.frame() == (at, line)
            at += len(line)


async def test_bytes_come_although_no_news_did(work, folder, session, path, monkeypatch):
    monkeypatch.setattr(tail, "LOOK", 0.05)
    async with viewing(path, session) as viewer:
        await viewer.json()
        await follow(viewer)
        logs.write(folder, "stdout", 0, 0, b"silent\n")
        assert await viewer.frame() == (0, b"silent\n")


async def test_a_big_log_comes_whole_in_frames_of_64_kib(work, folder, session, path):
    write(work, folder, DATA)
    async with viewing(path, session) as viewer:
        await viewer.json()
        await follow(viewer)
        assert await viewer.bytes_until(len(DATA)) == DATA


async def test_a_viewer_that_acknowledges_nothing_gets_a_mebibyte(work, folder, session, path):
    write(work, folder, DATA)
    async with viewing(path, session) as viewer:
        await viewer.json()
        await follow(viewer)
        got = await viewer.bytes_until(WINDOW, ack=False)
        assert await viewer.receive_nothing(0.1)
        await viewer.send_json_to({"type": "ack", "offset": len(got)})
        assert got + await viewer.bytes_until(len(DATA), at=len(got)) == DATA


async def test_many_breaks_lose_and_double_nothing(work, folder, session, path):
    """The log grows while its viewer comes and goes, each time from its own last offset."""
    got, written = b"", 0
    while len(got) < len(DATA):
        async with viewing(path, session) as viewer:
            await viewer.json()
            await follow(viewer, len(got))
            write(work, folder, DATA[written : written + 200_000])
            written = min(len(DATA), written + 200_000)
            for _ in range(3):
                if len(got) < written:
                    offset, data = await viewer.frame()
                    assert offset == len(got)
                    got += data
    assert got == DATA


async def test_a_pause_is_one_and_following_again_goes_on(work, folder, session, path):
    write(work, folder, b"before\n")
    async with viewing(path, session) as viewer:
        await viewer.json()
        await follow(viewer)
        await viewer.frame()
        await viewer.send_json_to({"type": "pause"})
        write(work, folder, b"meanwhile\n")
        info = await viewer.info(lambda info: info["size"] == 17)
        assert info["lines"] == 2
        await follow(viewer, 7)
        assert await viewer.frame() == (7, b"meanwhile\n")


async def test_a_gap_is_told_before_the_bytes_behind_it_and_never_sent(work, folder, session, path):
    write(work, folder, b"head")
    async with viewing(path, session) as viewer:
        await viewer.json()
        await follow(viewer)
        assert await viewer.frame() == (0, b"head")
        logs.gap(folder, "stdout", 0, 4, 5_000_000_000, "limit")
        write(work, folder, b"tail")
        info = await viewer.info(lambda info: info["gaps"])
        assert info["gaps"] == [[4, 5_000_000_000, "limit"]]
        assert await viewer.frame() == (5_000_000_000, b"tail")


async def test_a_new_generation_waits_for_the_viewer(work, folder, session, path):
    write(work, folder, b"a long old log")
    async with viewing(path, session) as viewer:
        await viewer.json()
        await follow(viewer)
        await viewer.frame()
        write(work, folder, b"new", generation=1)
        info = await viewer.info(lambda info: info["generation"] == 1)
        assert info["size"] == 3
        await follow(viewer)
        assert await viewer.frame() == (0, b"new")


async def test_the_end_of_a_log_is_told_with_its_hash(work, folder, session, path):
    write(work, folder, b"all of it\n")
    async with viewing(path, session) as viewer:
        await viewer.json()
        digest = hashlib.sha256(b"all of it\n").hexdigest()
        logs.seal(folder, "stdout", 0, 10, digest)
        live.hub.publish(f"log:{work.public_id}", {"done": True})
        info = await viewer.info(lambda info: info["ended"])
        assert (info["complete"], info["sha256"]) == (True, digest)


async def test_a_log_that_differs_from_the_nodes_is_not_called_complete(work, folder, session, path):
    write(work, folder, b"all of it\n")
    logs.seal(folder, "stdout", 0, 10, "0" * 64)
    async with viewing(path, session) as viewer:
        info = await viewer.json()
        assert (info["ended"], info["complete"]) == (True, False)
