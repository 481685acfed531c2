"""Sign in and out, the account, a new password; after a few wrong tries a name rests."""

from datetime import timedelta

import factories
import pytest
from django.utils import timezone

from jobs.models import AuditEntry, Membership
from portal import throttle
from portal.models import SignInTry

pytestmark = pytest.mark.django_db


def sign_in(client, name="owner", password="secret", **more):
    return client.post("/signin/", {"username": name, "password": password, **more})


def test_the_door_shows_the_five_stages(client):
    page = client.get("/signin/").content.decode()
    assert all(word in page for word in ("Queued", "Validating Input", "Starting Cluster", "Running Job", "Stopping Cluster"))


def test_signing_in_leads_to_where_one_wanted_to_go(client, owner):
    assert sign_in(client, next="/hardware/").url == "/hardware/"
    assert client.get("/account/").status_code == 200


def test_no_way_out_to_another_site(client, owner):
    assert sign_in(client, next="https://elsewhere.example/").url == "/jobs/"


@pytest.mark.parametrize(("stay", "short"), [({}, True), ({"stay": "on"}, False)])
def test_the_session_ends_with_the_browser_unless_one_stays(client, owner, stay, short):
    sign_in(client, **stay)
    assert client.session.get_expire_at_browser_close() is short


def test_a_wrong_password_says_so_and_keeps_the_name(client, owner):
    page = sign_in(client, password="wrong").content.decode()
    assert "That name and password don&#x27;t match. 4 more tries" in page
    assert 'value="owner"' in page


def test_nobody_learns_whether_a_name_exists(client, owner):
    known, unknown = sign_in(client, "owner", "wrong").content.decode(), sign_in(client, "nobody", "wrong").content.decode()
    assert known.replace("owner", "X").count("don&#x27;t match") == unknown.replace("nobody", "X").count("don&#x27;t match") == 1


def test_after_five_wrong_tries_even_the_right_password_waits(client, owner):
    for _ in range(throttle.LIMIT):
        sign_in(client, password="wrong")
    assert "Too many tries" in sign_in(client).content.decode()
    assert client.get("/account/").status_code == 302
    SignInTry.objects.update(at=timezone.now() - throttle.WINDOW - timedelta(seconds=1))
    assert sign_in(client).status_code == 302


def test_another_name_and_another_address_are_not_held_up(client, owner, member):
    for _ in range(throttle.LIMIT):
        sign_in(client, password="wrong")
    assert sign_in(client, "member").status_code == 302
    assert client.post("/signin/", {"username": "owner", "password": "secret"}, REMOTE_ADDR="10.0.0.9").status_code == 302


def test_many_addresses_together_do_not_guess_one_name(owner):
    now = timezone.now()
    for at in range(throttle.NAME_LIMIT):
        assert throttle.begin("Owner ", f"10.0.0.{at}", now).until is None
    assert throttle.begin("owner", "10.0.1.1", now).until is not None


def test_one_address_does_not_go_through_all_names(db):
    now = timezone.now()
    for at in range(throttle.ADDRESS_LIMIT):
        assert throttle.begin(f"user{at}", "10.0.0.1", now).until is None
    assert throttle.begin("fresh", "10.0.0.1", now).until is not None


def test_the_right_password_begins_the_count_afresh(client, owner):
    sign_in(client, password="wrong")
    sign_in(client)
    assert not SignInTry.objects.exists()


def test_a_refused_try_does_not_lengthen_the_pause(db):
    now = timezone.now()
    for _ in range(throttle.LIMIT):
        throttle.begin("owner", None, now)
    first = throttle.begin("owner", None, now + timedelta(seconds=30)).until
    assert throttle.begin("owner", None, now + timedelta(seconds=60)).until == first == now + throttle.WINDOW


def test_a_closed_account_does_not_come_in(client, owner):
    owner.is_active = False
    owner.save()
    assert sign_in(client).status_code == 200


def test_signing_out_needs_a_post(client, owner):
    client.force_login(owner)
    assert client.get("/signout/").status_code == 405
    assert client.post("/signout/").url == "/signin/"
    assert client.get("/account/").status_code == 302


def test_a_fragment_without_a_session_takes_the_whole_page_to_the_door(client):
    answer = client.get("/signin/", HTTP_HX_REQUEST="true")
    assert (answer.status_code, answer["HX-Refresh"]) == (204, "true")


