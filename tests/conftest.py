"""The cast of every test: an owner, a member of the same project, a stranger, an admin."""

import os
import sys
from pathlib import Path

import hypothesis
import pytest

sys.path.insert(0, str(Path(__file__).parent))

import factories  # noqa: E402

hypothesis.settings.register_profile("busy", deadline=None)  # a machine that stood still for a moment is no failure
hypothesis.settings.load_profile("busy")


@pytest.fixture
def owner(db):
    return factories.user("owner")


@pytest.fixture
def member(db):
    return factories.user("member")


@pytest.fixture
def stranger(db):
    return factories.user("stranger")


@pytest.fixture
def admin(db):
    return factories.user("boss", is_staff=True, is_superuser=True)


@pytest.fixture
def wing(owner, member):
    return factories.project(owner, member)


@pytest.fixture
def clock():
    """A clock that the test moves by hand."""
    import playing

    return playing.Clock()


@pytest.fixture
def cloud():
    """The fake cloud, empty and well-behaved."""
    from jobs import backends

    fake = backends.get("fake")
    _emptied(fake)
    yield fake
    _emptied(fake)


def _emptied(fake):
    """Some tests never tear down what they began."""
    fake.misbehave()
    for token in list(fake.tokens()):
        fake.vanish(token)


REAL = ("e2e", "launch", "agent", "backends", "scripts")
"""Folders whose tests start real processes and wait for them with a deadline."""


def pytest_collection_modifyitems(config, items):
    """Browsers last: Playwright leaves an event loop running in the thread of the tests, in which nothing else can start one.

    In CI a test with real processes that failed gets one more try, which the summary counts as a rerun: a machine that stood
    still for a moment is no bug. What fails twice fails.
    """
    items.sort(key=lambda item: (in_browser(item), not item.get_closest_marker("alone")))  # the long ones first, else all wait for them
    for item in items if os.environ.get("CI") else []:
        if set(REAL) & set(item.path.parts):
            item.add_marker(pytest.mark.flaky(reruns=1, reruns_delay=2))
    for item in items if getattr(config.option, "loadgroup", False) else []:
        item.add_marker(pytest.mark.xdist_group(group_of(item)))


def in_browser(item):
    return "playwright" in getattr(item, "fixturenames", ())


def group_of(item):
    """What one process runs together when tests run side by side: a file, which shares its daemons and portals; the browser's part
    of it apart, so that browsers stay last; and each long test on its own."""
    if item.get_closest_marker("alone"):
        return item.name
    return f"{item.path.name}{' in a browser' if in_browser(item) else ''}"


@pytest.fixture
def tell(record_property):
    """Says a figure in the summary, whichever process the test ran in."""
    return lambda text: record_property("told", text)


def pytest_terminal_summary(terminalreporter):
    reports = terminalreporter.stats.get("passed", []) + terminalreporter.stats.get("failed", [])
    for text in sorted({value for report in reports for name, value in report.user_properties if name == "told"}):
        terminalreporter.write_line(text)
