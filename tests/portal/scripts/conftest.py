"""A page in Chromium that loads our scripts from the work tree; no server, no network: every request is answered here."""

import json
import re
import shutil
from pathlib import Path
from types import SimpleNamespace as Row
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from django.conf import settings
from django.template.loader import render_to_string

STATIC = settings.BASE_DIR / "static"
ORIGIN = "http://portal.test"
KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".woff2": "font/woff2"}
PLAIN = "* { box-sizing: border-box } .form-control { width: 100% } .visually-hidden { position: absolute; clip-path: inset(50%) }"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-sync"]


@pytest.fixture(scope="session")
def browser_type_launch_args():
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not chromium:
        pytest.skip("no Chromium on this machine")
    return {"executable_path": chromium, "args": FLAGS}


def policy():
    """The policy of the pages, as the settings have it."""
    return "; ".join(f"{name} {' '.join(sources)}" for name, sources in settings.CONTENT_SECURITY_POLICY["DIRECTIVES"].items())


def static_file(path):
    name = unquote(path.removeprefix("/static/"))
    return STATIC / "node_modules" / name.removeprefix("npm/") if name.startswith("npm/") else STATIC / name


class Portal:
    """Answers what a page asks for; `problems` collects what the browser complains about."""

    def __init__(self, page):
        self.page, self.problems, self.answers = page, [], {}
        page.route(f"{ORIGIN}/**", self.answer)
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("console", lambda message: message.type == "error" and self.problems.append(message.text))

    def open(self, body, scripts=(), styles=("tokens", "base", "tones", "layout", "log", "forms"), hash=""):
        """A page with some markup, modules and style sheets of ours, under the strict policy."""
        links = "".join(f'<link rel="stylesheet" href="/static/css/{name}.css">' for name in styles)
        modules = "".join(f'<script type="module" src="/static/js/{name}.js"></script>' for name in scripts)
        plain = '<link rel="stylesheet" href="/plain.css">'
        self.answers["/"] = f'<!doctype html><html lang="en"><title>x</title>{plain}{links}{modules}<body>{body}'
        self.page.goto(f"{ORIGIN}/{hash}")
        return self.page

    def answer(self, route):
        parts = urlsplit(route.request.url)
        made = self.answers.get(parts.path)
        if callable(made):
            made = made({key: values[-1] for key, values in parse_qs(parts.query).items()})
        if isinstance(made, bytes):
            route.fulfill(body=made, content_type="application/octet-stream")
        elif isinstance(made, (dict, list)):
            route.fulfill(body=json.dumps(made), content_type="application/json")
        elif parts.path == "/plain.css":  # what the pages have from Tabler; the tests run without fetched packages
            route.fulfill(body=PLAIN, content_type="text/css")
        elif made is not None:
            route.fulfill(body=made, content_type="text/html; charset=utf-8", headers={"Content-Security-Policy": policy()})
        else:
            self.file(route, static_file(parts.path))

    def file(self, route, path: Path):
        if path.is_file():
            route.fulfill(body=path.read_bytes(), content_type=KINDS.get(path.suffix, "application/octet-stream"))
        else:
            route.fulfill(status=404 if path.parts[-2:-1] != ("build",) else 200, body="", content_type="image/svg+xml")

    def module(self, name, expression, argument=None):
        """Evaluates an expression with all that a module exports in scope as `m` and the argument as `a`."""
        return self.page.evaluate(f"async (a) => {{ const m = await import('/static/js/{name}.js'); return ({expression}); }}", argument)


@pytest.fixture
def portal(page):
    made = Portal(page)
    yield made
    assert [problem for problem in made.problems if "woff2" not in problem] == []


class Log:
    """A log as the portal serves it: ranges by HTTP, frames by socket, as many as are acknowledged."""

    FRAME, WINDOW = 1 << 16, 1 << 20

    def __init__(self, portal, data=b"", gaps=()):
        self.data, self.gaps, self.sockets, self.follows = bytearray(data), list(gaps), [], []
        self.complete, self.generation, self.sent, self.acked, self.asked = False, 0, None, 0, []
        for name in ("lines", "bytes", "search"):
            portal.answers[f"/jobs/aBcDeF/log/{name}"] = getattr(self, name)
        portal.page.route_web_socket(re.compile(r".*/live/jobs/aBcDeF/log/.*"), self.connected)
        self.portal = portal

    def starts(self):
        found = [0, *[match.end() for match in re.finditer(b"\n", self.data)]]
        return found[:-1] if found[-1] == len(self.data) else found

    def lines(self, asked):
        starts, first, count = self.starts(), int(asked["line"]), int(asked["count"])
        offsets = starts[first : first + count + 1] if count else []
        if offsets and len(offsets) <= count:
            offsets = [*offsets, len(self.data)]
        return {"first": first, "offsets": offsets, "total": len(starts)}

    def bytes(self, asked):
        start, end = int(asked["from"]), int(asked["to"])
        self.asked.append((start, end))
        return bytes(self.data[start:end])

    def search(self, asked):
        after = int(asked["after"])
        rows = bytes(self.data).splitlines()
        hits = [[n, 0] for n in range(after + 1, len(rows)) if asked["q"].lower().encode() in rows[n].lower()]
        return {"hits": hits[:3], "more": len(hits) > 3, "last": hits[:3][-1][0] if hits else len(rows)}

    def connected(self, socket):
        self.sockets.append(socket)
        self.sent = None
        socket.on_message(lambda text: self.heard(json.loads(text)))
        socket.send(json.dumps(self.info()))

    def heard(self, message):
        if message["type"] == "follow":
            self.follows.append(message["from"])
            self.sent = self.acked = message["from"]
        elif message["type"] == "ack":
            self.acked = max(self.acked, message["offset"])
        self.push()

    def push(self):
        while self.sent is not None and self.sent < len(self.data) and self.sent + self.FRAME - self.acked <= self.WINDOW:
            end = min(len(self.data), self.sent + self.FRAME, *[start for start, _, _ in self.gaps if start > self.sent])
            hole = next((gap for gap in self.gaps if gap[0] <= self.sent < gap[1]), None)
            if hole is None:
                self.sockets[-1].send(self.sent.to_bytes(8, "big") + bytes(self.data[self.sent : end]))
            self.sent = hole[1] if hole else end

    def write(self, data):
        self.data += data
        self.push()

    def end(self, sha256):
        self.complete = True
        self.sockets[-1].send(json.dumps(self.info() | {"sha256": sha256}))

    def info(self):
        told = {"type": "info", "size": len(self.data), "lines": len(self.starts()), "generation": self.generation, "sha256": None}
        return told | {"complete": self.complete, "ended": self.complete, "gaps": self.gaps}

    def open(self, hash=""):
        row = Row(name="stdout", label="Output", href="?", current=True, size="", more="", tone="", icon="file-text")
        output = Row(stream="stdout", label="Output", attempt=1, streams=[row], files=[], tail=[], size=0, empty="Nothing yet.", seal="")
        body = render_to_string("jobs/_viewer.html", {"work": Row(public_id="aBcDeF", name="wing"), "output": output})
        return self.portal.open(body, scripts=("page", "log"), hash=hash)


@pytest.fixture
def make_log(portal):
    return lambda *args, **named: Log(portal, *args, **named)