def test_the_account_is_changed_and_noted(client, owner):
    client.force_login(owner)
    assert client.post("/account/", {"first_name": "Mara", "last_name": "Lindqvist", "email": "m@example.org"}).url == "/account/"
    owner.refresh_from_db()
    assert (owner.get_full_name(), owner.email) == ("Mara Lindqvist", "m@example.org")
    assert AuditEntry.objects.get().detail == {"changed": ["first_name", "last_name", "email"]}


def test_nobody_makes_themselves_an_admin(client, owner):
    client.force_login(owner)
    client.post("/account/", {"first_name": "x", "is_staff": "on", "is_superuser": "on", "username": "boss"})
    owner.refresh_from_db()
    assert (owner.is_staff, owner.is_superuser, owner.username) == (False, False, "owner")


def test_what_is_wrong_stands_beside_its_field(client, owner):
    client.force_login(owner)
    answer = client.post("/account/", {"first_name": "Mara", "email": "no mail"})
    assert answer.status_code == 422
    assert 'id="id_email_error"' in answer.content.decode()
    assert 'value="Mara"' in answer.content.decode()


def test_the_account_lists_the_projects(client, owner, wing):
    client.force_login(owner)
    assert f"/projects/{wing.code}/" in client.get("/account/").content.decode()
    Membership.objects.all().delete()
    assert "in no project yet" in client.get("/account/").content.decode()


def test_a_new_password_keeps_this_browser_and_is_noted(client, owner):
    client.force_login(owner)
    new = "wind-tunnel-9"
    assert client.post("/account/password/", {"old_password": "secret", "new_password1": new, "new_password2": new}).url == "/account/"
    assert client.get("/account/").status_code == 200
    owner.refresh_from_db()
    assert owner.check_password(new)
    assert AuditEntry.objects.get().action == "change password"
    assert new not in str(AuditEntry.objects.values())


def test_a_weak_or_misspelt_password_is_refused(client, owner):
    client.force_login(owner)
    answer = client.post("/account/password/", {"old_password": "wrong", "new_password1": "password", "new_password2": "password"})
    page = answer.content.decode()
    assert "id_old_password_error" in page
    assert "too common" in page


@pytest.mark.parametrize("address", ["/account/", "/account/password/"])
def test_the_account_is_for_people_who_are_signed_in(client, address):
    assert client.get(address).url == f"/signin/?next={address}"


def test_the_purse_says_what_is_left_in_the_project_used_last(client, owner, wing):
    other = factories.project(owner, name="Tail")
    factories.budget(wing, 100, name="Wing money")
    factories.budget(other, 50, name="Tail money")
    factories.job(owner, project=other)
    client.force_login(owner)
    page = client.get("/account/").content.decode()
    assert "Tail" in page.split('id="purse"')[1][:300]
    assert "€50.00" in page


def test_the_purse_costs_one_query_and_nobody_else_has_one(client, owner, wing, django_assert_num_queries):
    from portal.purses import purse_of

    factories.budget(wing, 100)
    with django_assert_num_queries(1):
        assert purse_of(owner).left == 100
    assert 'id="purse"' not in client.get("/signin/").content.decode()
    client.force_login(factories.user("alone"))
    assert 'id="purse"' not in client.get("/account/").content.decode()


def test_a_page_that_is_not_there_says_so_in_the_shell(client, owner):
    client.force_login(owner)
    answer = client.get("/nowhere/")
    assert answer.status_code == 404
    assert "There is nothing here" in answer.content.decode()
    assert 'id="purse"' in answer.content.decode() or "mainnav" in answer.content.decode()
    client.logout()
    assert client.get("/nowhere/").status_code == 404


def test_what_is_not_allowed_says_why(client, owner, wing):
    client.force_login(owner)
    answer = client.post(f"/projects/{wing.code}/", {"user": "x"})
    assert answer.status_code == 403
    assert "Only a lead of the project and admins may do this." in answer.content.decode()


def test_a_form_from_an_old_page_is_told_what_to_do(owner):
    from django.test import Client

    answer = Client(enforce_csrf_checks=True).post("/signin/", {"username": "owner", "password": "secret"})
    assert answer.status_code == 403
    assert "load the page again" in answer.content.decode()


def test_the_page_for_a_bug_needs_nothing_that_may_be_broken(client, owner, monkeypatch, django_assert_num_queries):
    from django.template.loader import render_to_string

    with django_assert_num_queries(0):
        page = render_to_string("500.html")
    assert "jobs that run go on running" in page
    assert "<style" not in page
    assert "style=" not in page
