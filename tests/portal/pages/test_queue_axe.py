"""The queue in Chromium: a job with several choices that waits, one that took its second, a draft of one, limits: axe finds no violation."""

from __future__ import annotations

from datetime import timedelta

import factories
import playing
import pytest
from browsing import LOOKS, faults
from django.test import Client

from jobs import gauging
from jobs.models import Limit, Workload

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def signed(admin):
    client = Client()
    client.force_login(admin)
    return client


@pytest.fixture
def pages(admin, owner, wing, money, clock, cloud, monkeypatch):
    monkeypatch.setattr(cloud, "pools", {"granite": 16, "basalt": 8})
    gauging.forget()
    granite = factories.coretype(code="granite", cores=16, max_nodes=2, price="0.1", economy_price="0.05")
    basalt = factories.coretype(code="basalt", name="Basalt", cores=8, price="0.3")
    Limit.objects.create(most_jobs=4, coretype=basalt)
    one = Limit.objects.create(per="project", project=wing, most_jobs=20, most_cores=64)
    shapes = [(granite, 1, 16), (basalt, 1, 8)]
    works = [_job(owner, wing, clock, shapes) for _ in range(3)]
    draft = factories.job(owner, project=wing, coretype=granite, cores=16, name="beam-draft").workload
    draft.accept(shapes)
    Workload.objects.update(since=clock() - timedelta(minutes=3))
    _, took, waits = (work.public_id for work in works)
    return [f"/jobs/{waits}/", f"/jobs/{waits}/settings/", f"/jobs/{took}/", f"/jobs/new/?draft={draft.public_id}",
            "/hardware/", "/hardware/limits/", "/hardware/limits/new/", f"/hardware/limits/{one.pk}/", f"/hardware/limits/{one.pk}/delete/"]  # fmt: skip


def _job(owner, wing, clock, shapes):
    kind, nodes, cores = shapes[0]
    work = factories.job(owner, project=wing, coretype=kind, nodes=nodes, cores=cores, name="beam-study").workload
    work.accept(shapes)
    work.submit(owner, clock())
    playing.turn_all(clock, ("queued", "validating", "starting"))
    return work


@pytest.mark.parametrize("look", LOOKS)
def test_pages_of_the_queue_have_no_violation_and_fit(shown, pages, look):
    assert faults(shown, pages, look) == {}
