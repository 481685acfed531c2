"""Links to look: told once, for who has them, until they end; revoked at once."""

from datetime import timedelta

import pytest
import stations as scene
from django.test import Client
from django.utils import timezone

from jobs import lifecycle
from jobs.models import AuditEntry, Share

pytestmark = pytest.mark.django_db


@pytest.fixture
def work(owner, wing):
    made = scene.desk(owner, lifecycle.ACTIVE, "terminal", project=wing)
    scene.beats(made)
    return made


def link_of(client, work, **data):
    page = client.post(f"/workstations/{work.public_id}/share/", {"hours": "8", **data}).content.decode()
    return page.split('id="share-link" value="')[1].split('"')[0].removeprefix("http://testserver")


def test_a_link_is_told_once_and_ends(signed, work):
    link = link_of(signed, work)
    share = Share.objects.get()
    assert share.token_hash == Share.hash_of(link.split("/")[-2])
    assert abs(share.expires - timezone.now() - timedelta(hours=8)) < timedelta(minutes=1)
    assert share.signed_in
    assert AuditEntry.objects.get().action == "share"
    assert link.split("/")[-2] not in signed.get(f"/workstations/{work.public_id}/").content.decode()


def test_who_is_signed_in_looks_and_cannot_type(signed, work, as_user, stranger):
    link = link_of(signed, work)
    answer = as_user(stranger).get(link)
    page = answer.content.decode()
    assert 'data-mode="look"' in page
    assert f"?share={link.split('/')[-2]}" in page
    assert "desk-clip" not in page
    assert "/suspend/" not in page
    assert answer["Referrer-Policy"] == "no-referrer"


def test_nobody_else_does_unless_the_link_says_so(signed, work):
    assert Client().get(link_of(signed, work)).url.startswith("/signin/?next=/workstations/shared/")
    assert Client().get(link_of(signed, work, anyone="1")).status_code == 200


def test_a_link_that_is_over_shows_nothing(signed, work):
    link = link_of(signed, work, anyone="1")
    Share.objects.update(expires=timezone.now())
    answer = Client().get(link)
    assert answer.status_code == 404
    assert work.name not in answer.content.decode()
    assert Client().get("/workstations/shared/nothing/").status_code == 404


def test_revoked_is_over_at_once(signed, work):
    link = link_of(signed, work, anyone="1")
    page = signed.get(f"/workstations/{work.public_id}/").content.decode()
    assert "Links that are open" in page
    signed.post(f"/workstations/{work.public_id}/share/{Share.objects.get().pk}/revoke/")
    assert Client().get(link).status_code == 404
    assert "Links that are open" not in signed.get(f"/workstations/{work.public_id}/").content.decode()


def test_a_share_of_another_workstation_is_not_revoked(signed, work, owner):
    other = scene.desk(owner, lifecycle.ACTIVE, "terminal")
    link_of(signed, work)
    assert signed.post(f"/workstations/{other.public_id}/share/{Share.objects.get().pk}/revoke/").status_code == 404
    assert Share.objects.get().revoked is None


def test_whoever_loses_the_right_loses_their_links(signed, work, owner):
    link = link_of(signed, work, anyone="1")
    type(owner).objects.filter(pk=owner.pk).update(is_active=False)
    assert Client().get(link).status_code == 404


@pytest.mark.parametrize("hours", ["0", "-1", "99999", "x", ""])
def test_odd_hours_are_an_hour(signed, work, hours):
    link_of(signed, work, hours=hours)
    assert Share.objects.get().expires < timezone.now() + timedelta(hours=1, minutes=1)


def test_members_make_no_links(as_user, work, member):
    assert as_user(member).post(f"/workstations/{work.public_id}/share/", {}).status_code == 403
