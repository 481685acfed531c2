"""The main line as people see it, in Chromium: from the first page to the bytes on one's own disk, never touching reload."""

from __future__ import annotations

import io
import re
import zipfile

import pytest
from playwright.sync_api import expect

from tests.e2e.real_portal import ROOT, until

PICTURES = ROOT / "test-output"
PATIENCE = 60_000
"""Milliseconds: the machine may be busy with other tests."""
expect.set_options(timeout=PATIENCE)
WIDE, PHONE = {"width": 1360, "height": 900}, {"width": 360, "height": 740}
LOOKS = {"light": {"color_scheme": "light", "viewport": WIDE}, "dark": {"color_scheme": "dark", "viewport": WIDE}, "phone": {"color_scheme": "light", "viewport": PHONE}}
STAGES = ["Queued", "Validating Input", "Starting Cluster", "Running Job", "Stopping Cluster"]
DECK = "# a deck\nsteps 30\n"
SCRIPT = """for i in $(seq 30); do echo "step $i of 30"; sleep 0.1; done
echo "1 2 3" > result.dat; mkdir -p deep; cp *.inp deep/
"""


@pytest.fixture
def window(browser, engineer):
    """Opens a page of the portal as the engineer; complaints of the browser fail the test."""
    contexts, problems = [], []

    def open_page(path="/jobs/", look="light"):
        context = browser.new_context(base_url=engineer.portal.url, **LOOKS[look])
        context.set_default_timeout(PATIENCE)
        context.add_cookies([{"name": "sessionid", "value": session(engineer), "url": engineer.portal.url}])
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


def session(person):
    if not hasattr(person, "session"):
        person.session = person.cookie()
    return person.session


def stage(page, name):
    return page.locator("li.stage", has=page.get_by_role("heading", name=name, exact=True))


def picture(page, name):
    PICTURES.mkdir(exist_ok=True)
    page.screenshot(path=PICTURES / f"{name}.png", full_page=True)


def test_the_main_line_from_sign_in_to_results(browser, engineer, tmp_path):
    context = browser.new_context(base_url=engineer.portal.url, accept_downloads=True, **LOOKS["light"])
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    sign_in(page, engineer)
    fill_in_and_submit(page, tmp_path)
    ticks_come_without_reload(page)
    output_is_all_there(page)
    results_come_back(page, tmp_path)
    context.close()


def sign_in(page, engineer):
    page.goto("/")
    page.get_by_label("Name").fill(engineer.name)
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_label("Password").fill(engineer.password)
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(re.compile("/jobs/"))


def fill_in_and_submit(page, folder):
    files = {"deck.inp": DECK, "Träger 2.inp": DECK, "run.sh": SCRIPT}
    for name, text in files.items():
        (folder / name).write_text(text)
    page.goto("/jobs/new/")
    page.locator("#upload-files").set_input_files([folder / name for name in files])
    for name in files:
        expect(page.locator(f"#inputs input[value='{name}']")).to_be_visible()
    choose_shell(page)
    page.get_by_label("Name", exact=True).fill("Träger & beam <study>")
    page.locator("#id_command").fill("bash run.sh\nls -l")
    page.get_by_role("textbox", name="Cores a node").fill("1")
    page.get_by_label("Walltime").fill("10 min")
    expect(page.locator("#job-new-review")).to_contain_text("0.05")
    page.get_by_role("button", name="Submit", exact=True).last.click()
    expect(page).to_have_url(re.compile(r"/jobs/[A-Za-z]{6}/$"))


def choose_shell(page):
    """The software that runs any command."""
    options = page.locator("#id_software option").all_inner_texts()
    page.get_by_label("Software", exact=True).select_option(label=next(text for text in options if re.search("shell|command", text, re.I)))


def ticks_come_without_reload(page):
    page.evaluate("window.notReloaded = true")
    for name in STAGES:
        expect(stage(page, name).locator(".stage-word")).to_have_text(re.compile("passed|done|ended|skipped", re.I))
    expect(page.locator("[id$=-badges]")).to_contain_text("Completed")
    assert page.evaluate("window.notReloaded")
    expect(page.locator("[id$=-verdict]")).to_contain_text(re.compile("exit 0|judged|no proof", re.I))


