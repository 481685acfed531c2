"""A running job with a folder for its log, and who may look at it."""

import factories
import pytest

from jobs import logs
from tests.portal.live_client import session_of


@pytest.fixture(autouse=True)
def logs_dir(settings, tmp_path):
    settings.LOGS_DIR = tmp_path / "logs"
    return settings.LOGS_DIR


@pytest.fixture
def work(owner):
    return factories.job(owner, status="running").workload


@pytest.fixture
def folder(work, logs_dir):
    return logs.attempt_dir(work.public_id, 1)


@pytest.fixture
def session(owner):
    return session_of(owner)


@pytest.fixture
def path(work):
    return f"/live/jobs/{work.public_id}/log/?stream=stdout"
