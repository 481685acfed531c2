"""An admin adds a Slurm cluster in a browser, on real daemons: look, try, offer; and what is wrong is said in words."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.real_portal import Portal
from tests.e2e.test_axe import AXE, look
from tests.jobs.backends import slurm_daemons

PAGE = "/hardware/slurm/"
PATIENT = 90_000
SESSION = "from django.test import Client\nc = Client()\nc.force_login(User.objects.get(username='admin'))\nprint(c.session.session_key)"


@pytest.fixture(scope="module")
def daemons() -> Iterator[slurm_daemons.Daemons]:
    with slurm_daemons.running(2, 2) as made:
        yield made


@pytest.fixture(scope="module")
def portal(daemons) -> Iterator[Portal]:
    options = {"folder": str(daemons.home / "jobs"), "config": str(daemons.config), "timeout": 10}
    made = Portal(SLURM="1", SLURM_OPTIONS=json.dumps(options))
    yield made
    made.close()


@pytest.fixture
def page(browser, portal) -> Iterator[Page]:
    context = browser.new_context(base_url=portal.url, viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    context.set_default_timeout(PATIENT)
    context.add_cookies([{"name": "sessionid", "value": portal.run(SESSION), "url": portal.url}])
    yield context.new_page()
    context.close()


def comes(page: Page, words: str) -> None:
    """Pushed, without a reload."""
    expect(page.get_by_text(words).first).to_be_visible(timeout=PATIENT)


def test_a_cluster_is_looked_at_tried_and_offered(page, portal, daemons):
    page.goto("/hardware/")
    page.get_by_role("link", name="Add a Slurm cluster").click()
    page.get_by_role("button", name="Look at it").click()
    comes(page, "2 nodes, 4 cores in 1 partition")
    page.get_by_role("link", name="Choose what to offer").click()
    page.get_by_label("Price a core-hour").fill("0.05")
    page.get_by_role("button", name="Try a job there").click()
    comes(page, "reaches the portal.")
    assert page.get_by_label("Price a core-hour").input_value() == "0.05"
    page.get_by_role("button", name="Add the chosen").click()
    comes(page, "1 coretype is on offer.")
    work = portal.engineer.submit("echo from $SLURMD_NODENAME", core="main-2c-97g")
    assert work.ends()["headraceStatus"] == "Completed", work.events
    assert daemons.running() == []


def test_what_is_wrong_is_said_on_the_page(page, daemons):
    daemons.end("munged")
    try:
        page.goto(PAGE)
        page.get_by_role("button", name="Look").click()
        comes(page, "munge does not answer on this machine")
    finally:
        daemons.start_munge()
    page.get_by_role("button", name="Look again").click()
    page.get_by_role("link", name="Choose what to offer").click()
    daemons.ask("scontrol", "update", "NodeName=n[1-2]", "State=DRAIN", "Reason=test")
    try:
        page.get_by_role("button", name="Try a job there").click()
        comes(page, "Waits for a node in partition main: nodes that it needs are down or reserved.")
        page.get_by_role("button", name="Give up").click()
        comes(page, "Given up. Waits for a node")
        expect(page.get_by_role("button", name="Give up")).to_have_count(0, timeout=PATIENT)
        assert daemons.running() == []
    finally:
        daemons.ask("scontrol", "update", "NodeName=n[1-2]", "State=RESUME")


def test_the_page_has_no_violation_and_fits_a_phone(page):
    if not AXE.is_file():
        pytest.skip("axe is not there; `python -m portal.assets --tests` brings it")
    found = look(page, PAGE) | look(page, "/hardware/accounts/")
    assert {path: said for path, said in found.items() if said} == {}
    page.set_viewport_size({"width": 360, "height": 800})
    page.goto(PAGE)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
