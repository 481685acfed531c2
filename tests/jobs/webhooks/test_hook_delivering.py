"""The way of a message: sent, tried again, given up; a hook that rests, is disabled, and told about."""

from __future__ import annotations

import logging
import threading
from datetime import timedelta

import factories
import pytest
from django.core import mail

from jobs import mailing
from jobs.models import Webhook, WebhookDelivery
from jobs.webhooks import calling, delivering, disabling

pytestmark = pytest.mark.django_db


@pytest.fixture
def turn(clock):
    """A turn of the engine at the clock's time, in this thread."""

    def make(seconds=2):
        clock.forward(seconds)
        return delivering.turn(clock(), start=lambda pk: delivering.deliver(pk, clock))

    return make


@pytest.fixture
def job(owner, clock, hook):
    def make():
        work = factories.job(owner).workload
        work.submit(owner, clock())
        return work

    return make


def test_a_status_arrives_signed_within_a_turn(job, turn, receiver, hook, waiting, clock):
    work = job()
    assert turn() == 1
    (headers, _), = receiver.got
    row = hook.deliveries.get()
    assert headers["webhook-id"] == row.public_id
    assert headers["webhook-timestamp"] == str(int(clock().timestamp()))
    assert headers["webhook-signature"].startswith("v1,")
    assert receiver.said()[0]["data"]["id"] == work.public_id
    assert (row.state, row.tries, row.last["code"], row.delivered) == ("delivered", 1, 204, clock())
    assert waiting() == []
    assert turn() == 0


def test_beat_sends_its_turn():
    from jobs import tasks
    from portal.celery import app

    assert app.conf.beat_schedule["webhooks"]["task"] == tasks.webhooks.name


def test_a_turn_waits_for_nobody(job, receiver, hook, clock, monkeypatch):
    started = []
    monkeypatch.setattr(delivering.threading, "Thread", lambda **told: type("T", (), {"start": lambda self: started.append(told["args"])})())
    receiver.held.clear()
    job()
    clock.forward(2)
    assert delivering.turn(clock()) == 1
    assert started == [(hook.pk,)]
    assert receiver.got == []
    delivering._free.release()


def test_while_all_threads_are_busy_the_next_turn_asks_again(hook, monkeypatch):
    monkeypatch.setattr(delivering._free, "acquire", lambda blocking: False)
    assert not delivering.in_a_thread(hook.pk)


def test_what_fails_is_tried_again_later_and_later_under_one_id(job, turn, receiver, hook, clock):
    job()
    receiver.codes = [500, 503, 404]
    turn()
    row = hook.deliveries.get()
    assert (row.state, row.tries, row.due - clock()) == ("waiting", 1, timedelta(seconds=10))
    turn(5)
    assert len(receiver.got) == 1
    turn(10)
    turn(31)
    turn(91)
    row.refresh_from_db()
    assert [entry["code"] for entry in row.log] == [500, 503, 404, 204]
    assert row.state == "delivered"
    assert {headers["webhook-id"] for headers, _ in receiver.got} == {row.public_id}
    assert len({headers["webhook-timestamp"] for headers, _ in receiver.got}) == 4
    assert len({headers["webhook-signature"] for headers, _ in receiver.got}) == 4
    hook.refresh_from_db()
    assert (hook.failures, hook.failing_since, hook.rests_until) == (0, None, None)


def test_pauses_grow_to_six_hours():
    assert [delivering.pause(tries).total_seconds() for tries in (1, 2, 3, 7, 8, 9, 40, 4000)] == [10, 30, 90, 7290, 21_600, 21_600, 21_600, 21_600]


def test_it_is_given_up_after_a_day_and_the_hook_disabled_after_three_with_a_mail(job, turn, receiver, hook, owner, clock, settings, waiting):
    settings.EMAIL_HOST = "mail.example"
    owner.email = "owner@example.org"
    owner.save()
    job()
    receiver.code = 500
    for _ in range(30):
        turn(3600)
    row = hook.deliveries.get()
    assert row.state == "given up"
    assert 9 <= row.tries <= 14
    hook.refresh_from_db()
    assert hook.active
    for _ in range(50):
        job()
        turn(3600)
    hook.refresh_from_db()
    assert (hook.active, hook.trouble) == (False, "It has failed for 3 days.")
    job()
    assert not hook.deliveries.filter(made=clock()).exists()
    turn()
    turn()
    assert [message.to for message in mail.outbox] == [["owner@example.org"]]
    assert hook.public_id in mail.outbox[0].body
    for _ in range(30):
        turn(3600)
    assert waiting() == []


def test_a_mail_that_is_not_taken_is_tried_again(hook, turn, clock, settings, owner, monkeypatch):
    settings.EMAIL_HOST = "mail.example"
    owner.email = "owner@example.org"
    owner.save()
    disabling.disable(hook, "Because.", clock())

    def refuse(*args):
        raise OSError("no")

    with monkeypatch.context() as broken:
        broken.setattr(mailing, "send_mail", refuse)
        turn()
    turn()
    assert len(mail.outbox) == 1


