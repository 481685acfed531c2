"""A database that is away while a job ends: the node is told to come again, and the end is the true one."""

import asyncio
import json
from datetime import timedelta

import factories
import playing
import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import OperationalError
from django.utils import timezone

from jobs import lifecycle, tokens
from jobs.models import JobInput, StoredFile, Workload
from portal.api import nodes

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("cloud")]


def report(token, name, body, method="POST"):
    """Tells a fact as an agent does, or asks; (code, answer)."""
    headers = [(b"authorization", f"Bearer {tokens.secret_of(token)}".encode()), (b"headrace-protocol", b"1")]
    scope = {"type": "http", "method": method, "path": f"/nodes/{token}/0/{name}", "query_string": b"", "headers": headers}
    sent, left = [], [{"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}]

    async def receive():
        return left.pop() if left else await asyncio.Future()

    async def send(message):
        sent.append(message)

    asyncio.run(nodes.application(scope, receive, send))
    data = b"".join(message.get("body", b"") for message in sent)
    return sent[0]["status"], data if sent[0]["status"] == 200 and method == "GET" else json.loads(data)


def test_an_end_that_could_not_be_written_is_told_again_and_keeps_its_moment(clock, monkeypatch):
    work = factories.job(command="sleep 20; exit 3").workload
    clock.now = timezone.now() - timedelta(seconds=120)
    assert work.submit(work.owner, clock())
    playing.turn_all(clock, ("queued", "validating", "starting"))
    playing.boot(Workload.objects.get(pk=work.pk), clock)
    playing.turn_all(clock)
    token, over = work.cluster.token, clock.forward(20)
    end = {"code": 3, "clock": over.timestamp()}

    async def away(*args):
        raise OperationalError("server closed the connection unexpectedly")

    with monkeypatch.context() as broken:
        broken.setattr(nodes, "in_database", away)
        assert report(token, "exit", end)[0] == 503
    assert work.cluster.exited is None
    assert report(token, "exit", end)[0] == 200
    assert report(token, "exit", {**end, "code": 0})[0] == 200
    assert abs((work.cluster.exited - over).total_seconds()) < 0.01
    assert report(token, "done", {"files": 0, "bytes": 0})[0] == 200
    clock.now = timezone.now()
    for _ in range(3):
        playing.turn_all(clock)
    work.refresh_from_db()
    assert (work.status, work.reason, work.cluster.exit["code"]) == (lifecycle.FAILED, "exit-code", 3)


@pytest.mark.parametrize("left", [None, b"deck of"])
def test_bytes_that_storage_lost_are_refused_at_once(clock, left):
    work = factories.job(command="cat deck").workload
    key = default_storage.save("inputs/deck", ContentFile(b"deck of old"))
    file = StoredFile.objects.create(owner=work.owner, name="deck", size=11, sha256="0" * 64, key=key)
    use = JobInput.objects.create(job=work.job, file=file, name="deck")
    clock.now = timezone.now()
    assert work.submit(work.owner, clock())
    playing.turn_all(clock, ("queued", "validating", "starting"))
    token = work.cluster.token
    assert report(token, f"input/{use.pk}", {}, "GET") == (200, b"deck of old")
    default_storage.delete(key)
    if left is not None:
        default_storage.save(key, ContentFile(left))
    assert report(token, f"input/{use.pk}", {}, "GET")[0] == 404
