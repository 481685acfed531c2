"""A workstation as people use it: a real desktop in Chromium, typed into, suspended, resumed; its home is as it was."""

from __future__ import annotations

import re
import shutil

import pytest
from playwright.sync_api import expect

from tests.waiting import until

pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, ("Xtigervnc", "openbox", "xterm"))), reason="needs tigervnc-standalone-server, openbox and xterm"
)
PATIENCE = 90_000
"""Milliseconds: the machine may be busy with other tests."""
MAKE = """
who = User.objects.get(username='engineer')
kind = WorkstationKind.objects.filter(session='%s').first()
station = Workstation.make(who, kind, Coretype.objects.filter(backend='local').first(), name='desk', cores=1, project=Project.objects.first())
station.workload.submit(who)
print(station.workload.public_id)
"""


@pytest.fixture
def page(browser, engineer):
    context = browser.new_context(base_url=engineer.portal.url, viewport={"width": 1360, "height": 950})
    context.set_default_timeout(PATIENCE)
    context.add_cookies([{"name": "sessionid", "value": engineer.cookie(), "url": engineer.portal.url}])
    page, problems = context.new_page(), []
    page.on("pageerror", lambda error: problems.append(f"{page.url}: {error}"))
    page.on("console", lambda said: said.type == "error" and "Content Security Policy" in said.text and problems.append(said.text))
    yield page
    context.close()
    assert problems == []


@pytest.fixture
def station(portal):
    """Makes workstations of the engineer; ended after the test."""
    made = []

    def make(kind):
        made.append(portal.run(MAKE % kind))
        return made[-1]

    yield make
    for public_id in made:
        portal.run(f"Workload.objects.get(public_id='{public_id}').stop(None, force=True)")


def home(portal, public_id, attempt, name):
    """A file of its home, once it is there and not empty."""

    def look():
        for folder in portal.data.glob(f"clusters/*-{public_id}-{attempt}/work"):
            if (folder / name).exists():
                return (folder / name).read_text()
        return ""

    return until(look)


def connected(page):
    expect(page.get_by_text("Connected", exact=True)).to_be_visible(timeout=PATIENCE)


def enter(page, line):
    page.keyboard.type(line + "\n", delay=15)


def suspend_and_resume(page):
    page.get_by_role("link", name=re.compile("^Suspend")).first.click()
    page.get_by_role("dialog").get_by_role("button", name=re.compile("^Suspend")).click()
    expect(page.get_by_role("button", name=re.compile("^Resume")).first).to_be_visible(timeout=PATIENCE)
    page.get_by_role("button", name=re.compile("^Resume")).first.click()
    connected(page)


def white(page):
    """Whether a terminal's window shows on the desktop: what is typed goes there."""
    look = "canvas => [...canvas.getContext('2d').getImageData(300, 200, 1, 1).data].slice(0, 3).join() == '255,255,255'"
    return page.locator("canvas").first.evaluate(look)


def test_a_desktop_is_typed_into_suspended_and_resumed(page, portal, station):
    public_id = station("desktop")
    page.goto(f"/workstations/{public_id}/")
    connected(page)
    until(lambda: white(page))
    page.locator("canvas").first.click(position={"x": 300, "y": 200})
    enter(page, "echo made-$((1+1)) > kept.txt; ln -s kept.txt link; chmod 640 kept.txt")
    assert home(portal, public_id, 1, "link") == "made-2\n"
    suspend_and_resume(page)
    assert home(portal, public_id, 2, "link") == "made-2\n"
    until(lambda: white(page))
    page.locator("canvas").first.click(position={"x": 300, "y": 200})
    enter(page, "stat -c %a link kept.txt > seen.txt")
    assert home(portal, public_id, 2, "seen.txt") == "777\n640\n"


def test_a_terminal_keeps_its_screen_over_a_reload_and_its_home_over_a_pause(page, portal, station):
    public_id = station("terminal")
    page.goto(f"/workstations/{public_id}/")
    connected(page)
    page.locator(".xterm").first.click()
    enter(page, "echo made-$((1+1)) | tee kept.txt")
    assert home(portal, public_id, 1, "kept.txt") == "made-2\n"
    page.reload()
    connected(page)
    expect(page.locator(".xterm-rows")).to_contain_text("made-2")
    suspend_and_resume(page)
    assert home(portal, public_id, 2, "kept.txt") == "made-2\n"
