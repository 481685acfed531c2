"""axe on every page of a portal in which real jobs stand in each status: no violation, light and dark."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from jobs import lifecycle
from tests.e2e.real_portal import ROOT

AXE = ROOT / "static" / "node_modules" / "axe-core" / "axe.min.js"
RUN = "axe.run().then((said) => said.violations.map((one) => [one.id, ...one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200))].join(' | ')))"
TABS = ("", "output/", "files/", "health/", "timeline/", "settings/")


@pytest.fixture(scope="module")
def cast(engineer):
    """One job in each status, by its name; those that stand still do so until the tests are over."""
    engineer.portal.run("Software.objects.filter(code='shell').update(grace=1200)")
    everything = engineer.submit("echo on; sleep 1000", "holds all other cores", hardware={"coresPerSlot": 6})
    deaf = engineer.submit("trap '' TERM; echo deaf; while :; do sleep 0.2; done", "is being stopped")
    running = engineer.submit("for i in $(seq 10000); do echo residual $i; sleep 0.1; done", "runs", inputs=[engineer.upload("deck.inp", b"1\n")])
    for work, said in ((everything, b"on"), (deaf, b"deaf"), (running, b"residual 20")):
        work.says(said)
    deaf.stop()
    jobs = {
        lifecycle.QUEUED: engineer.submit("true", "waits", hardware={"coresPerSlot": 8}),
        lifecycle.RUNNING: running,
        lifecycle.STOPPING: deaf,
        lifecycle.DRAFT: type(running)(engineer, engineer.draft("true", "a draft")),
    }
    yield jobs
    engineer.portal.run("Software.objects.filter(code='shell').update(grace=60)")
    for work in (jobs[lifecycle.QUEUED], running, everything):
        work.stop()
    deaf.stop(force=True)
    for work in (jobs[lifecycle.QUEUED], running, everything, deaf):
        work.ends()


@pytest.fixture(scope="module")
def over(engineer):
    """One job of each end."""
    stopped = engineer.submit("echo on; sleep 1000", "was stopped")
    stopped.says(b"on")
    stopped.stop()
    made = {
        "completed": engineer.submit("echo data > out.txt; ln -s /etc/passwd link; echo done", "completed"),
        "failed": engineer.submit("echo cannot open; exit 7", "failed"),
        "refused": engineer.submit("cat brackett.inp", "refused", inputs=[engineer.upload("bracket.inp", b"x")]),
        "stopped": stopped,
    }
    for work in made.values():
        work.ends()
    return made


def test_no_page_has_a_violation_light_or_dark(browser, engineer, over, cast):
    if not AXE.is_file():
        pytest.skip("axe is not there; `python -m portal.assets --tests` brings it")
    context = browser.new_context(base_url=engineer.portal.url, viewport={"width": 1360, "height": 900}, reduced_motion="reduce")
    context.set_default_timeout(60_000)
    page = context.new_page()
    found = look(page, "/signin/")
    context.add_cookies([{"name": "sessionid", "value": engineer.cookie(), "url": engineer.portal.url}])
    for path in paths(over | cast):
        found |= look(page, path)
    context.close()
    assert {path: said for path, said in found.items() if said} == {}


def look(page, path):
    """Violations by the page and its scheme. All rules in the light one; in the dark one those of colours, which alone differ."""
    page.emulate_media(color_scheme="light")
    page.goto(path)
    page.evaluate(AXE.read_text(encoding="utf-8") + "; undefined")
    found = {path: page.evaluate(RUN)}
    page.emulate_media(color_scheme="dark")
    expect(page.locator("html")).to_have_attribute("data-bs-theme", "dark")
    return found | {f"{path} dark": page.evaluate(RUN.replace("run()", "run({ runOnly: ['color-contrast', 'link-in-text-block'] })"))}


def paths(jobs):
    status = [f"/jobs/{work.id}/" for work in jobs.values()]
    tabs = [f"/jobs/{jobs[name].id}/{tab}" for name in (lifecycle.RUNNING, "completed") for tab in TABS[1:]]
    asked = [f"/jobs/{jobs[lifecycle.RUNNING].id}/stop/", f"/jobs/{jobs[lifecycle.STOPPING].id}/stop/?force=1", f"/jobs/{jobs['completed'].id}/delete/"]
    return ["/jobs/", "/jobs/?q=nothing-like-it", "/jobs/new/", "/files/", "/hardware/", "/help/", "/account/", "/account/password/", "/jobs/nobody/", *status, *tabs, *asked]
