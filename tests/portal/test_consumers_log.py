"""Live output: not a byte lost or doubled, at the viewer's own pace, in little memory."""

import asyncio
import hashlib
import os
from contextlib import AsyncExitStack

import factories
import pytest
from asgiref.sync import sync_to_async

from jobs import logs
from jobs.models import Workload
from portal import live
from portal.consumers import tail
from portal.consumers.log import WINDOW
from tests.portal.live_client import refused, session_of, until, viewing

pytestmark = pytest.mark.django_db(transaction=True)

DATA = os.urandom(3 << 20)


@pytest.fixture(autouse=True)
def logs_dir(settings, tmp_path):
    settings.LOGS_DIR = tmp_path / "logs"
    return settings.LOGS_DIR


@pytest.fixture
def work(owner):
    return factories.job(owner, status="running").workload


@pytest.fixture
def folder(work, logs_dir):
    return logs.attempt_dir(work.public_id, 1)


@pytest.fixture
def session(owner):
    return session_of(owner)


@pytest.fixture
def path(work):
    return f"/live/jobs/{work.public_id}/log/?stream=stdout"


def write(work, folder, data, stream="stdout", generation=0):
    at = logs.size(folder, stream, generation=generation)
    for start in range(0, len(data), 1 << 20):
        logs.write(folder, stream, generation, at + start, data[start : start + (1 << 20)])
    live.hub.publish(f"log:{work.public_id}", {"stream": stream, "size": at + len(data)})


async def follow(viewer, at=0):
    await viewer.send_json_to({"type": "follow", "from": at})


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


async def test_a_hundred_viewers_cost_one_look(work, folder, session, path, monkeypatch):
    looks = []
    real = tail.look

    async def counted(*given):
        looks.append(1)
        return await real(*given)

    monkeypatch.setattr(tail, "look", counted)
    async with AsyncExitStack() as stack:
        viewers = [await stack.enter_async_context(viewing(path, session)) for _ in range(100)]
        for viewer in viewers:
            await follow(viewer)
        await until(lambda: looks)
        looks.clear()
        write(work, folder, b"line\n")
        assert {await viewer.frame() for viewer in viewers} == {(0, b"line\n")}
        assert len(looks) < 20


async def test_watching_marks_the_stream_and_wakes_the_agent(work, folder, session):
    path = f"/live/jobs/{work.public_id}/log/?stream=file:results/run%201.log"
    async with live.hub.subscribe(f"orders:{work.public_id}") as news, viewing(path, session) as viewer:
        await viewer.json()
        assert await news.next(10) == {f"orders:{work.public_id}": {"watched": "file:results/run 1.log"}}
        assert logs.watched(folder) == ["file:results/run 1.log"]


async def test_a_log_of_a_job_at_rest_marks_nothing(work, folder, session, path):
    await Workload.objects.filter(pk=work.pk).aupdate(status="completed")
    write(work, folder, b"old\n")
    async with viewing(path, session) as viewer:
        await viewer.json()
        await follow(viewer)
        await viewer.frame()
    assert logs.watched(folder) == []


async def test_what_a_client_says_wrong_is_ignored(work, folder, session, path):
    write(work, folder, b"data\n")
    async with viewing(path, session) as viewer:
        await viewer.json()
        for wrong in {"type": "follow"}, {"type": "follow", "from": -5}, {"type": "ack", "offset": "x"}, {"from": 0}, [1], None, "x":
            await viewer.send_json_to(wrong)
        await viewer.send_to(text_data="{")
        await viewer.send_to(bytes_data=b"\xff")
        await follow(viewer, 10**15)
        assert await viewer.receive_nothing(0.05)
        await follow(viewer)
        assert await viewer.frame() == (0, b"data\n")


@pytest.mark.parametrize(
    "query",
    [
        "attempt=0",
        "attempt=2",
        "attempt=-1",
        "attempt=x",
        "stream=",
        "stream=file:",
        "stream=file:../x",
        "stream=file:/etc/passwd",
        "stream=file:a//b",
        "stream=file:a/%00",
        "stream=a/b",
        "stream=" + "x" * 200,
        "stream=file:" + "x/" * 4000 + "x",
    ],
)
async def test_a_stream_that_can_not_be_is_refused(work, session, query):
    if query == "stream=":  # an empty value is none: the default
        async with viewing(f"/live/jobs/{work.public_id}/log/?{query}", session):
            return
    assert await refused(f"/live/jobs/{work.public_id}/log/?{query}", session) == 4404


async def test_a_silent_log_is_kept_alive_by_an_info(work, folder, session, path, monkeypatch):
    monkeypatch.setattr("portal.consumers.log.HEARTBEAT", 0.05)
    async with viewing(path, session) as viewer:
        first = await viewer.json()
        assert await viewer.json() == first


async def test_a_log_that_cannot_be_read_closes_the_socket(work, session, path, monkeypatch):
    async def broken(*given):
        raise OSError("no disk")

    monkeypatch.setattr(tail, "look", broken)
    async with viewing(path, session) as viewer:
        assert await viewer.closed() == 4503


async def test_nothing_runs_on_when_the_last_viewer_has_gone(work, folder, session, path):
    async with viewing(path, session) as viewer:
        await viewer.json()
    await until(lambda: not tail._tails and not live.hub.watched(f"log:{work.public_id}"))
    await asyncio.sleep(0)
    assert len(asyncio.all_tasks()) == 1


async def test_a_stopping_server_lets_viewers_go(work, folder, session, path, monkeypatch):
    monkeypatch.setattr(live, "hub", live.Hub())
    async with viewing(path, session) as viewer:
        await viewer.json()
        await until(lambda: live.hub.watched(f"log:{work.public_id}"))
        live.hub.close()
        assert await viewer.closed() == 4503
    assert await sync_to_async(logs.size)(folder, "stdout") == 0
