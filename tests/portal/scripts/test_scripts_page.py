"""What every page does: themes, times, questions before something goes, forms sent once, uploads."""

import base64
import re
import time

import pytest
from django.conf import settings
from django.template.loader import render_to_string
from playwright.sync_api import expect

TUS = settings.BASE_DIR / "static" / "node_modules" / "tus-js-client" / "dist" / "tus.min.js"
QUESTION = {"title": "Stop wing?", "text": "It gets SIGTERM.", "loses": [("out.txt", "3 MiB")], "action": "/stop/", "word": "Stop", "back": "/"}
DIALOG = '<dialog class="ask" id="dialog" aria-labelledby="dialog-h"></dialog>'


def test_a_dark_page_is_dark_before_the_first_paint(portal):
    portal.page.emulate_media(color_scheme="dark")
    portal.answers["/dark"] = '<!doctype html><title>x</title><script src="/static/js/theme.js"></script><body>'
    portal.page.goto("http://portal.test/dark")
    expect(portal.page.locator("html")).to_have_attribute("data-bs-theme", "dark")


def test_the_theme_is_kept(portal):
    portal.answers["/two"] = '<!doctype html><title>x</title><script src="/static/js/theme.js"></script><body><button data-theme-switch>x</button>'
    portal.page.goto("http://portal.test/two")
    portal.page.get_by_role("button", name="Switch to dark theme").click()
    portal.page.reload()
    expect(portal.page.get_by_role("button", name="Switch to light theme")).to_be_visible()


def test_a_running_time_counts_on_by_the_clock_of_the_portal(portal):
    began = time.time() - 3600 * 24 * 3  # the clock of this viewer is three days ahead
    page = portal.open(f'<time data-since="{began}">0:58</time>', scripts=("page",))
    expect(page.locator("time")).to_have_text(re.compile(r"1:0\d"))


def test_a_moment_is_kept_fresh(portal):
    page = portal.open(f'<time datetime="{time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 200))}" data-when>?</time>', scripts=("page",))
    expect(page.locator("time")).to_have_text("3 min ago")


def test_a_question_is_asked_in_a_dialog_with_the_safe_answer_first(portal):
    portal.answers["/stop/"] = render_to_string("_dialog.html", QUESTION)
    page = portal.open(f'<a href="/stop/" data-dialog>Stop…</a>{DIALOG}', scripts=("page",), styles=("tokens", "base", "dialog"))
    page.get_by_text("Stop…").click()
    expect(page.get_by_role("dialog", name="Stop wing?")).to_be_visible()
    expect(page.get_by_text("out.txt")).to_be_visible()
    expect(page.get_by_role("link", name="Keep")).to_be_focused()
    page.get_by_role("link", name="Keep").click()
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page).to_have_url("http://portal.test/")


def test_without_an_answer_the_question_is_a_page_of_its_own(portal):
    portal.answers["/gone/"] = "<!doctype html><title>x</title><h1>Signed out</h1>"
    page = portal.open(f'<a href="/gone/" data-dialog>Stop…</a>{DIALOG}', scripts=("page",))
    page.get_by_text("Stop…").click()
    expect(page.get_by_role("heading", name="Signed out")).to_be_visible()


def test_places_on_an_axis_come_from_their_attributes(portal):
    page = portal.open('<div class="axis-track"><i data-left="25" data-width="50"></i></div>', scripts=("page",))
    expect(page.locator("i")).to_have_attribute("style", "left: 25%; width: 50%;")


def test_a_form_is_sent_once(portal):
    page = portal.open('<form data-once action="/next/"><button>Go</button></form>', scripts=("page",))
    page.evaluate("window.sent = 0; document.addEventListener('submit', (e) => { window.sent += e.defaultPrevented ? 0 : 1; e.preventDefault(); })")
    page.get_by_role("button").click()
    page.get_by_role("button").click()
    assert page.evaluate("window.sent") == 1


def test_a_template_never_overwrites_what_was_typed(portal):
    page = portal.open(
        '<select data-template="#c" aria-label="s"><option data-command="one">A<option data-command="two">B<option data-command="three">C</select>'
        '<textarea id="c">one</textarea>', scripts=("page",))
    page.get_by_label("s").select_option("B")
    expect(page.locator("#c")).to_have_value("two")
    page.locator("#c").fill("mine")
    page.get_by_label("s").select_option("C")
    expect(page.locator("#c")).to_have_value("mine")


def test_a_key_leads_to_its_field_but_not_while_typing(portal):
    page = portal.open('<input aria-label="other"><input aria-label="find" data-key="/">', scripts=("page",))
    page.keyboard.press("/")
    expect(page.get_by_label("find")).to_be_focused()
    page.get_by_label("other").click()
    page.keyboard.type("a/b")
    expect(page.get_by_label("other")).to_have_value("a/b")


UPLOAD = """<form><div data-upload="/uploads/" data-chunk="1000" data-row="/row/" data-list="#inputs"><ul class="files-in" id="inputs"></ul>
<div class="drop" data-drop><input type="file" multiple aria-label="Files"></div></div><button>Submit</button></form>"""