def output_is_all_there(page):
    page.locator("nav.tabs").get_by_role("link", name="Output").click()
    log = page.locator("[data-part=log]")
    for text in ("step 1 of 30", "step 30 of 30"):
        expect(log).to_contain_text(text)
    expect(page.locator("[data-part=foot]")).to_contain_text(re.compile("sha256 [0-9a-f]{64}"))


def results_come_back(page, folder):
    page.get_by_role("navigation", name="Träger").get_by_role("link", name=re.compile("Files")).click()
    table = page.locator("[id$=-outputs] table")
    expect(table).to_contain_text("result.dat")
    expect(table).to_contain_text("deep/Träger 2.inp")
    with page.expect_download() as coming:
        page.get_by_label("Download result.dat").click()
    assert coming.value.path().read_bytes() == b"1 2 3\n"
    with page.expect_download() as coming:
        page.get_by_label("Download deep/Träger 2.inp").click()
    assert coming.value.path().read_text() == DECK
    assert coming.value.suggested_filename == "Träger 2.inp"
    with page.expect_download() as coming:
        page.get_by_role("link", name="All as zip").click()
    archive = zipfile.ZipFile(io.BytesIO(coming.value.path().read_bytes()))
    assert archive.testzip() is None
    assert archive.read("deep/Träger 2.inp").decode() == DECK
    page.get_by_role("link", name="result.dat", exact=True).click()
    expect(page.locator(".preview-text")).to_have_text("1 2 3\n")


def test_lines_come_as_they_are_written_and_the_health_page_draws(window, engineer):
    work = engineer.submit("for i in $(seq 1000); do echo tick $i; sleep 0.2; done", "ticks")
    work.reaches("Running Job")
    page = window(f"/jobs/{work.id}/output/")
    lines = page.locator("[data-part=log] li")
    expect(lines.last).to_contain_text(re.compile(r"tick \d+"))
    seen = number(lines)
    until(lambda: number(lines) >= seen + 5)
    health = window(f"/jobs/{work.id}/health/")
    expect(health.locator("[data-chart] canvas").first).to_be_visible()
    expect(health.locator("[data-chart=cpu] [role=img]")).not_to_have_attribute("aria-label", re.compile("nothing measured"))
    picture(health, "health-light")
    work.stop()
    expect(page.locator("[data-part=foot]")).to_contain_text("Complete")
    work.ends()


def number(lines):
    return int(re.search(r"tick (\d+)", lines.last.inner_text())[1])


def test_stop_asks_tells_the_truth_and_ends_in_stopped(window, engineer):
    engineer.portal.run("Software.objects.filter(code='shell').update(grace=60)")
    script = engineer.upload("deaf.sh", b"trap '' TERM; echo deaf; while :; do sleep 0.2; done\n")
    work = engineer.submit("bash deaf.sh", "deaf", inputs=[script])
    work.says(b"deaf")
    page = window(f"/jobs/{work.id}/")
    page.get_by_role("link", name="Stop…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Stop deaf?")
    expect(dialog.get_by_role("link", name="Let it run")).to_be_focused()
    picture(page, "stop-dialog-light")
    dialog.get_by_role("link", name="Let it run").click()
    expect(dialog).to_be_hidden()
    assert work.status == "Running Job"
    page.get_by_role("link", name="Stop…").click()
    dialog.get_by_role("button", name="Stop").click()
    stopping = page.locator("[id$=-stopping]")
    expect(stopping).to_contain_text("Nothing is shown as stopped while anything still runs")
    expect(page.locator("[id$=-badges]")).not_to_contain_text("Stopped")
    assert work.processes
    picture(page, "stopping-light")
    page.locator("[id$=-actions]").get_by_role("link", name="Force stop…").click()
    expect(dialog).to_contain_text("Force stop deaf?")
    dialog.get_by_role("button", name="Force stop").click()
    expect(page.locator("[id$=-badges]")).to_contain_text("Stopped")
    until(lambda: not work.processes)
    picture(page, "stopped-light")


