"""`headrace submit --or`: what is typed becomes the job's choices, what can't be read is refused before anything is sent."""

from __future__ import annotations

import factories
import httpx
import pytest
from click.testing import CliRunner

from jobs.models import Workload
from portal.cli import app
from portal.cli.api import Api
from portal.cli.config import Config


@pytest.fixture
def submit(monkeypatch, me, kind, shell):
    """Runs `headrace submit` against the API of this process."""
    def answer(asked):
        got = me(asked.method, asked.url.raw_path.decode().removeprefix("/api/v2/"), asked.content)
        return httpx.Response(got.status_code, content=got.content)

    calls = Api(Config("http://portal.test", me.text))
    calls.http = httpx.Client(base_url="http://portal.test", transport=httpx.MockTransport(answer))
    monkeypatch.setattr(app, "api", lambda: calls)
    return lambda *given: CliRunner().invoke(app.headrace, ["submit", "-c", "true", "-H", "granite", "-n", "8", *given])


def test_choices_are_kept_in_the_order_typed(submit):
    factories.coretype(code="basalt", name="Basalt", cores=4, max_nodes=2)
    done = submit("--or", "basalt", "--or", "granite:2")
    assert done.exit_code == 0, done.output
    work = Workload.objects.get()
    assert [(one.coretype.code, one.nodes, one.cores) for one in work.choices.all()] == [("granite", 1, 8), ("basalt", 2, 4), ("granite", 1, 2)]
    assert work.status == "queued"


def test_without_it_there_is_one_hardware(submit):
    assert submit().exit_code == 0
    assert not Workload.objects.get().choices.exists()


@pytest.mark.parametrize("typed", ["", ":8", "basalt:", "basalt:0", "basalt:-1", "basalt:many", "basalt:1.5", "basalt:8:8", "basalt:²"])
def test_what_cannot_be_read_is_said(submit, typed):
    done = submit("--or", typed)
    assert done.exit_code == 2
    assert "is not CORETYPE:CORES, such as granite:16." in " ".join(done.output.replace("│", " ").split())
    assert not Workload.objects.exists()


def test_what_the_portal_refuses_is_told(submit):
    done = submit("--or", "nothing:4")
    assert done.exit_code == 125
    assert "no coretype nothing" in done.output