class Tus:
    """The portal's side of uploads; breaks off once, and refuses files named full."""

    def __init__(self, portal):
        self.got, self.names, self.broken = {}, {}, False
        portal.page.route(re.compile(r".*/uploads/.*"), self.answer)
        portal.answers["/row/"] = lambda asked: f'<li data-input><input type="hidden" name="input" value="{asked["file"]}">{asked["file"]}</li>'

    def answer(self, route):
        request, headers = route.request, route.request.headers
        number = request.url.rstrip("/").rsplit("/", 1)[-1]
        if request.method == "POST":
            number = str(len(self.got) + 1)
            name = dict(pair.split(" ", 1) for pair in headers["upload-metadata"].split(","))["filename"]
            self.got[number], self.names[number] = b"", base64.b64decode(name).decode()
            route.fulfill(status=201, headers={"Location": f"/uploads/{number}/", "Tus-Resumable": "1.0.0"})
        elif request.method == "HEAD":
            told = {"Upload-Offset": str(len(self.got[number])), "Upload-Length": "2500", "Tus-Resumable": "1.0.0"}
            route.fulfill(status=200, headers=told)
        elif self.names[number].startswith("full"):
            route.fulfill(status=507, body="The disk of the portal is full.", headers={"Tus-Resumable": "1.0.0"})
        elif self.got[number] and not self.broken:
            self.broken = True
            route.abort()
        else:
            assert int(headers["upload-offset"]) == len(self.got[number])
            self.got[number] += request.post_data_buffer
            told = {"Upload-Offset": str(len(self.got[number])), "Tus-Resumable": "1.0.0"}
            route.fulfill(status=204, headers=told | ({"Headrace-File": f"F{number}"} if len(self.got[number]) >= 2500 else {}))


@pytest.fixture
def uploads(portal):
    if not TUS.is_file():
        pytest.skip("front-end packages are not fetched: python -m portal.assets")
    tus = Tus(portal)
    portal.open(UPLOAD, scripts=("page", "upload"))
    portal.page.evaluate(TUS.read_text())
    return tus


def test_an_upload_goes_on_after_a_break_and_becomes_a_row(uploads, portal):
    content = bytes(range(250)) * 10
    portal.page.get_by_label("Files").set_input_files([{"name": "grüße deck.inp", "mimeType": "", "buffer": content}])
    expect(portal.page.locator("#inputs li[data-input]")).to_have_text("F1")
    assert uploads.broken is True
    assert uploads.got["1"] == content
    assert uploads.names["1"] == "grüße deck.inp"
    portal.problems.clear()  # the browser's own word on the break


def test_an_error_stands_beside_its_file_and_holds_the_form_back(uploads, portal):
    page = portal.page
    page.get_by_label("Files").set_input_files([{"name": "full.bin", "mimeType": "", "buffer": b"x" * 2500}])
    expect(page.locator("#inputs li")).to_contain_text("The disk of the portal is full.")
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_text("Wait until all files have arrived")).to_be_visible()
    page.get_by_label("Remove full.bin").click()
    expect(page.locator("#inputs li")).to_have_count(0)
    portal.problems.clear()


REFUSES = '<form data-once method="get" action="/sent"><input name="x" value="1"><button>Send</button></form>'


def test_a_form_that_was_refused_once_can_still_be_sent(portal):
    portal.answers["/sent"] = "<!doctype html><title>x</title><h1>Sent</h1>"
    page = portal.open(REFUSES, scripts=("page",))
    page.evaluate("document.querySelector('form').addEventListener('submit', (event) => event.preventDefault(), { once: true })")
    page.get_by_role("button", name="Send").click()  # a file is still on its way
    expect(page.get_by_role("button", name="Send")).to_be_visible()
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", name="Sent")).to_be_visible()


KEPT = """<div id="offer" hidden><b data-kept-name>It</b> <button data-kept-back>Bring it back</button> <button data-kept-drop>Forget it</button></div>
<form method="post" action="/" data-keep="new 7" data-kept="#offer"><input name="csrfmiddlewaretoken" value="old"><input name="name"><textarea name="command"></textarea>
<button name="action" value="submit">Submit</button></form>"""


def typed(portal):
    page = portal.open(KEPT, scripts=("page",))
    page.locator("[name=name]").fill("beam")
    page.locator("[name=command]").fill("ccx beam\necho done")
    return page


def test_what_was_typed_outlives_the_sign_in_and_comes_back_as_a_post(portal):
    portal.answers["/signin/"] = '<!doctype html><title>x</title><script type="module" src="/static/js/page.js"></script><body class="bare"><h1>Sign in</h1>'
    page = typed(portal)
    page.goto("http://portal.test/signin/")
    page.goto("http://portal.test/")
    expect(page.locator("#offer b")).to_have_text("\u201cbeam\u201d")
    with page.expect_request(lambda request: request.method == "POST") as posted:
        page.get_by_role("button", name="Bring it back").click()
    text = posted.value.post_data
    assert ("name=beam" in text, "command=ccx+beam%0D%0Aecho+done" in text, "action=add" in text, "=old" in text) == (True, True, True, False)


def test_what_was_sent_is_forgotten_when_another_page_answers(portal):
    portal.answers["/jobs/aBcDeF/"] = '<!doctype html><title>x</title><script type="module" src="/static/js/page.js"></script><body><h1>beam</h1>'
    page = typed(portal)
    page.goto("http://portal.test/jobs/aBcDeF/")  # left by a link
    page.goto("http://portal.test/")
    expect(page.get_by_role("button", name="Forget it")).to_be_visible()
    page.evaluate("sessionStorage.setItem('kept:new 7', JSON.stringify({ fields: [], sent: true, from: '/' }))")
    page.goto("http://portal.test/jobs/aBcDeF/")
    page.goto("http://portal.test/")
    expect(page.get_by_role("button", name="Forget it")).to_be_hidden()


@pytest.mark.parametrize(("code", "says"), [(4404, "No longer here. It was deleted"), (4403, "No longer connected. You may have been signed out")])
def test_a_page_that_is_refused_says_why(portal, code, says):
    page = portal.open('<div id="connection"></div>', scripts=("page",))
    page.evaluate("(code) => document.dispatchEvent(new CustomEvent('htmx:wsClose', { detail: { event: { code }, socketWrapper: {} } }))", code)
    expect(page.locator("#connection")).to_contain_text(says)
