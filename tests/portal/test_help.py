"""Help says what the tables say: no status, reason or exit code without its entry, no link into the void."""

import re
from html import unescape

import pytest

from jobs import lifecycle
from jobs.verdicts import exit as exits
from jobs.verdicts.base import Label
from portal import words
from portal.presenters import help as shown

pytestmark = pytest.mark.django_db


@pytest.fixture
def page(client, stranger):
    client.force_login(stranger)
    return unescape(client.get("/help/").content.decode())


def anchors(page):
    return set(re.findall(r'\bid="([^"]+)"', page))


def test_every_stage_and_status_has_its_entry(page):
    wanted = {f"stage-{row.code}" for row in lifecycle.JOB.stages()} | {f"status-{code}" for code in lifecycle.JOB}
    assert wanted <= anchors(page)
    assert all(row.about in page for row in lifecycle.JOB.values())


def test_every_reason_has_its_entry_with_its_advice(page):
    assert {f"reason-{code}" for code in lifecycle.ENDINGS} <= anchors(page)
    for reason in lifecycle.ENDINGS.values():
        assert reason.sentence in page
        assert reason.advice in page


def test_every_exit_code_and_signal_is_in_words(page):
    for code, meaning in exits.table():
        assert f">{code}</th>" in page
        assert meaning.name in page


def test_what_the_pages_link_to_is_there(page):
    assert {"exit-codes", "stopping", "logs", "money", "verdicts"} <= anchors(page)


def test_every_link_within_the_page_leads_somewhere(page):
    assert set(re.findall(r'href="#([^"]+)"', page)) - {"main"} <= anchors(page)


def test_no_id_is_there_twice(page):
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_no_stage_and_no_verdict_is_without_words():
    codes = {row.code for row in lifecycle.JOB.stages()}
    assert set(shown.WAITS) == set(shown.FAILS) == set(shown.OFFER) == codes
    assert set(shown.VERDICT_WORDS) == set(Label)


def test_code_in_advice_is_marked_and_nothing_else_is():
    assert words.coded("use `ulimit -s` & <wait>") == "use <code>ulimit -s</code> &amp; &lt;wait&gt;"


def test_help_is_for_people_who_are_signed_in(client):
    assert client.get("/help/").url == "/signin/?next=/help/"


def test_every_status_of_a_workstation_has_its_entry(page):
    for code, row in lifecycle.WORKSTATION.items():
        assert f'id="desk-{code}"' in page
        assert row.about in page
    for sentence in lifecycle.SUSPENSIONS.values():
        assert sentence in page or sentence == lifecycle.SUSPENSIONS["wish"]
