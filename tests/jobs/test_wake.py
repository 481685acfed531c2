"""Hints: at most one on its way, never a failed or a slow click."""

from __future__ import annotations

import subprocess
import time

import factories
import pytest
import redis
from django.db import transaction

from jobs import hints, signals, tasks, wake
from portal.launch import broker


@pytest.fixture
def server(settings, tmp_path_factory):
    """A real Valkey on a socket of its own; hints go there."""
    path = broker.socket_path(tmp_path_factory.mktemp("valkey"))
    process = subprocess.Popen(broker.command(path), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    settings.REDIS_URL = broker.url(path)
    hints._client.cache_clear()
    wake.breaker.reset()
    _await_socket(settings.REDIS_URL)
    yield process
    process.kill()
    process.wait()
    hints._client.cache_clear()
    wake.breaker.reset()


@pytest.fixture
def sent(monkeypatch):
    """Queues that a message was sent for."""
    queues: list[str] = []
    monkeypatch.setattr(tasks.turn, "apply_async", lambda args, **options: queues.append(args[0]))
    return queues


def _await_socket(address):
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            return redis.Redis.from_url(address).ping()
        except redis.RedisError:
            time.sleep(0.02)
    raise AssertionError("no Valkey")


def test_a_burst_is_one_hint_until_a_turn_begins(server, sent):
    assert [wake.hint("queued") for _ in range(500)].count(True) == 1
    assert wake.hint("stopping")
    hints.taken("queued")
    assert wake.hint("queued")
    assert sent == ["queued", "stopping", "queued"]


def test_a_turn_lets_the_next_hint_pass_before_it_looks(server, sent, monkeypatch):
    seen = []
    monkeypatch.setattr(tasks.engine, "turn", lambda queue: seen.append(wake.hint(queue)) or 0)
    wake.hint("running")
    tasks.turn("running")
    assert seen == [True]


def test_one_hint_works_off_what_is_due(server, monkeypatch):
    left = [200, 200, 7, 0, 99]
    monkeypatch.setattr(tasks.engine, "turn", lambda queue: left.pop(0))
    tasks.turn("queued")
    assert left == [99]


def test_only_due_workloads_are_hinted_at(server, sent):
    signals.changed.send(None, topic="job:aBcDeF", facts={"status": "running", "version": 3})
    signals.changed.send(None, topic="log:aBcDeF", facts={"status": "running", "due": True})
    signals.changed.send(None, topic="job:aBcDeF", facts={"status": "completed", "due": True})
    assert sent == []
    signals.changed.send(None, topic="workstation:aBcDeF", facts={"status": "suspending", "due": True})
    assert sent == ["suspending"]


def test_a_dead_broker_is_left_alone_for_a_while(server, sent):
    server.kill()
    server.wait()
    assert not wake.hint("queued")
    assert wake.breaker.is_open()
    assert not wake.hint("queued")
    assert sent == []


def test_a_connection_that_died_in_the_pool_is_replaced(server, sent, settings):
    assert wake.hint("queued")
    client = redis.Redis.from_url(settings.REDIS_URL)
    client.client_kill_filter(_type="normal", skipme=True)
    hints.taken("queued")
    assert wake.hint("queued")
    assert sent == ["queued", "queued"]


def test_without_a_broker_there_are_no_hints(settings):
    settings.REDIS_URL = ""
    assert not wake.hint("queued")
    assert not wake.breaker.is_open()


@pytest.mark.django_db(transaction=True)
def test_what_is_not_committed_yet_is_not_hinted_at(sent, monkeypatch, clock):
    monkeypatch.setattr(wake, "hint", lambda queue: sent.append(queue))
    work = factories.job().workload
    with transaction.atomic():
        assert work.submit(work.owner, clock())
        assert sent == []
    assert sent == ["queued"]
