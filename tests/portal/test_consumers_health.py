"""Health: the history first, then every beat as it comes."""

import factories
import pytest
from asgiref.sync import sync_to_async

from jobs import logs
from jobs.models import Workload
from portal import live
from tests.portal.live_client import session_of, viewing

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def work(owner, settings, tmp_path):
    settings.LOGS_DIR = tmp_path
    return factories.job(owner, status="running").workload


@pytest.fixture
def folder(work):
    return logs.attempt_dir(work.public_id, 1)


@pytest.fixture
def path(work):
    return f"/live/jobs/{work.public_id}/health/"


def beat(work, folder, node, now, **figures):
    logs.append_beat(folder, node, figures, now=now)
    live.hub.publish(f"health:{work.public_id}", {"node": node})


async def test_history_then_each_beat_of_each_node(work, folder, path, owner):
    for now in 1000.0, 1002.0:
        beat(work, folder, 0, now, cpu=1.5)
    beat(work, folder, 1, 1001.0, cpu=0.5)
    async with viewing(path, await sync_to_async(session_of)(owner)) as viewer:
        assert await viewer.json() == {
            "type": "points",
            "node": 0,
            "heard": 1002.0,
            "points": [{"cpu": 1.5, "at": 1000.0}, {"cpu": 1.5, "at": 1002.0}],
        }
        assert await viewer.json() == {"type": "points", "node": 1, "heard": 1001.0, "points": [{"cpu": 0.5, "at": 1001.0}]}
        beat(work, folder, 1, 1003.0, cpu=2.5)
        assert await viewer.json() == {"type": "points", "node": 1, "heard": 1003.0, "points": [{"cpu": 2.5, "at": 1003.0}]}


async def test_a_viewer_that_comes_back_gets_what_it_lacks(work, folder, path, owner):
    for now in 1000.0, 1002.0, 1004.0:
        beat(work, folder, 0, now)
    async with viewing(f"{path}?since=1002.0", await sync_to_async(session_of)(owner)) as viewer:
        assert (await viewer.json())["points"] == [{"at": 1004.0}]


async def test_beats_come_although_no_news_did(work, folder, path, owner, monkeypatch):
    monkeypatch.setattr("portal.consumers.health.LOOK", 0.05)
    async with viewing(path, await sync_to_async(session_of)(owner)) as viewer:
        logs.append_beat(folder, 0, {"cpu": 1.0}, now=1000.0)
        assert (await viewer.json())["points"] == [{"cpu": 1.0, "at": 1000.0}]


async def test_looking_asks_the_agents_to_report_more_often(work, folder, path, owner):
    session = await sync_to_async(session_of)(owner)
    async with live.hub.subscribe(f"orders:{work.public_id}") as news, viewing(path, session):
        assert await news.next(10) == {f"orders:{work.public_id}": {"watched": "health"}}
        assert logs.watched(folder) == ["health"]


async def test_a_silent_page_is_kept_alive(work, folder, path, owner, monkeypatch):
    monkeypatch.setattr("portal.consumers.health.LOOK", 0.02)
    monkeypatch.setattr("portal.consumers.health.HEARTBEAT", 0.05)
    await Workload.objects.filter(pk=work.pk).aupdate(status="completed")
    async with viewing(path, await sync_to_async(session_of)(owner)) as viewer:
        assert await viewer.json() == {"type": "beat"}
    assert logs.watched(folder) == []
