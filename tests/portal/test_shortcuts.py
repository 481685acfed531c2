"""Addresses that people guess lead to the pages that they mean, and nowhere but here."""

import factories
import pytest
from django.urls import resolve

from portal.views.shortcuts import PLACES

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("typed", "place"),
    [("/budgets/", "/budget/"), ("/budgets/all/?q=wing", "/budget/all/?q=wing"), ("/budgets/7/edit/", "/budget/7/edit/"),
     ("/hardware/coretypes/basalt/", "/hardware/coretypes/basalt/edit/"), ("/job/aBcDeF/files/", "/jobs/aBcDeF/files/"),
     ("/queue/", "/jobs/?status=queued"), ("/budgets//elsewhere.example/", "/budget//elsewhere.example/")],
)  # fmt: skip
def test_a_guess_leads_to_the_page(client, typed, place):
    answer = client.get(typed)
    assert (answer.status_code, answer.url) == (302, place)


def test_each_leads_to_an_address_that_there_is(client, admin):
    kind = factories.coretype()
    client.force_login(admin)
    for place in PLACES.values():
        if "%(rest)s" not in place:
            address = (place % {"code": kind.code}).partition("?")[0].partition("#")[0]
            assert resolve(address)
            assert client.get(address).status_code in (200, 302)
