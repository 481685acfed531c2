"""One portal for all end-to-end tests, and a way to start more where a test kills or changes it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator

import pytest

from tests.e2e.real_portal import Person, Portal

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"]


@pytest.fixture(scope="session")
def portal() -> Iterator[Portal]:
    """Shared: nobody kills it, fills its disk or uses up its money."""
    made = Portal(LOCAL_CORES="8", HEADRACE_LOG_HEAD=str(24 << 20), HEADRACE_LOG_TAIL=str(1 << 20))
    yield made
    made.close()


@pytest.fixture(scope="session")
def engineer(portal: Portal) -> Person:
    return portal.engineer


@pytest.fixture(scope="session")
def battered_portal() -> Iterator[Portal]:
    """Shared by tests that kill its processes; it comes back by itself."""
    made = Portal(LOCAL_CORES="4")
    yield made
    made.close()


@pytest.fixture
def another_portal() -> Iterator[Callable[..., Portal]]:
    """Starts one of the test's own; ended after the test."""
    started: list[Portal] = []

    def start(**more: str) -> Portal:
        started.append(Portal(**more))
        return started[-1]

    yield start
    for one in started:
        one.close()


@pytest.fixture(scope="session")
def as_root() -> None:
    if os.geteuid():
        pytest.skip("without root the kernel gives no right to mount")


@pytest.fixture(scope="session")
def browser_type_launch_args():
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not chromium:
        pytest.skip("no Chromium on this machine")
    return {"executable_path": chromium, "args": FLAGS}


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    if call.when == "call":
        item.failed = outcome.get_result().failed


@pytest.fixture(autouse=True)
def a_failed_test_leaves_the_cores_to_the_next(request):
    yield
    if getattr(request.node, "failed", False) and "portal" in request.fixturenames:
        portal = request.getfixturevalue("portal")
        portal.run("for work in Workload.objects.active(): work.stop(None, force=True)")
