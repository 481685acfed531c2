"""Files on their way into a workstation as people send them: uploaded, chosen, there while it runs; while it rests, at the next resume."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.e2e.test_workstations_live import PATIENCE, home, page, station  # noqa: F401 (fixtures)


def upload(page, name, data):  # noqa: F811
    page.goto("/files/")
    page.set_input_files("#upload-files", {"name": name, "mimeType": "application/octet-stream", "buffer": data})
    expect(page.locator("#files-list").get_by_role("link", name=name, exact=True)).to_be_visible(timeout=PATIENCE)


def test_files_arrive_in_a_living_home_and_wait_for_one_that_rests(page, portal, station):  # noqa: F811
    public_id = station("terminal")
    upload(page, "sent.inp", b"*NODE\n")
    page.get_by_role("link", name="Send… sent.inp to a workstation").click()
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_text("Arrived", exact=True)).to_have_count(1, timeout=PATIENCE)  # pushed: nobody loads the page again
    assert home(portal, public_id, 1, "sent.inp") == "*NODE\n"
    page.get_by_label("Files of mine").select_option(index=0)
    page.get_by_role("button", name="Send to its home").click()
    expect(page.locator(".mono", has_text="sent (2).inp")).to_be_visible(timeout=PATIENCE)
    page.get_by_role("link", name=re.compile("^Suspend")).first.click()
    page.get_by_role("dialog").get_by_role("button", name=re.compile("^Suspend")).click()
    expect(page.get_by_role("button", name=re.compile("^Resume")).first).to_be_visible(timeout=PATIENCE)
    upload(page, "late.inp", b"late\n")
    page.goto(f"/workstations/{public_id}/files/")
    page.get_by_label("Files of mine").select_option(index=0)
    page.get_by_role("button", name="Send to its home").click()
    expect(page.get_by_text("1 file waits: arrives at the next resume")).to_be_visible()
    page.get_by_role("button", name=re.compile("^Resume")).first.click()
    page.wait_for_url(f"**/workstations/{public_id}/", timeout=PATIENCE)
    page.goto(f"/workstations/{public_id}/files/")
    expect(page.get_by_text("Arrived", exact=True)).to_have_count(3, timeout=PATIENCE)
    assert home(portal, public_id, 2, "late.inp") == "late\n"
    assert home(portal, public_id, 2, "sent (2).inp") == "*NODE\n"
