"""Celery's tasks, one line each: take a turn. No retries, no results, no arguments but the queue's name."""

from __future__ import annotations

import contextlib

import redis
from celery import shared_task

from . import detecting, engine, following, hints, rounds
from .webhooks import delivering

ROUNDS = 100
"""Batches that one hint may work off before the next message gets its chance."""


@shared_task(name="jobs.turn", ignore_result=True)
def turn(queue: str) -> None:
    with contextlib.suppress(redis.RedisError):
        hints.taken(queue)
    any(not engine.turn(queue) for _ in range(ROUNDS))


@shared_task(name="jobs.sweep", ignore_result=True)
def sweep() -> None:
    rounds.sweep()


@shared_task(name="jobs.poll", ignore_result=True)
def poll() -> None:
    rounds.poll()


@shared_task(name="jobs.follow", ignore_result=True)
def follow() -> None:
    following.turn()


@shared_task(name="jobs.look", ignore_result=True)
def look() -> None:
    detecting.carry_out()


@shared_task(name="jobs.meter", ignore_result=True)
def meter() -> None:
    rounds.meter()


@shared_task(name="jobs.reconcile", ignore_result=True)
def reconcile() -> None:
    rounds.reconcile()


@shared_task(name="jobs.webhooks", ignore_result=True)
def webhooks() -> None:
    delivering.turn()
