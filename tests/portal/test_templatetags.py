"""Numbers, times, badges and bars as the pages write them."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import AnonymousUser
from django.template import Context, Template
from django.test import RequestFactory

from jobs import lifecycle
from portal import words
from portal.templatetags import headrace

NOW = datetime(2026, 9, 17, 10, 7, 58, tzinfo=UTC)


def render(text, **context):
    return Template("{% load headrace %}" + text).render(Context(context))


@pytest.mark.parametrize(
    ("value", "text"),
    [("3.1712", "€3.17"), (0, "€0.00"), (Decimal("6000"), "€6,000.00"), ("-0.4", "\u2212€0.40"), ("0.005", "€0.01"),
     ("-0.001", "€0.00"), (None, "")],
)
def test_money_has_two_decimals(value, text):
    assert words.money(value) == text


@pytest.mark.parametrize(("value", "text"), [("0.048", "€0.048"), ("3.584", "€3.584"), ("0.05", "€0.05"), ("2", "€2.00"),
                                             ("0.00006", "€0.0001")])
def test_prices_have_up_to_four_decimals(value, text):
    assert words.price(value) == text


def test_the_currency_is_a_setting(settings):
    settings.CURRENCY = "$"
    assert words.money(3) == "$3.00"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0:00"), (41.9, "0:41"), (3138, "52:18"), (20470, "5:41:10"), (timedelta(days=2, hours=3, seconds=4), "2 d 03:00:04"),
     (-5, "0:00"), (None, "")],
)
def test_running_times_are_digits(value, text):
    assert words.clock(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 s"), (0.4, "under 1 s"), (41, "41 s"), (59.6, "1 min"), (720, "12 min"), (3599, "1 h"), (7500, "2 h 5 min"), (7200, "2 h"),
     (47.9 * 3600, "47 h 54 min"), (3 * 86400, "3 days"), (timedelta(minutes=2), "2 min"), (None, "")],
)
def test_lengths_of_time_are_words(value, text):
    assert words.duration(value) == text


@pytest.mark.parametrize(
    ("away", "text"),
    [(0, "just now"), (-4, "just now"), (12, "12 s ago"), (3300, "55 min ago"), (-300, "in 5 min"), (7200, "2 h ago"),
     (86_400, "1 day ago"),
     (6 * 86_400, "6 days ago"), (8 * 86_400, "9 Sep 2026")],
)
def test_moments_are_relative_for_a_week(away, text):
    assert words.relative(NOW - timedelta(seconds=away), NOW) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 bytes"), (1, "1 byte"), (1023, "1023 bytes"), (1024, "1.0 KiB"), (18_637, "18.2 KiB"), (1 << 20, "1.0 MiB"),
     (1_048_200, "1.0 MiB"),
     (412 << 10, "412 KiB"), (5 << 30, "5.0 GiB"), (3 << 50, "3.0 PiB"), (None, "")],
)
def test_sizes_are_binary(value, text):
    assert words.size(value) == text


@pytest.mark.parametrize(("value", "text"), [(97.2, "97\u202f%"), (0.24, "0.2\u202f%"), (0, "0\u202f%"),
                                             (100, "100\u202f%"), (9.97, "10\u202f%"), (None, "")])
def test_percent(value, text):
    assert words.percent(value) == text


def test_counts_have_separators():
    assert render("{{ n|count }}", n=1_284_113) == "1,284,113"


def test_a_moment_carries_the_exact_time():
    text = render("{% when at %}", at=NOW)
    assert 'datetime="2026-09-17T10:07:58+00:00"' in text
    assert 'title="17 Sep 2026, 10:07:58"' in text
    assert "data-when" in text


def test_a_moment_may_be_unix_seconds_or_missing():
    assert 'datetime="2026-09-17T10:07:58+00:00"' in render("{% when at %}", at=NOW.timestamp())
    assert render('{% when at "never" %}', at=None) == "never"


def test_a_time_that_runs_is_counted_on_by_the_page():
    running, over = render("{% since a %}", a=NOW), render("{% since a b %}", a=NOW, b=NOW + timedelta(seconds=96))
    assert f'data-since="{NOW.timestamp():.3f}"' in running
    assert over.endswith(">1:36</time>")
    assert "data-since" not in over
    assert render("{% since a %}", a=None) == ""


@pytest.mark.parametrize("row", [row for table in lifecycle.TABLES.values() for row in table.values()], ids=lambda row: row.code)
def test_a_badge_has_tone_mark_and_word(row):
    text = render("{% badge row %}", row=row)
    assert f"tone-{row.tone}" in text
    assert text.endswith(f"{row.label}</span>")
    assert ("spin" in text) == (row.tone == "work")
    assert ("<svg" in text) == (row.tone != "work")


def test_a_badge_can_be_large_and_a_tag_can_be_neutral():
    assert "tone-tag tone-pass tone-tag-lg" in render('{% badge row "lg" %}', row=lifecycle.JOB["completed"])
    assert 'class="tone-tag"' in render('{% tone_tag "" "clock" "Waiting" %}')


def test_words_from_people_are_escaped():
    hostile = SimpleNamespace(label="<b>", tone="pass", icon="check")
    assert "&lt;b&gt;" in render("{% badge row %}", row=hostile)
    assert "&lt;b&gt;" in render('{% note "fail" title %}{{ title }}{% endnote %}', title="<b>")
    assert "<b>" not in render('{% note "fail" t %}{{ t }}{% endnote %}', t="<b>")
    assert '"' not in render("{% bar 5 label %}", label='"><script>').split('aria-label="')[1].split('">')[0]


def test_pips_are_five_marks_with_words():
    text = render('{% pips tones "Stage 3 of 5" %}', tones=["pass", "pass", "work", None, ""])
    assert text.count("<i") == 5
    assert text.count("<i></i>") == 2
    assert 'role="img" aria-label="Stage 3 of 5"' in text


def test_a_bar_is_drawn_without_styles():
    text = render('{% bar 58.8 "words" more=14.4 at=73 tone="work" size="lg" %}')
    assert "style" not in text
    assert 'class="bar tone-work bar-lg"' in text
    assert '<rect class="bar-done" x="0" width="58.8%"' in text.replace('x="0%"', 'x="0"')
    assert 'x1="58.8%" x2="73.2%"' in text
    assert 'class="bar-mark" x="73.0%"' in text


@pytest.mark.parametrize(("done", "more"), [(120, 50), (-5, 0), (80, 50)])
def test_a_bar_stays_within_its_place(done, more):
    text = render("{% bar done 'words' more=more %}", done=done, more=more)
    widths = [float(part.split('%"')[0]) for part in text.split(' width="')[1:]]
    assert sum(widths) <= 100
    assert min(widths, default=0) >= 0


def test_a_share_of_nothing_is_nothing():
    assert [headrace.share(1, 4), headrace.share(1, 0), headrace.share(9, 3)] == [25.0, 0.0, 100.0]


@pytest.mark.parametrize(("level", "tone"), [("success", "pass"), ("error", "fail"), ("warning", "look"), ("info", "work"), ("", "work")])
def test_messages_have_tones(level, tone):
    assert headrace.message_tone(level) == tone


def test_a_note_says_its_title_first():
    text = render('{% note "look" "Running low." role="alert" %}Ask for more.{% endnote %}')
    assert 'class="note tone-look" role="alert"' in text
    assert "<strong>Running low.</strong> Ask for more." in text


def test_navigation_leaves_out_what_is_not_there():
    assert render('{% nav_link "no-such-view" "Nothing" "x" %}') == ""


def test_navigation_marks_where_one_is():
    link = '{% nav_link "admin:index" "Admin" "settings" %}'
    assert 'aria-current="true"' in render(link, request=RequestFactory().get("/admin/auth/"))
    assert "aria-current" not in render(link, request=RequestFactory().get("/other/"))


@pytest.mark.parametrize(
    ("full", "name", "text"),
    [("Mara Lindqvist", "mara", "ML"), ("", "mara.lindqvist", "ML"), ("", "engineer", "EN"), ("Jean Marc Li", "x", "JM"), ("", "x", "X")],
)
def test_initials(full, name, text):
    assert headrace.initials(SimpleNamespace(get_full_name=lambda: full, get_username=lambda: name)) == text


def test_a_query_is_encoded():
    assert render("{% query stream=name attempt=2 %}", name="file:a b&c") == "stream=file%3Aa+b%26c&amp;attempt=2"


def test_the_page_for_people_who_are_not_signed_in(rf):
    request = rf.get("/signin/")
    request.user = AnonymousUser()
    request.htmx = False
    page = Template('{% extends "bare.html" %}{% block main %}<p>Here</p>{% endblock %}')
    text = page.render(Context({"request": request, "user": request.user, "messages": []}))
    assert "<p>Here</p>" in text
    assert "topbar" not in text
    assert "/static/js/page.js" in text
