"""The list of jobs finds by a part of the name, in any case, what one may see; its counts cost no more than they are worth."""

import factories
import pytest
from django.db import connection

from jobs.models import Workload, searching
from portal.views import counting
from portal.views.paging import Page

pytestmark = pytest.mark.django_db

NAMES = ["Beam study 14", "wing-flutter", "100 % load", "under_score", "Über-Balken", "back\\slash", "x"]


@pytest.fixture
def works(owner, wing):
    return {name: factories.job(owner, project=wing, name=name).workload for name in NAMES}


def found(user, text):
    return {work.name for work in Workload.objects.visible_to(user).named(text, user)}


@pytest.mark.parametrize(("text", "names"), [
    ("beam", {"Beam study 14"}), ("EAM ST", {"Beam study 14"}), ("14", {"Beam study 14"}), ("balken", {"Über-Balken"}),
    ("%", {"100 % load"}), ("0 %", {"100 % load"}), ("r_s", {"under_score"}), ("k\\s", {"back\\slash"}), ("x", {"x"}), ("nothing", set()), ("wingflutter", set()),
])  # fmt: skip
def test_a_part_of_the_name_is_found_in_any_case(owner, works, text, names):
    assert found(owner, text) == names


@pytest.mark.parametrize("few", [searching.FEW, 0])
@pytest.mark.parametrize("expected", [searching.EXPECTED, -1])
def test_a_common_and_a_rare_name_are_found_alike(monkeypatch, owner, admin, works, few, expected):
    monkeypatch.setattr(searching, "FEW", few)
    monkeypatch.setattr(searching, "EXPECTED", expected)
    assert found(owner, "flutter") == found(admin, "flutter") == {"wing-flutter"}


def test_the_public_id_finds_too(owner, works):
    assert found(owner, works["x"].public_id) == {"x"}


def test_people_find_what_they_may_see(owner, member, stranger, admin, works):
    alone = factories.job(stranger, name="wing-alone").workload
    assert [found(user, "wing") for user in (owner, member, stranger, admin)] == [
        {"wing-flutter"}, {"wing-flutter"}, {"wing-alone"}, {"wing-flutter", "wing-alone"},
    ]  # fmt: skip
    assert found(owner, alone.public_id) == set()


def test_what_is_renamed_moved_or_deleted_is_found_where_it_is(owner, stranger, works):
    work = works["wing-flutter"]
    Workload.objects.filter(pk=work.pk).update(name="rotor")
    assert (found(owner, "wing"), found(owner, "rotor")) == (set(), {"rotor"})
    Workload.objects.filter(pk=work.pk).update(project=None)
    Workload.objects.filter(pk=work.pk).update(owner=stranger)
    assert (found(owner, "rotor"), found(stranger, "rotor")) == (set(), {"rotor"})
    work.delete_for_good(stranger)
    factories.job(stranger, name="mast")
    assert found(stranger, "rotor") == set()


def test_the_page_searches_and_counts(client, owner, works):
    client.force_login(owner)
    page = client.get("/jobs/?q=FLUTTER").content.decode()
    assert "wing-flutter" in page
    assert "Beam study" not in page


def test_a_list_on_one_page_is_counted_by_it(owner, works, django_assert_num_queries):
    with django_assert_num_queries(0):
        assert counting.counted(Workload.objects.all(), Page([1, 2], "", "", whole=True)) == "2"
    assert counting.counted(Workload.objects.all(), Page([1, 2], "", "?before=1")) == "7"
    assert counting.counted(Workload.objects.filter(project__in=[])) == "0"


@pytest.mark.skipif(connection.vendor != "postgresql", reason="on PostgreSQL alone: no other database tells what it expects")
def test_a_count_that_would_take_long_is_not_tried(monkeypatch, owner, works, django_assert_num_queries):
    monkeypatch.setattr(counting, "DEAR", 0)
    with django_assert_num_queries(1):
        assert counting.counted(Workload.objects.all()).startswith("about ")


def test_a_count_that_takes_too_long_is_a_guess(monkeypatch, owner, works):
    rows = Workload.objects.visible_to(owner)
    slow = rows.extra(where=["pg_sleep(1) IS NOT NULL"]) if connection.vendor == "postgresql" else rows
    monkeypatch.setattr(counting, "EXACT", 3)
    assert counting.counted(slow).startswith(("about ", "over "))
    assert rows.count() == 7  # the transaction goes on
