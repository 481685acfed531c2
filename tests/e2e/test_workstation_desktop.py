"""Workstations as people use them, in Chromium, with a real TigerVNC desktop and a real terminal: typed into, suspended for
the night, resumed with everything there, looked at by others, back by themselves after a death of the portal."""

from __future__ import annotations

import re
import shutil

import pytest
from playwright.sync_api import expect

from tests.e2e.real_portal import Portal, until

PATIENCE = 90_000
"""Milliseconds: the machine may be busy with other tests."""
WIDE, PHONE = {"width": 1360, "height": 900}, {"width": 360, "height": 740}


@pytest.fixture(scope="module")
def portal():
    """One of its own: its web process is killed, and workstations hold cores for long."""
    made = Portal(LOCAL_CORES="8")
    yield made
    made.close()


@pytest.fixture
def window(browser, portal):
    """Opens a page as the engineer, or as nobody; complaints of the browser fail the test."""
    contexts, problems = [], []

    def open_page(path="/workstations/", viewport=None, signed_in=True):
        context = browser.new_context(base_url=portal.url, viewport=viewport or WIDE)
        context.set_default_timeout(PATIENCE)
        if signed_in:
            context.add_cookies([{"name": "sessionid", "value": portal.engineer.cookie(), "url": portal.url}])
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(f"{page.url}: {error}"))
        page.on("console", lambda said: said.type == "error" and "Content Security Policy" in said.text and problems.append(said.text))
        page.goto(path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert problems == []


class Station:
    """A workstation, seen from its page and from the folder of its cluster."""

    def __init__(self, page, portal, kind):
        self.page, self.portal = page, portal
        page.goto("/workstations/new/")
        page.locator("label.coretype", has=page.get_by_text(kind, exact=True)).get_by_role("radio").check()
        page.get_by_label("Cores", exact=True).fill("1")
        page.get_by_role("button", name="Start it").click()
        page.wait_for_url(re.compile(r"/workstations/[A-Za-z]{6}/$"))
        self.path = "/workstations/" + page.url.rstrip("/").rpartition("/")[2] + "/"
        self.id = self.path.split("/")[2]

    def connected(self, page=None):
        expect((page or self.page).locator("[data-desk-link]")).to_have_text("Connected", timeout=PATIENCE)

    def stands(self, status):
        expect(self.page.locator(f"#workstation-{self.id}-badges")).to_have_text(status, timeout=PATIENCE)

    @property
    def token(self):
        return self.portal.value(
            "select token from jobs_cluster where workload_id = (select id from jobs_workload where public_id = ?) order by attempt desc",
            self.id,
        )

    def home(self, name):
        """The bytes of a file of its home on the node, once they are there."""
        path = self.portal.data / "clusters" / self.token / "work" / name
        return until(lambda: path.exists() and path.read_bytes(), PATIENCE / 1000, tell=lambda: str(list(path.parent.iterdir())))

    def types(self, text):
        self.page.locator("[data-desk-screen] canvas, [data-desk-screen] .xterm").first.click(position={"x": 400, "y": 300})
        self.page.keyboard.type(text, delay=15)

    def suspend(self):
        self.page.get_by_role("link", name="Suspend…").click()
        self.page.get_by_role("dialog").get_by_role("button", name="Suspend").click()
        self.stands("Suspended")

    def end(self):
        self.page.goto(self.path)
        self.page.get_by_role("link", name="End…", exact=True).click()
        self.page.get_by_role("dialog").get_by_role("button", name="End it").click()
        self.stands("Stopped")


def test_a_desktop_keeps_its_files_over_a_night(window, portal):
    if not shutil.which("Xtigervnc"):
        pytest.skip("no TigerVNC on this machine")
    page = window()
    station = Station(page, portal, "Linux desktop")
    station.connected()
    expect(page.locator(".viewers")).to_have_text("engineer")
    station.types("echo hello from the desktop > note.txt\n")
    assert station.home("note.txt") == b"hello from the desktop\n"
    shown_in_the_list(window(), station)
    pasted(page, station)

    station.suspend()
    expect(page.locator("[data-desk-screen] canvas")).to_have_count(0)
    page.goto(f"{station.path}files/")
    expect(page.get_by_role("link", name="note.txt")).to_be_visible()

    page.goto(station.path)
    page.get_by_role("button", name="Resume").click()
    station.connected()
    station.types("cat note.txt > again.txt\n")
    assert station.home("again.txt") == b"hello from the desktop\n"
    station.end()
    expect(page.get_by_text("It has ended for good.")).to_be_visible()


def shown_in_the_list(page, station):
    image = page.locator(f"#workstation-{station.id}-row img")
    until(lambda: image.evaluate("image => image.naturalWidth") > 100, PATIENCE / 1000)
    page.close()


def pasted(page, station):
    """Letters that are elsewhere on other keyboards arrive as they are; the desktop takes the size of the window."""
    page.get_by_text("Clipboard", exact=True).click()
    page.get_by_label("Text that is copied there").fill("printf '%s' '~{[|]}@\\' > odd.txt\n")
    page.get_by_role("button", name="Type it").click()
    assert station.home("odd.txt") == b"~{[|]}@\\"
    size = lambda: page.locator("[data-desk-size]").inner_text()  # noqa: E731
    before = size()
    page.set_viewport_size({"width": 1600, "height": 1000})
    until(lambda: size() != before, PATIENCE / 1000)
    page.set_viewport_size(WIDE)


def test_a_terminal_keeps_its_screen_and_comes_back_by_itself(window, portal):
    page = window()
    station = Station(page, portal, "Terminal")
    station.connected()
    station.types("echo kept-$((40 + 2)) | tee word.txt\n")
    assert station.home("word.txt") == b"kept-42\n"
    screen = page.locator(".xterm-rows")
    expect(screen).to_contain_text("kept-42")

    page.reload()
    station.connected()
    expect(screen).to_contain_text("kept-42")

    portal.kill("web")
    expect(page.locator("[data-desk-link]")).to_contain_text("reconnecting")
    station.connected()
    expect(screen).to_contain_text("kept-42")
    station.types("echo after > after.txt\n")
    assert station.home("after.txt") == b"after\n"
    station.end()


def test_others_look_by_a_link_and_cannot_type(window, portal):
    page = window()
    station = Station(page, portal, "Terminal")
    station.connected()
    page.get_by_label("Also for people without an account here").check()
    page.get_by_role("button", name="Make a link").click()
    link = page.get_by_label("Link", exact=True).input_value()
    page.goto(station.path)
    station.connected()

    guest = window(link, PHONE, signed_in=False)
    guest.get_by_role("button", name="Look at it").click()
    station.connected(guest)
    expect(page.locator(".viewers")).to_contain_text("somebody with a shared link")
    guest.locator(".xterm").click()
    guest.keyboard.type("touch typed-by-a-guest\n")
    station.types("echo seen-by-all; touch mine.txt; ls > list.txt\n")
    expect(guest.locator(".xterm-rows")).to_contain_text("seen-by-all")
    assert b"typed-by-a-guest" not in station.home("list.txt")

    page.get_by_role("button", name="Revoke").click()
    expect(guest.locator("[data-desk-link]")).to_contain_text("No longer connected")
    guest.reload()
    expect(guest.get_by_role("heading", name="This link is over")).to_be_visible()
    station.end()
