"""What all pages beside those of jobs keep to: who may see them, nothing inline, one heading, no id twice."""

import re
from html.parser import HTMLParser

import factories
import pytest
from django.utils import timezone

from jobs.models import Membership, Stray

pytestmark = pytest.mark.django_db

PAGES = ["/files/", "/hardware/", "/budget/", "/budget/{budget}/", "/projects/", "/projects/{project}/", "/help/", "/account/", "/account/password/"]
STRANGERS = {"/budget/{budget}/": 404, "/projects/{project}/": 404}


class Page(HTMLParser):
    """Everything that the Content-Security-Policy would refuse, the headings and the ids."""

    def __init__(self, text):
        super().__init__()
        self.inline, self.headings, self.ids = [], 0, []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if "style" in given or tag == "style" or (tag == "script" and "src" not in given) or any(name.startswith("on") for name in given):
            self.inline.append(self.get_starttag_text())
        self.headings += tag == "h1"
        self.ids += [given["id"]] if given.get("id") else []


@pytest.fixture
def places(owner, wing):
    Membership.objects.filter(user=owner).update(role="lead")
    now = timezone.now()
    Stray.objects.create(backend="fake", token="hr1-job-x-1", first_seen=now, last_seen=now)
    factories.coretype()
    return {"budget": factories.budget(wing, 1000, name="Wing").pk, "project": wing.code}


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("who", ["owner", "member", "stranger", "admin"])
def test_who_sees_what(client, places, request, who, path):
    client.force_login(request.getfixturevalue(who))
    wanted = STRANGERS.get(path, 200) if who == "stranger" else 200
    assert client.get(path.format(**places)).status_code == wanted


@pytest.mark.parametrize("path", PAGES)
def test_nobody_without_an_account(client, places, path):
    assert client.get(path.format(**places)).url.startswith("/signin/?next=")


@pytest.mark.parametrize("path", [*PAGES, "/hardware/strays/{stray}/", "/nowhere/"])
@pytest.mark.parametrize("who", ["owner", "admin"])
def test_nothing_is_inline_and_every_page_has_one_heading(client, places, request, who, path):
    client.force_login(request.getfixturevalue(who))
    answer = client.get(path.format(**places, stray=Stray.objects.get().pk))
    page = Page(answer.content.decode())
    assert page.inline == []
    assert page.headings == 1
    assert len(page.ids) == len(set(page.ids))
    assert "'unsafe-inline'" not in answer["Content-Security-Policy"]


def test_the_door_keeps_to_it_too(client):
    page = Page(client.get("/signin/").content.decode())
    assert (page.inline, page.headings) == ([], 1)


@pytest.mark.parametrize("path", [*PAGES, "/signin/"])
def test_every_icon_is_in_the_sprite(client, places, admin, path):
    from portal.assets import ICONS

    if path != "/signin/":
        client.force_login(admin)
    used = set(re.findall(r"icons\.svg#([a-z0-9-]+)", client.get(path.format(**places)).content.decode()))
    assert used
    assert used <= set(ICONS)
