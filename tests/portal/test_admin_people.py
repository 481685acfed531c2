"""The administration's people and projects: who comes in and who may what, each change noted."""

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from jobs.models import AuditEntry, Membership, Project
from portal.models import SignInTry
from tests.portal.admin_forms import inlines, user_form

pytestmark = pytest.mark.django_db


@pytest.fixture
def signed(client, admin):
    client.force_login(admin)
    return client


def test_a_new_person_with_a_password(signed):
    form = {"username": "mara", "password1": "wind-tunnel-9", "password2": "wind-tunnel-9", "usable_password": "true"}
    assert signed.post("/admin/auth/user/add/", form).status_code == 302
    made = User.objects.get(username="mara")
    assert made.check_password("wind-tunnel-9")
    assert not made.is_staff
    assert AuditEntry.objects.get().action == "add user"


def test_who_administrates_may_do_everything(signed, owner):
    signed.post(f"/admin/auth/user/{owner.pk}/change/", user_form(owner, is_staff="on"))
    owner.refresh_from_db()
    assert (owner.is_staff, owner.is_superuser) == (True, True)
    signed.post(f"/admin/auth/user/{owner.pk}/change/", user_form(owner))
    owner.refresh_from_db()
    assert (owner.is_staff, owner.is_superuser) == (False, False)
    assert [entry.action for entry in AuditEntry.objects.all()] == ["change user"] * 2


@pytest.mark.parametrize("missing", ["is_staff", "is_active"])
def test_nobody_locks_themselves_out(signed, admin, missing):
    form = user_form(admin, is_staff="on")
    form.pop(missing)
    assert "take the administration away" in signed.post(f"/admin/auth/user/{admin.pk}/change/", form).content.decode()
    admin.refresh_from_db()
    assert admin.is_staff
    assert admin.is_active


def test_a_password_that_an_admin_sets_is_noted_but_not_written_down(signed, owner):
    form = {"password1": "wind-tunnel-9", "password2": "wind-tunnel-9", "usable_password": "true", "set-password": "1"}
    assert signed.post(f"/admin/auth/user/{owner.pk}/password/", form).status_code == 302
    owner.refresh_from_db()
    assert owner.check_password("wind-tunnel-9")
    assert AuditEntry.objects.get().action == "change user"
    assert "wind-tunnel-9" not in str(AuditEntry.objects.values())


def test_a_project_with_its_members(signed, owner):
    form = {"name": "Wing", "code": "wing", "active": "on", **inlines("memberships", 1)}
    rows = {"memberships-0-user": owner.pk, "memberships-0-role": "lead"}
    assert signed.post("/admin/jobs/project/add/", {**form, **rows}).status_code == 302
    assert Membership.objects.get(user=owner, project=Project.objects.get()).role == "lead"


def test_deleting_is_noted_one_by_one_and_together(signed):
    first, second = (Project.objects.create(code=code, name=code) for code in ("one", "two"))
    signed.post(f"/admin/jobs/project/{first.pk}/delete/", {"post": "yes"})
    signed.post("/admin/jobs/project/", {"action": "delete_selected", "_selected_action": second.pk, "post": "yes"})
    assert [(entry.action, entry.target) for entry in AuditEntry.objects.order_by("pk")] == [("delete project", "one"), ("delete project", "two")]
    assert not Project.objects.exists()


def test_an_admin_lets_somebody_try_again_at_once(signed):
    one = SignInTry.objects.create(name="mara", at=timezone.now())
    signed.post(f"/admin/portal/signintry/{one.pk}/delete/", {"post": "yes"})
    assert not SignInTry.objects.exists()