def test_410_disables_at_once(job, turn, receiver, hook):
    job()
    receiver.code = 410
    turn()
    hook.refresh_from_db()
    assert (hook.active, hook.trouble) == (False, "It answered 410: it is gone for good.")
    hook.enable()
    receiver.code = 200
    turn(60)
    assert hook.deliveries.get().state == "delivered"


def test_a_dead_hook_is_asked_rarely_however_much_waits(job, turn, receiver, hook):
    receiver.code = 500
    for _ in range(20):
        job()
    for _ in range(600):
        turn(6)
    assert len(receiver.got) < 30
    receiver.code = 204
    for _ in range(60):
        turn(300)
    assert hook.deliveries.filter(delivered__isnull=False).count() == 20


def test_one_bad_message_does_not_hold_up_the_others(job, turn, receiver, hook, monkeypatch):
    works = [job() for _ in range(3)]
    real = calling.post

    def post(url, body, headers):
        return calling.Answer(500, "", 1) if works[0].public_id.encode() in body else real(url, body, headers)

    monkeypatch.setattr(delivering.calling, "post", post)
    turn()
    turn(5)
    assert [one["data"]["id"] for one in receiver.said()] == [work.public_id for work in works[1:]]


def test_messages_of_a_hook_arrive_in_their_order(job, turn, receiver):
    works = [job() for _ in range(5)]
    turn()
    assert [one["data"]["id"] for one in receiver.said()] == [work.public_id for work in works]


def test_a_slow_hook_does_not_hold_up_another(job, turn, receiver, hook, owner, clock):
    other, _ = Webhook.make(owner, receiver.url)
    job()
    Webhook.objects.filter(pk=hook.pk).update(leased_until=clock() + timedelta(seconds=60))  # a thread is at it
    turn()
    assert [row.hook_id for row in WebhookDelivery.objects.filter(delivered__isnull=False)] == [other.pk]
    assert not delivering.deliver(hook.pk, clock)


def test_a_worker_that_dies_in_between_sends_again(job, turn, receiver, hook, monkeypatch):
    job()

    def dies(*args):
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(delivering, "_note", dies)
        with pytest.raises(KeyboardInterrupt):
            turn()
    Webhook.objects.update(leased_until=None)
    turn()
    assert len(receiver.got) == 2
    assert len({headers["webhook-id"] for headers, _ in receiver.got}) == 1
    assert hook.deliveries.get().state == "delivered"


def test_what_is_asked_for_again_while_it_is_sent_stays_due(job, hook, clock, monkeypatch):
    job()
    row = hook.deliveries.get()

    def post(*args):
        row.again(clock() + timedelta(seconds=1))
        return calling.Answer(200, "", 1)

    monkeypatch.setattr(delivering.calling, "post", post)
    delivering.deliver(hook.pk, clock)
    row.refresh_from_db()
    assert row.state == "waiting"


def test_again_sends_the_same_once_more(job, turn, receiver, hook):
    job()
    turn()
    hook.deliveries.get().again()
    WebhookDelivery.objects.update(due=hook.deliveries.get().made)
    turn()
    assert receiver.got[0][1] == receiver.got[1][1]
    assert receiver.got[0][0]["webhook-id"] == receiver.got[1][0]["webhook-id"]


def test_a_test_message_arrives_and_tells_nothing(turn, receiver, hook, clock):
    hook.test(clock())
    turn()
    assert receiver.said()[0]["type"] == "test"


def test_a_secret_that_cannot_be_read_disables(job, turn, receiver, hook, settings):
    job()
    settings.SECRET_KEY = "another"
    turn()
    hook.refresh_from_db()
    assert not hook.active
    assert "SECRET_KEY" in hook.trouble
    assert receiver.got == []


def test_rights_lost_while_it_waits_silence_it_too(job, turn, receiver, hook, owner):
    job()
    type(owner).objects.filter(pk=owner.pk).update(is_active=False)
    turn()
    assert receiver.got == []


def test_no_secret_and_no_body_is_logged(job, turn, receiver, hook, caplog):
    caplog.set_level(logging.DEBUG)
    job()
    receiver.codes = [500, 410]
    turn()
    turn(30)
    assert hook.text not in caplog.text
    assert "key=1" not in caplog.text
    assert "v1," not in caplog.text


def test_old_messages_go(job, turn, hook, clock):
    job()
    turn()
    clock.forward(31 * 86_400)
    job()
    turn()
    assert hook.deliveries.count() == 1


def test_a_thread_that_breaks_gives_its_place_back(monkeypatch, caplog):
    done = threading.Event()

    def breaks(pk):
        raise RuntimeError("a bug")

    monkeypatch.setattr(delivering, "deliver", breaks)
    monkeypatch.setattr(delivering, "_free", type("Free", (), {"acquire": lambda self, blocking: True, "release": lambda self: done.set()})())
    assert delivering.in_a_thread(7)
    assert done.wait(30)
    assert "webhook 7 could not be served" in caplog.text
