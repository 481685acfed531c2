"""Pages of a list by key: every row once, newest first, forwards and back, and what is on a page is asked in two small questions."""

import pytest
from django.contrib.auth.models import User
from django.test import RequestFactory

from portal.views.paging import page_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def people():
    return [User.objects.create(username=f"{'odd' if at % 2 else 'even'}{at}").pk for at in range(10)]


def page(address, kind="odd"):
    return page_of(User.objects.filter(username__startswith=kind), RequestFactory().get("/" + address), 2, kind=kind)


def keys(found):
    return [row.pk for row in found.rows]


def test_every_row_once_forwards_and_back(people):
    odd = people[1::2][::-1]
    first = page("")
    second = page(first.older)
    third = page(second.older)
    assert [keys(first), keys(second), keys(third)] == [odd[:2], odd[2:4], odd[4:]]
    assert (first.newer, third.older) == ("", "")
    assert first.older == f"?kind=odd&before={odd[1]}"
    assert keys(page(third.newer)) == odd[2:4]
    assert keys(page(page(third.newer).newer)) == odd[:2]


def test_the_list_is_asked_for_keys_and_the_rows_by_them(people, django_assert_num_queries):
    with django_assert_num_queries(2) as asked:
        page("")
    assert asked[0]["sql"].startswith('SELECT "auth_user"."id" ')
    assert " IN (" in asked[1]["sql"]


def test_what_else_is_shown_of_the_keys_is_up_to_the_list(people):
    odd = people[1::2]
    found = page_of(User.objects.filter(pk__in=odd), RequestFactory().get(f"/?before={odd[-1]}"), 2, lambda keys: [str(key) for key in keys])
    assert found.rows == [str(odd[3]), str(odd[2])]
    assert found.older == f"?before={odd[2]}"


def test_the_only_page_is_the_whole_list(people):
    assert not page("").whole
    assert not page("?before=1").whole
    assert not page(f"?after={people[-1]}").whole
    everybody = page_of(User.objects.all(), RequestFactory().get("/"), 10)
    assert everybody.whole
    assert len(everybody.rows) == 10


@pytest.mark.parametrize("address", ["?before=x", "?after=-1", "?before=" + "9" * 30, "?before=²"])
def test_what_is_no_key_is_the_first_page(people, address):
    assert keys(page(address)) == people[1::2][::-1][:2]


def test_an_empty_list_asks_nothing_further(people, django_assert_num_queries):
    with django_assert_num_queries(1):
        found = page("", "nobody")
    assert (found.rows, found.newer, found.older) == ([], "", "")
