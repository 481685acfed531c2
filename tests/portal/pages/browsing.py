"""Pages in Chromium without a server: Django's test client answers, axe and the width of a phone judge.

With HEADRACE_SHOTS=FOLDER every page that is judged is also drawn there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import django_htmx
from django.conf import settings

STATIC = settings.BASE_DIR / "static"
AXE = STATIC / "node_modules" / "axe-core" / "axe.min.js"
ORIGIN = "http://localhost"  # browsers trust it as they trust https
KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".woff2": "font/woff2"}
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-sync"]
LOOKS: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light", "viewport": {"width": 1360, "height": 900}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1360, "height": 900}},
    "phone": {"color_scheme": "light", "viewport": {"width": 360, "height": 740}},
}


@contextmanager
def opening(browser: Any, client: Any) -> Iterator[Callable[[str, str], tuple[Any, list[str]]]]:
    """Opens an address in one of LOOKS: the page, and the list to which its errors are added."""
    contexts: dict[str, Any] = {}

    def answer(route: Any) -> None:
        parts = urlsplit(route.request.url)
        if parts.path.startswith("/static/"):
            return _static(route, parts.path.removeprefix("/static/"))
        made = client.get(parts.path + (f"?{parts.query}" if parts.query else ""))
        body = b"".join(made.streaming_content) if made.streaming and not made.is_async else b"" if made.streaming else made.content
        return route.fulfill(status=made.status_code, headers=dict(made.headers), body=body)

    def open_page(address: str, look: str) -> tuple[Any, list[str]]:
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


def violations(page: Any) -> list[str]:
    page.evaluate(AXE.read_text(encoding="utf-8") + "; undefined")
    found = page.evaluate("axe.run().then((said) => said.violations.map((one) => [one.id, ...one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200))].join(' | ')))")
    return list(found)


def faults(shown: Any, addresses: Iterable[str], look: str, *, before: Callable[[Any], object] = bool, pardoned: Collection[str] = ()) -> dict[str, list[str]]:
    """What is wrong, by address: violations, errors (but for those with one of the pardoned words), what is wider than its window."""
    found = {}
    for address in addresses:
        page, problems = shown(address, look)
        before(page)
        if folder := os.environ.get("HEADRACE_SHOTS"):
            page.screenshot(path=Path(folder) / f"{look}{re.sub(r'[^A-Za-z0-9]+', '-', address)}.png", full_page=True)
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        errors = [one for one in problems if not any(word in one for word in pardoned)]
        if wrong := [*violations(page), *errors, *([f"{wide} pixels too wide"] if wide > 0 else [])]:
            found[address] = wrong
        page.close()
    return found


def _static(route: Any, quoted: str) -> None:
    name = unquote(quoted)
    path: Path = STATIC / "node_modules" / name.removeprefix("npm/") if name.startswith("npm/") else STATIC / name
    if name.startswith("django_htmx/"):
        path = Path(django_htmx.__file__).parent / "static" / name
    if not path.is_file():
        return route.fulfill(status=404)
    return route.fulfill(status=200, content_type=KINDS.get(path.suffix, "application/octet-stream"), body=path.read_bytes())
