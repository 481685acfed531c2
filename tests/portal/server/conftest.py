"""The servers that the tests here talk to: ours, and uvicorn, under which the project runs as well."""

import pytest

from tests.portal.asgi_probe import OURS, UVICORN, running


@pytest.fixture(scope="module", params=["ours", "uvicorn"])
def server(request):
    with running(OURS if request.param == "ours" else UVICORN) as (port, _):
        yield port


@pytest.fixture(scope="module")
def ours():
    with running() as (port, _):
        yield port
