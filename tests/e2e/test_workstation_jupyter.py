"""JupyterLab as people use it: opened from the workstation's page in a tab of its own on the other host name, a cell run, the
portal killed meanwhile, suspended and resumed with the notebook as it was."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile

import pytest
from playwright.sync_api import expect

from tests.e2e.real_portal import Portal
from tests.waiting import until

PROGRAM = shutil.which("jupyter-lab", path=os.environ.get("HEADRACE_JUPYTER", "") + os.pathsep + os.environ["PATH"])
PATIENCE = 180_000
"""Milliseconds: JupyterLab is large, and the machine may be busy with other tests."""
MAKE = """
kind = WorkstationKind.objects.get(code='jupyter')
kind.start = 'exec %s $SESSION_OPTIONS'
kind.save()
who = User.objects.get(username='engineer')
station = Workstation.make(who, kind, Coretype.objects.get(code='local'), name='lab', cores=2, project=Project.objects.first())
assert station.workload.submit(who)
print(station.workload.public_id)
"""


@pytest.fixture(scope="module")
def program():
    """JupyterLab, if a user without rights gets to it: commands of a cluster may run as such a user."""
    if not PROGRAM:
        pytest.skip("needs jupyterlab")
    other = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
    with tempfile.TemporaryDirectory() as home:
        os.chmod(home, 0o777)
        try:
            subprocess.run([PROGRAM, "--version"], check=True, cwd="/", env={"PATH": os.defpath, "HOME": home}, **other)
        except (OSError, subprocess.CalledProcessError):
            pytest.skip("needs a jupyterlab that every user of this machine may run")
    return PROGRAM


@pytest.fixture(scope="module")
def portal(program):
    """One of its own: its web process is killed."""
    made = Portal(LOCAL_CORES="4")
    yield made
    made.close()


@pytest.fixture
def context(browser, portal):
    context = browser.new_context(base_url=portal.url, viewport={"width": 1360, "height": 900})
    context.set_default_timeout(PATIENCE)
    context.add_cookies([{"name": "sessionid", "value": portal.engineer.cookie(), "url": portal.url}])
    yield context
    context.close()


@pytest.fixture
def page(context, portal, program):
    page = context.new_page()
    page.goto(f"/workstations/{portal.run(MAKE % program)}/")
    return page


def opened(page):
    """The tab that the button opens, once the notebook program is there."""
    with page.expect_popup() as popup:
        page.get_by_role("link", name="Open JupyterLab").click()
    lab = popup.value
    told = lab.locator(".jp-Dialog").first  # "Failed to fetch", while the portal is away
    lab.add_locator_handler(told, lambda dialog: dialog.get_by_role("button").last.click(), no_wait_after=True)  # one follows another
    expect(lab.locator("#jp-main-dock-panel")).to_be_visible(timeout=PATIENCE)
    return lab


def run_cell(lab, text):
    """Types into the cell that is empty, runs it: once the kernel is there, before that JupyterLab forgets it."""
    expect(lab.get_by_role("button", name=re.compile(r"\| Idle"))).to_be_visible(timeout=PATIENCE)
    cell = lab.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-CodeCell .cm-content").last
    cell.click()
    lab.keyboard.type(text, delay=15)
    expect(cell).to_have_text(text, timeout=PATIENCE)
    lab.keyboard.press("Shift+Enter")


def shows(lab, text):
    expect(lab.locator(".jp-OutputArea-output").filter(has_text=text).first).to_be_visible(timeout=PATIENCE)


def holds(portal, attempt, name, text):
    """Whether a file of the home has these words."""
    homes = portal.data.glob(f"clusters/*-{attempt}/work")
    return any(text in (home / name).read_text() for home in homes if (home / name).exists())


def saved(lab, portal, name, text):
    """Asks to save until it is: while the portal is away, JupyterLab forgets a wish."""

    def once():
        lab.keyboard.press("Control+s")
        lab.wait_for_timeout(1000)
        return holds(portal, 1, name, text)

    until(once)


@pytest.mark.alone
def test_a_notebook_outlives_the_portal_and_a_pause(page, portal):
    lab = opened(page)
    other = portal.url.replace("127.0.0.1", "localhost")
    assert re.match(rf"{other}/relay/[\w-]+/app/lab", lab.url)
    lab.locator(".jp-LauncherCard[data-category='Notebook']").first.click()
    run_cell(lab, "kept = 6 * 7; print('first', kept)")
    shows(lab, "first 42")
    saved(lab, portal, "Untitled.ipynb", "first 42")

    lab.reload()
    shows(lab, "first 42")
    portal.kill("web")
    until(portal.answers)
    run_cell(lab, "print('still', kept + 1)")  # the kernel has lived on
    shows(lab, "still 43")
    saved(lab, portal, "Untitled.ipynb", "still 43")

    page.get_by_role("link", name="Suspend…").click()
    page.get_by_role("dialog").get_by_role("button", name="Suspend").click()
    page.get_by_role("button", name="Resume").click()
    lab.close()
    lab = opened(page)
    until(lambda: holds(portal, 2, "Untitled.ipynb", "still 43"))
    lab.locator(".jp-DirListing-item", has_text="Untitled.ipynb").dblclick()
    shows(lab, "still 43")