def test_a_failure_is_explained(window, engineer):
    work = engineer.submit("for i in 1 2 3; do echo reading $i; done; echo 'cannot open mesh' >&2; exit 7", "fails")
    page = window(f"/jobs/{work.id}/")
    remedy = page.locator("[id$=-remedy]")
    expect(remedy).to_contain_text("Failed in Running Job")
    expect(remedy).to_contain_text("7")
    expect(remedy).to_contain_text("What to try")
    expect(page.locator("[id$=-last]")).to_contain_text("cannot open mesh")
    expect(stage(page, "Running Job")).to_have_class(re.compile("tone-fail"))
    expect(stage(page, "Stopping Cluster")).not_to_have_class(re.compile("tone-fail"))
    picture(page, "failed-light")
    page.get_by_role("link", name="What this means").first.click()
    expect(page).to_have_url(re.compile("/help/#"))


def test_errors_of_the_input_stand_at_their_stage(window, engineer):
    work = engineer.submit("cat brackett.inp", "misnamed", inputs=[engineer.upload("bracket.inp", b"x")])
    page = window(f"/jobs/{work.id}/")
    expect(stage(page, "Validating Input")).to_have_class(re.compile("tone-fail"))
    expect(page.locator("[id$=-findings]")).to_contain_text("Did you mean")
    expect(page.locator("[id$=-findings]")).to_contain_text("bracket.inp")
    picture(page, "findings-light")


def test_the_list_changes_while_one_looks(window, engineer):
    page = window("/jobs/")
    work = engineer.submit("sleep 1", "appears")
    page.reload()
    row = page.locator("tr, li", has=page.get_by_role("link", name="appears", exact=True)).first
    page.evaluate("window.notReloaded = true")
    expect(row).to_contain_text("Completed")
    assert page.evaluate("window.notReloaded")
    assert work.status == "Completed"


def test_windows_line_ends_of_the_form_and_a_double_click_make_one_job_that_works(window, engineer):
    page = window("/jobs/new/")
    choose_shell(page)
    page.get_by_label("Name", exact=True).fill("double click")
    page.locator("#id_command").fill("cd .\nls\necho typed")
    page.get_by_role("textbox", name="Cores a node").fill("1")
    page.get_by_role("button", name="Submit", exact=True).last.dblclick()
    expect(page).to_have_url(re.compile(r"/jobs/[A-Za-z]{6}/$"))
    expect(page.locator("[id$=-badges]")).to_contain_text("Completed")
    assert engineer.portal.rows("select name from jobs_workload where name = 'double click'") == [("double click",)]
    assert engineer.portal.value("select commands from jobs_job j join jobs_workload w on w.id = j.workload_id where name = 'double click'") == '["cd .", "ls", "echo typed"]'


def test_a_break_shows_itself_and_repairs_itself(battered_portal, browser):
    portal = battered_portal
    until(portal.answers)
    work = portal.engineer.submit("for i in $(seq 400); do echo tick $i; sleep 0.05; done", "survives")
    context = browser.new_context(base_url=portal.url, viewport=WIDE)
    context.set_default_timeout(PATIENCE)
    context.add_cookies([{"name": "sessionid", "value": portal.engineer.cookie(), "url": portal.url}])
    status, output = context.new_page(), context.new_page()
    status.goto(f"/jobs/{work.id}/")
    output.goto(f"/jobs/{work.id}/output/")
    expect(output.locator("[data-part=log]")).to_contain_text("tick")
    portal.kill("web")
    expect(status.locator("#connection")).to_contain_text("Connection lost")
    expect(status.locator("#connection")).to_be_empty()
    expect(status.locator("[id$=-badges]")).to_contain_text("Completed")
    expect(output.locator("[data-part=log]")).to_contain_text("tick 400")
    expect(output.locator("[data-part=foot]")).to_contain_text(re.compile("sha256 [0-9a-f]{64}"))
    context.close()


@pytest.mark.parametrize("look", LOOKS)
def test_pictures_of_every_page_and_nothing_wider_than_the_screen(window, engineer, look):
    work = engineer.submit("echo hello; echo data > out.txt; exit 0", f"picture {look}")
    work.ends()
    base = f"/jobs/{work.id}/"
    pages = {"jobs": "/jobs/", "new": "/jobs/new/", "status": base, "output": f"{base}output/", "files": f"{base}files/", "timeline": f"{base}timeline/",
             "settings": f"{base}settings/", "my-files": "/files/", "hardware": "/hardware/", "help": "/help/", "account": "/account/"}  # fmt: skip
    page = window("/jobs/", look)
    for name, path in pages.items():
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, path
        picture(page, f"{name}-{look}")
