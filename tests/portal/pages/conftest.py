"""Jobs in every status for the tests of the pages, in a data folder of their own."""

import os
import shutil
import sys
from pathlib import Path

import pytest
from django.core.cache import cache
from django.core.files.storage import storages
from django.test import Client

os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"  # Playwright's plain API leaves a loop running in the thread of the tests
sys.path.insert(0, str(Path(__file__).parent))

import browsing  # noqa: E402
import factories  # noqa: E402
import scenes  # noqa: E402


@pytest.fixture(autouse=True)
def folders(settings, tmp_path):
    """Logs, uploads and storage of this test alone."""
    settings.LOGS_DIR, settings.UPLOADS_DIR, settings.FILES_DIR = (tmp_path / name for name in ("logs", "uploads", "files"))
    settings.STORAGES = {**settings.STORAGES, "default": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": str(tmp_path / "files")}}}
    storages._storages.clear()
    cache.clear()
    yield tmp_path
    storages._storages.clear()


@pytest.fixture
def money(wing):
    return factories.budget(wing, 1000, name="Wing")


@pytest.fixture
def jobs(owner, wing, money):
    """One job in each status, by name."""
    return scenes.all_of_them(owner, wing)


@pytest.fixture
def kind(db):
    return factories.coretype(cores=8, max_nodes=4, walltime_max=48 * 3600)


@pytest.fixture
def filled(owner, wing, kind, money):
    """What a browser sends for a good form."""
    return {"name": "beam", "software": factories.software().pk, "command": "echo hello", "environment": "", "pipefail": "on", "coretype": kind.pk,
            "nodes": "1", "cores": "", "walltime": "2 h", "project": wing.pk, "key": "key-1", "action": "submit"}


@pytest.fixture
def signed(owner):
    """A browser in which the owner is signed in."""
    client = Client()
    client.force_login(owner)
    return client


@pytest.fixture(scope="session")
def browser_type_launch_args():
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not chromium:
        pytest.skip("no Chromium on this machine")
    if not browsing.AXE.is_file():
        pytest.skip("axe is not there; `python -m portal.assets --tests` brings it")
    return {"executable_path": chromium, "args": browsing.FLAGS}


@pytest.fixture
def shown(browser, signed):
    """Opens an address of the portal in Chromium as `signed`: Django's test client answers, no server, no network."""
    with browsing.opening(browser, signed) as open_page:
        yield open_page


@pytest.fixture
def as_user():
    def sign_in(user):
        client = Client()
        client.force_login(user)
        return client

    return sign_in
