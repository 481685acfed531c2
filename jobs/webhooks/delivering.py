"""The turn of the webhooks: whatever is due is sent, each hook by a thread of its own, its messages in their order.

One idea: a hook's lease decides who sends for it; a message stays due until its answer is written down. So two beats send
once, a worker that dies sends again (at least once, under the same id), and a hook that does not answer holds up nobody but
itself: after a failure it rests, longer each time, and its message is tried again on a schedule of its own for a day.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import F, Q
from django.db.models.functions import Coalesce
from django.utils import timezone

from ..models import Turn, Webhook, WebhookDelivery
from ..sealed import Unreadable
from . import calling, disabling, signing

log = logging.getLogger(__name__)

EVERY = 1.0
LEASE = timedelta(seconds=90)
"""Longer than a thread works on a hook: WORK and one more call."""
WORK = 30.0
AT_ONCE = 50
THREADS = 8
KEPT = timedelta(days=30)
FIRST, GROWTH, LONGEST = timedelta(seconds=10), 3, timedelta(hours=6)
"""Until the second try of a message, how that grows with each, and its end: 10 s, 30 s, 90 s ... 6 h."""
REST = timedelta(seconds=1)
LONGEST_REST = timedelta(minutes=5)
LOGGED = 40
"""Tries that a message remembers."""
Start = Callable[[int], bool]

_free = threading.BoundedSemaphore(THREADS)


def turn(now: datetime | None = None, start: Start | None = None) -> int:
    """Set about whatever is due; for how many hooks. Waits for none of them."""
    moment = now or timezone.now()
    waiting = WebhookDelivery.objects.filter(due__lte=moment)
    if not waiting.exists() and not disabling.untold(moment).exists():
        return 0
    if not Turn.take("webhooks", moment, EVERY):
        return 0
    disabling.tell(moment)
    _give_up(moment)
    hooks = Webhook.objects.asked_to_try(moment).filter(pk__in=waiting.values("hook"))
    return sum((start or in_a_thread)(pk) for pk in hooks.order_by("leased_until", "pk").values_list("pk", flat=True)[: 10 * THREADS])


def in_a_thread(pk: int) -> bool:
    """Deliver for this hook beside everything else; False while all threads are busy: the next turn asks again."""
    if not _free.acquire(blocking=False):
        return False
    threading.Thread(target=_alone, args=(pk,), daemon=True, name=f"webhook-{pk}").start()
    return True


def deliver(pk: int, clock: Callable[[], datetime] = timezone.now) -> bool:
    """Send a hook's due messages, oldest first, until one fails or the time is over. False: somebody else is at it."""
    now = clock()
    if not Webhook.objects.asked_to_try(now).filter(pk=pk).update(leased_until=now + LEASE):
        return False
    end = time.monotonic() + WORK
    try:
        for row in WebhookDelivery.objects.filter(hook=pk, due__lte=now).order_by("pk")[:AT_ONCE]:
            hook = Webhook.objects.filter(pk=pk, active=True).select_related("owner").first()
            if hook is None or not _one(hook, row, clock) or time.monotonic() > end:
                break
    finally:
        Webhook.objects.filter(pk=pk).update(leased_until=None)
    return True


def forget(now: datetime) -> int:
    """Messages that were over long ago."""
    return WebhookDelivery.objects.filter(due__isnull=True, made__lt=now - KEPT).delete()[0]


def pause(tries: int) -> timedelta:
    """Between this try and the next."""
    return min(LONGEST, FIRST * GROWTH ** min(tries - 1, 20))


# --- private ----------------------------------------------------------------------------------------------------------
def _alone(pk: int) -> None:
    try:
        deliver(pk)
    except Exception:
        log.exception("webhook %s could not be served", pk)
    finally:
        connection.close()
        _free.release()


def _one(hook: Webhook, row: WebhookDelivery, clock: Callable[[], datetime]) -> bool:
    """One try of one message, written down. True if it arrived."""
    if not hook.may_tell():
        disabling.disable(hook, "Its maker may no longer know what it tells.", clock())
        return False
    begun, body = clock(), row.body.encode()
    try:
        signed = signing.headers(hook.key, row.public_id, int(begun.timestamp()), body)
    except Unreadable:
        disabling.disable(hook, "Its secret can't be read any more: SECRET_KEY was changed. Make a new one.", begun)
        return False
    answer = calling.post(hook.url, body, signed)
    with transaction.atomic():
        _note(row, answer, begun, clock())
        _judge(hook, answer, clock())
    return answer.good


def _note(row: WebhookDelivery, answer: calling.Answer, begun: datetime, now: datetime) -> None:
    """In the row's log, with when it is tried again. A message that somebody asked for again meanwhile stays due."""
    entry: dict[str, Any] = {"at": begun.isoformat(), "code": answer.code, "error": answer.error, "ms": answer.ms}
    values: dict[str, Any] = {"log": [*row.log, entry][-LOGGED:], "tries": row.tries + 1}
    if answer.good:
        values |= {"delivered": now, "due": None}
    else:
        values["due"] = min(now + pause(row.tries + 1), row.until) if now < row.until else None
    WebhookDelivery.objects.filter(pk=row.pk, due=row.due).update(**values)


def _judge(hook: Webhook, answer: calling.Answer, now: datetime) -> None:
    """What the answer says of the hook."""
    rows = Webhook.objects.filter(pk=hook.pk)
    if answer.good:
        rows.filter(Q(failures__gt=0) | Q(rests_until__isnull=False)).update(failures=0, failing_since=None, rests_until=None)
        return
    rest = min(LONGEST_REST, REST * 2 ** min(hook.failures, 20))
    rows.update(failures=F("failures") + 1, failing_since=Coalesce("failing_since", now), rests_until=now + rest)
    if answer.code == disabling.GONE:
        disabling.disable(hook, "It answered 410: it is gone for good.", now)
    elif hook.failing_since and now - hook.failing_since > disabling.PATIENCE:
        disabling.disable(hook, f"It has failed for {disabling.PATIENCE.days} days.", now)


def _give_up(now: datetime) -> None:
    """Messages whose day is over while their hook rests or is disabled; tried ones have their last try at its end."""
    late = WebhookDelivery.objects.filter(due__isnull=False, until__lt=now - 2 * LONGEST_REST)
    late.update(due=None)
    if Turn.take("webhooks-forget", now, 3600.0):
        forget(now)
