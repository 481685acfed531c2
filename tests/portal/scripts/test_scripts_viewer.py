"""The viewer of live output, with a log behind it that behaves like the portal's."""

import json
import re

import pytest
from playwright.sync_api import expect

MANY = b"".join(b"line %d of the log\n" % n for n in range(1, 60_001))


def line(page, text):
    return page.locator("[data-part=log] li", has=page.get_by_text(text, exact=True))


def follow(page):
    return page.locator("[data-part=follow]")


def test_it_opens_at_the_end_and_follows(make_log):
    log = make_log(MANY)
    page = log.open()
    expect(line(page, "line 60000 of the log")).to_be_in_viewport()
    log.write(b"a fresh line\n")
    expect(line(page, "a fresh line")).to_be_in_viewport()
    expect(follow(page)).to_have_attribute("aria-pressed", "true")
    assert page.locator("[data-part=log] li").count() < 200


def test_an_empty_log_says_so_until_something_comes(make_log):
    log = make_log(b"")
    page = log.open()
    expect(page.get_by_text("Nothing yet.")).to_be_visible()
    log.write(b"first\n")
    expect(line(page, "first")).to_be_visible()
    expect(page.get_by_text("Nothing yet.")).to_be_hidden()


def test_scrolling_up_pauses_and_counts_new_lines(make_log):
    log = make_log(MANY)
    page = log.open()
    expect(line(page, "line 60000 of the log")).to_be_in_viewport()
    page.locator("[data-part=log]").hover()
    page.mouse.wheel(0, -800)
    expect(follow(page)).to_have_attribute("aria-pressed", "false")
    log.write(b"more\n" * 7)
    expect(page.locator(".log-new")).to_contain_text("Paused, 7 new lines")
    expect(line(page, "line 60000 of the log")).not_to_be_in_viewport()
    page.locator(".log-new a").click()
    expect(page.locator("[data-part=log] li").last).to_contain_text("60,007")
    expect(follow(page)).to_have_attribute("aria-pressed", "true")


def test_a_break_repairs_itself_without_a_lost_or_doubled_byte(make_log):
    log = make_log(b"one\ntwo\nhal")
    page = log.open()
    expect(line(page, "hal")).to_be_visible()
    log.sockets[-1].close(code=1011)
    expect(page.locator("[data-part=link]")).to_contain_text(re.compile("lost|Connect"))
    log.data += b"f\nthree\n"
    expect(line(page, "three")).to_be_visible()
    expect(page.locator("[data-part=log] code")).to_have_text(["one", "two", "half", "three"])
    assert log.follows == [0, 11]
    expect(page.locator("[data-part=link]")).to_have_text("Connected")


def test_a_new_generation_starts_anew(make_log):
    log = make_log(b"old\n")
    page = log.open()
    expect(line(page, "old")).to_be_visible()
    log.data, log.generation, log.sent = bytearray(b"new\n"), 1, None
    log.sockets[-1].send(json.dumps(log.info()))
    expect(page.locator("[data-part=log] code")).to_have_text(["new"])
    assert log.follows == [0, 0]


def test_a_link_to_a_line_opens_there(make_log):
    page = make_log(MANY).open("#L31234")
    expect(page.locator("li.marked code")).to_have_text("line 31234 of the log")
    expect(page.locator("li.marked")).to_be_in_viewport()
    expect(follow(page)).to_have_attribute("aria-pressed", "false")


def test_a_click_on_a_number_makes_a_link(make_log):
    page = make_log(b"one\ntwo\n").open()
    page.get_by_label("Line 2", exact=True).click()
    expect(page).to_have_url(re.compile("#L2$"))
    expect(page.locator("li.marked code")).to_have_text("two")


