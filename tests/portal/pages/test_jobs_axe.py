"""Every page of jobs, filled, in Chromium: axe finds no violation, the policy is kept, nothing is wider than a phone."""

from __future__ import annotations

import shutil
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from django.conf import settings

from jobs import lifecycle

STATIC = settings.BASE_DIR / "static"
AXE = STATIC / "node_modules" / "axe-core" / "axe.min.js"
ORIGIN = "http://localhost"  # browsers trust it as they trust https
KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".woff2": "font/woff2"}
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-sync"]
LOOKS = {
    "light": {"color_scheme": "light", "viewport": {"width": 1360, "height": 900}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1360, "height": 900}},
    "phone": {"color_scheme": "light", "viewport": {"width": 360, "height": 740}},
}


@pytest.fixture(scope="session")
def browser_type_launch_args():
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not chromium:
        pytest.skip("no Chromium on this machine")
    if not AXE.is_file():
        pytest.skip("axe is not there; `python -m portal.assets --tests` brings it")
    return {"executable_path": chromium, "args": FLAGS}


@pytest.fixture
def shown(browser, signed):
    """Opens an address of the portal in Chromium: Django's test client answers, no server, no network."""
    contexts = {}

    def answer(route):
        parts = urlsplit(route.request.url)
        if parts.path.startswith("/static/"):
            return _static(route, parts.path.removeprefix("/static/"))
        made = signed.get(parts.path + (f"?{parts.query}" if parts.query else ""))
        body = b"".join(made.streaming_content) if made.streaming and not made.is_async else b"" if made.streaming else made.content
        return route.fulfill(status=made.status_code, headers=dict(made.headers), body=body)

    def open_page(address, look):
        if look not in contexts:
            contexts[look] = browser.new_context(**LOOKS[look])
        page, problems = contexts[look].new_page(), []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda said: said.type == "error" and problems.append(f"{said.text} {said.location.get('url', '')}"))
        page.route(f"{ORIGIN}/**", answer)
        page.route_web_socket("**/live/**", lambda socket: None)  # open and silent
        page.goto(ORIGIN + address, wait_until="load")
        return page, problems

    yield open_page
    for context in contexts.values():
        context.close()


def violations(page) -> list[str]:
    page.evaluate(AXE.read_text(encoding="utf-8") + "; undefined")
    found = page.evaluate("axe.run().then((said) => said.violations.map((one) => [one.id, ...one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200))].join(' | ')))")
    return list(found)


def addresses(jobs, look: str) -> list[str]:
    """All pages in the light, one of a kind otherwise."""
    status = [f"/jobs/{work.public_id}/" for work in jobs.values()]
    running, done, failed = (jobs[name].public_id for name in (lifecycle.RUNNING, "completed", "failed"))
    tabs = [f"/jobs/{running}/{tab}/" for tab in ("output", "files", "health", "timeline", "settings")]
    more = [f"/jobs/{done}/files/", f"/jobs/{done}/files/0/view/", f"/jobs/{done}/files/?q=nothing", f"/jobs/{failed}/settings/"]
    asked = [f"/jobs/{running}/stop/", f"/jobs/{running}/stop/?force=1", f"/jobs/{done}/delete/"]
    if look != "light":
        return ["/jobs/", "/jobs/new/", *(f"/jobs/{jobs[name].public_id}/" for name in ("running", "stop asked", "failed", "refused")), *tabs[1:3], more[0]]
    return ["/jobs/", "/jobs/?q=nothing-like-it", "/jobs/?view=archived", "/jobs/new/", f"/jobs/new/?draft={jobs['draft'].public_id}", *status, *tabs, *more, *asked]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("look", LOOKS)
def test_pages_of_jobs_are_accessible(jobs, shown, look):
    wrong = {}
    for address in addresses(jobs, look):
        page, problems = shown(address, look)
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        said = [*violations(page), *problems, *([f"{wide} pixels too wide"] if wide > 0 else [])]
        if said:
            wrong[address] = said
        page.close()
    assert wrong == {}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("look", LOOKS)
def test_first_visit_is_accessible(shown, owner, look):
    page, problems = shown("/jobs/", look)
    assert "Use the plate sample" in page.content()
    assert violations(page) == []
    assert problems == []


def _static(route, quoted: str):
    name = unquote(quoted)
    path: Path = STATIC / "node_modules" / name.removeprefix("npm/") if name.startswith("npm/") else STATIC / name
    if name.startswith("django_htmx/"):
        import django_htmx

        path = Path(django_htmx.__file__).parent / "static" / name
    if not path.is_file():
        return route.fulfill(status=404)
    return route.fulfill(status=200, content_type=KINDS.get(path.suffix, "application/octet-stream"), body=path.read_bytes())
