"""The price of the first hour never says that it is held where nobody pays."""

import factories
import pytest

from jobs.models import Budget, Installation, Unpaid

pytestmark = pytest.mark.django_db
ASKED = {"HX-Request": "true"}


@pytest.fixture
def said(signed, wing):
    kind, version = factories.coretype(), factories.software()

    def ask() -> str:
        form = {"name": "beam", "software": version.pk, "command": "true", "coretype": kind.pk, "nodes": "1", "walltime": "1 h", "project": wing.pk}
        return signed.post("/jobs/new/", {**form, "key": "k", "action": "review"}, headers=ASKED).content.decode()

    return ask


def test_a_budget_in_money_holds_it(said, wing):
    factories.budget(wing, 100)
    assert "First hour, held at the start" in said()


def test_core_hours_hold_no_money(said, wing):
    factories.budget(wing, 100, unit="core-hours")
    assert "core-hours are held at the start, no money" in said()


def test_where_nothing_is_charged_nothing_is_held(said):
    page = said()
    assert "nothing is charged to you" in page
    assert "First hour, charged to nobody" in page
    assert "held" not in page


def test_what_nobody_pays_yet_is_held_once_somebody_does(said, stranger):
    factories.budget(None, 5, member=stranger)
    page = said()
    assert "Nobody pays for it yet" in page
    assert "held once a budget pays for it" in page
    Installation.let_run_unpaid(Unpaid.EVERYBODY)
    assert "charged to nobody" in said()
    assert Budget.objects.count() == 1
