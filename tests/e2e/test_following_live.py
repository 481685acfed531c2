"""A run followed live, by a real agent, a real worker and a real browser: the chart grows, and diverging ends it by its rule."""

from __future__ import annotations

import re
import shutil

import pytest
from playwright.sync_api import expect

from jobs.demo import beam
from jobs.verdicts import follow
from tests.e2e.real_portal import ROOT, Work, until

PATIENCE = 60_000
expect.set_options(timeout=PATIENCE)
AXE = ROOT / "static" / "node_modules" / "axe-core" / "axe.min.js"
VIOLATIONS = "axe.run().then((said) => said.violations.map((one) => [one.id, ...one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200))].join(' | ')))"
RECORDED = ROOT / "tests" / "cases" / "verdicts"
REPLAY = """mkdir -p system; echo "stopAt endTime;" > system/controlDict
while IFS= read -r line; do echo "$line"; sleep 0.02; done < log.txt
until grep -q writeNow system/controlDict; do sleep 0.1; done
"""
"""Prints the log as the solver did, goes on, and ends by the solver's own stop hook."""


@pytest.fixture(scope="module")
def portal():
    """Of its own: its worker is killed."""
    from tests.e2e.real_portal import Portal

    made = Portal(LOCAL_CORES="4")
    yield made
    made.close()


@pytest.fixture
def window(browser, portal):
    problems = []
    context = browser.new_context(base_url=portal.url, viewport={"width": 1360, "height": 900})
    context.set_default_timeout(PATIENCE)
    context.add_cookies([{"name": "sessionid", "value": portal.engineer.cookie(), "url": portal.url}])
    page = context.new_page()
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda said: said.type == "error" and "Content Security Policy" in said.text and problems.append(said.text))
    yield page
    context.close()
    assert problems == []


def points(page) -> int:
    return int(page.locator("[data-points]").get_attribute("data-points") or 0)


def series(page, work) -> dict[str, list]:
    answer = page.request.get(f"/jobs/{work.id}/series/")
    assert answer.status == 200
    return {one["name"]: one["points"] for one in answer.json()["series"]}


def test_residuals_of_a_real_run_grow_and_survive_a_killed_worker(window, portal, monkeypatch):
    if not shutil.which("ccx"):
        pytest.skip("no ccx on this machine")
    monkeypatch.setattr(beam, "INCREMENTS", 60)
    deck = portal.engineer.upload("spar.inp", beam.deck(16, 2, 2).encode())
    work = portal.engineer.submit("ccx -i spar", "spar", inputs=[deck], analysis={"code": "calculix"})
    window.goto(f"/jobs/{work.id}/")
    chart = window.locator("[data-course]")
    expect(chart).to_be_visible(timeout=PATIENCE)
    expect(chart.get_by_role("img")).to_have_attribute("aria-label", re.compile("^Residuals against iteration, logarithmic"))
    expect(window.locator("li.stage[aria-current]")).to_contain_text("increment")
    before = points(window)
    until(lambda: points(window) > before, pause=0.2)
    portal.kill("worker")
    work.ends(seconds=120)
    expect(window.locator(".page-head")).to_contain_text("Converged")
    window.get_by_role("link", name="spar.sta line").click()
    expect(window).to_have_url(re.compile(r"/output/\?stream=spar.sta#L\d+$"))
    assert series(window, work) == undisturbed(work)
    window.goto(f"/jobs/{work.id}/")
    expect(chart.locator("canvas")).to_be_visible()
    well_made(window)


def well_made(page) -> None:
    """Light, dark, and no wider than a phone; axe is content."""
    if not AXE.is_file():
        pytest.skip("axe is not there; `python -m portal.assets --tests` brings it")
    page.evaluate(AXE.read_text())
    for scheme, width in (("light", 1360), ("dark", 1360), ("light", 360)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        until(lambda: page.evaluate("document.getAnimations().every((one) => one.playState !== 'running')"))
        assert page.evaluate(VIOLATIONS) == []
        assert until(lambda: page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def undisturbed(work: Work) -> dict[str, list]:
    """The chart of a follower that saw the files in one piece."""
    follower = follow("calculix", None, "ccx -i spar")
    for name in ("spar.sta", "spar.cvg"):
        follower.feed(name, work.output(name))
    found = {one.name: [list(point) for point in one.points] for one in follower.series()}
    assert all(len(one) > 60 for one in found.values())
    return found


def test_a_diverging_run_is_stopped_by_its_rule(window, portal):
    log = (RECORDED / "openfoam-nan-in-pipe" / "log.icoFoam").read_bytes()
    inputs = [portal.engineer.upload("log.txt", log), portal.engineer.upload("replay.sh", REPLAY.encode())]
    id = portal.engineer.draft("bash replay.sh", "diverges", inputs=inputs, analysis={"code": "openfoam"})
    accept(portal, id)
    assert portal.engineer.api.post(f"/jobs/{id}/submit/").status_code == 200
    work = Work(portal.engineer, id)
    window.goto(f"/jobs/{id}/")
    expect(window.locator(f"#job-{id}-alarm")).to_contain_text("stdout line", timeout=PATIENCE)
    expect(window.locator(f"#job-{id}-badges")).to_contain_text("Stopped", timeout=PATIENCE)
    expect(window.locator(f"#job-{id}-badges")).to_contain_text("Diverged")
    expect(window.locator(".headline")).to_contain_text("Stopped by the rule that was set for it: It diverged")
    expect(window.locator(".headline")).to_contain_text("saved")
    reasons = [reason for (reason,) in portal.rows("select reason from jobs_event where workload_id = ?", work.key)]
    assert reasons.count("alarm") == 1
    assert portal.value("select reason from jobs_workload where id = ?", work.key) == "stopped-by-rule"
    assert until(lambda: not work.processes)


def accept(portal, id: str) -> None:
    """The recorded log takes the place of a case, which Validating Input would miss."""
    portal.run(
        "from jobs.models import Check, Job; from django.utils import timezone\n"
        f"job = Job.objects.get(workload__public_id='{id}')\n"
        "Job.objects.filter(pk=job.pk).update(stop_when_diverging=True)\n"
        "uses = list(job.inputs.select_related('file').order_by('order', 'pk'))\n"
        "Check.objects.create(key=job.check_key(uses), findings=[], files=2, done=timezone.now())"
    )


def test_the_option_is_on_the_form(window):
    window.goto("/jobs/new/")
    option = window.get_by_label("Stop it when its result diverges")
    expect(option).not_to_be_checked()
    option.check()
    expect(option).to_be_checked()