def test_search_goes_from_hit_to_hit_and_asks_for_more(make_log):
    log = make_log(b"".join(b"%s %d\n" % (b"Hit" if n % 1000 == 0 else b"line", n) for n in range(1, 9001)))
    page = log.open("#L1500")
    expect(page.locator("li.marked")).to_be_visible()
    page.get_by_role("searchbox").fill("hit")
    page.get_by_role("searchbox").press("Enter")
    expect(page.locator("[data-part=hits]")).to_have_text("2 of 3+")
    expect(page.locator("mark.here")).to_be_in_viewport()
    for _ in range(3):
        page.get_by_label("Next hit").click()
    expect(page.locator("[data-part=hits]")).to_have_text("5 of 6+")
    expect(page.locator("li:has(mark.here)")).to_contain_text("Hit 5000")
    expect(page.locator("mark.here")).to_be_in_viewport()
    page.get_by_label("Previous hit").click()
    expect(page.locator("[data-part=hits]")).to_have_text("4 of 6+")


def test_a_colon_and_a_number_go_to_a_line(make_log):
    page = make_log(MANY).open()
    page.keyboard.press("g")
    page.keyboard.type(":12,345\n")
    expect(page.locator("li.marked code")).to_have_text("line 12345 of the log")


def test_lost_bytes_are_named_in_their_place(make_log):
    log = make_log(b"before\nhalf" + bytes(5000) + b"other half\nafter\n", gaps=[[11, 5011, "the disk could not be read"]])
    page = log.open()
    expect(page.locator("li.gap")).to_contain_text("5,000 bytes are missing here")
    expect(page.locator("li.gap")).to_contain_text("the disk could not be read")
    expect(page.locator("[data-part=log] code")).to_have_text(["before", "half", "other half", "after"])
    expect(page.locator("[data-part=foot]")).to_contain_text("1 gap, 5,000 bytes missing")


def test_of_a_line_of_10_mb_only_a_part_is_fetched(make_log):
    log = make_log(b"first\n" + b"y" * 10_000_000 + b"\n" + b"next\n" * 1000)
    page = log.open("#L2")
    expect(page.locator("li.marked .cut").first).to_contain_text("9.5 MiB of it not shown")
    assert sum(end - start for start, end in log.asked) < 200_000


def test_an_ended_log_says_that_it_is_complete(make_log):
    log = make_log(b"done\n")
    page = log.open()
    expect(page.locator("[data-part=foot]")).to_contain_text("Growing")
    log.end("ab" * 32)
    expect(page.locator("[data-part=foot]")).to_contain_text("Complete")
    expect(page.locator("[data-part=foot]")).to_contain_text("sha256 " + "ab" * 32)


def test_wrapped_lines_reach_the_end(make_log):
    log = make_log(b"".join(b"%d " % n + b"word " * 200 + b"\n" for n in range(500)) + b"the last\n")
    page = log.open()
    page.keyboard.press("w")
    expect(page.locator("[data-part=wrap]")).to_have_attribute("aria-pressed", "true")
    expect(line(page, "the last")).to_be_in_viewport()
    page.locator("[data-part=log]").hover()
    page.mouse.wheel(0, -300)
    expect(follow(page)).to_have_attribute("aria-pressed", "false")
    page.evaluate("box => { box.scrollTop = box.scrollHeight; }", page.locator("[data-part=log]").element_handle())
    expect(follow(page)).to_have_attribute("aria-pressed", "true")


@pytest.mark.parametrize("megabytes", [24])
def test_a_fast_log_is_followed_within_bounds(make_log, megabytes):
    log = make_log(b"start\n")
    page = log.open()
    expect(line(page, "start")).to_be_visible()
    log.write(b"0123456789abcde\n" * (megabytes << 16) + b"the last\n")
    expect(line(page, "the last")).to_be_in_viewport(timeout=30_000)
    expect(page.locator("[data-part=foot]")).to_contain_text(f"{len(log.data):,} bytes, {(megabytes << 16) + 2:,} lines")
    assert page.locator("[data-part=log] li").count() < 200
