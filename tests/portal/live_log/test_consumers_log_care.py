"""Live output: what many viewers cost, what a viewer sets going, what is refused, and how it all ends."""

import asyncio
from contextlib import AsyncExitStack

import pytest
from asgiref.sync import sync_to_async

from jobs import logs
from jobs.models import Workload
from portal import live
from portal.consumers import tail
from tests.portal.live_client import follow, refused, until, viewing, write

pytestmark = pytest.mark.django_db(transaction=True)


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
