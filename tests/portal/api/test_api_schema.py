"""The OpenAPI document: what it says is what is answered. Generated requests find no 500 and nothing outside of it."""

from __future__ import annotations

import json
import re

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.test import Client

schemathesis = pytest.importorskip("schemathesis")
hypothesis = pytest.importorskip("hypothesis")

import stations as stations_of  # noqa: E402

from jobs.models import ApiToken, Scope  # noqa: E402
from portal.api.v2 import api  # noqa: E402

EXAMPLES = 8
"""Requests of each operation; more find nothing new and take minutes."""


def document():
    return json.loads(json.dumps(api.get_openapi_schema(path_prefix="/api/v2/"), default=str))


schema = schemathesis.openapi.from_dict(document())
conformance = schemathesis.specs.openapi.checks
CHECKS = [schemathesis.checks.not_a_server_error, conformance.status_code_conformance, conformance.content_type_conformance,
          conformance.response_schema_conformance]


@pytest.fixture
def portal(jobs, owner, me, wanted, settings):
    """A server in this process, a token, and the ids of jobs in every status. (Its requests close no connection of the test.)"""
    settings.API_RATE = "1000000/m"
    me.upload("a.txt", b"1\n2\n")
    me.post("jobs/", wanted())
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    roads = {"draft": "", "active": "", "suspended": "active"}
    stations = [stations_of.desk(owner, status, last=last).public_id for status, last in roads.items()]
    ids = {"job_id": [job.public_id for job in jobs.values()], "station_id": stations}
    yield WSGIHandler(), ApiToken.make(owner, "schema", Scope.RUN)[1], ids
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.mark.filterwarnings("ignore")
def test_nothing_outside_of_the_document(portal):
    found = []
    for one in schema.get_all_operations():
        operation = one.ok()
        operation.app = portal[0]
        try:
            _asked(operation, portal[1], portal[2])
        except Exception as error:
            found.append(f"{operation.method.upper()} {operation.path}\n{error}\n{getattr(error, 'exceptions', '')}")
    assert not found, "\n\n".join(found)


def _asked(operation, token, ids):
    """EXAMPLES generated requests, every other one about a job or a workstation that there is."""
    @hypothesis.settings(max_examples=EXAMPLES, deadline=None, database=None, derandomize=True,
                         suppress_health_check=list(hypothesis.HealthCheck), phases=[hypothesis.Phase.generate])
    @hypothesis.given(case=operation.as_strategy(), real=hypothesis.strategies.integers(0, 20))
    def ask(case, real):
        for name in set(case.path_parameters or {}) & set(ids) if real else ():
            case.path_parameters[name] = ids[name][real % len(ids[name])]
        case.headers = {**(case.headers or {}), "Authorization": f"Token {token}"}
        case.validate_response(case.call(), checks=CHECKS)

    ask()


def test_it_is_3_1_and_every_operation_says_how_it_refuses():
    found = document()
    assert found["openapi"].startswith("3.1")
    for path, operations in found["paths"].items():
        for method, one in operations.items():
            assert {"400", "401", "429"} <= one["responses"].keys(), (method, path)
            assert one["summary"], (method, path)
            if "{" in path and "/organizations/{org}/workspaces" not in path:
                assert "404" in one["responses"], (method, path)
            if method != "get" and path != "/api/v2/":
                assert "403" in one["responses"], (method, path)


def test_a_page_shows_it_without_a_script(owner):
    client = Client()
    assert client.get("/api/v2/docs/").status_code == 302
    client.force_login(owner)
    answer = client.get("/api/v2/docs/")
    page = answer.content.decode()
    assert answer.status_code == 200
    for path in document()["paths"]:
        assert path in page
    assert "<script>" not in page
    assert not re.search(r' (style|on\w+)="', page)
    assert client.get("/api/v2/openapi.json").json()["info"]["title"] == "Headrace"
