"""Projects: who is in one sees it; a lead or an admin says who is in it; every change is noted."""

import factories
import pytest

from jobs import lifecycle
from jobs.models import AuditEntry, Membership, Workload

pytestmark = pytest.mark.django_db


@pytest.fixture
def led(owner, wing):
    Membership.objects.filter(user=owner).update(role="lead")
    return wing


def path(project):
    return f"/projects/{project.code}/"


def member_path(project, user):
    return f"{path(project)}members/{Membership.objects.get(project=project, user=user).pk}/remove/"


@pytest.mark.parametrize(("who", "status"), [("owner", 200), ("member", 200), ("stranger", 404), ("admin", 200)])
def test_a_project_is_seen_by_its_people_and_admins(client, led, request, who, status):
    client.force_login(request.getfixturevalue(who))
    assert client.get(path(led)).status_code == status


def test_the_list_has_ones_own_and_for_admins_all(client, owner, stranger, admin, led):
    for user, seen in [(owner, True), (stranger, False), (admin, True)]:
        client.force_login(user)
        assert (path(led) in client.get("/projects/").content.decode()) is seen


def test_nobody_sees_projects_without_an_account(client, led):
    for address in ("/projects/", path(led)):
        assert client.get(address).url == f"/signin/?next={address}"


def test_members_with_roles_and_what_they_have_going(client, owner, led):
    work = factories.job(owner, project=led).workload
    Workload.objects.filter(pk=work.pk).update(status=lifecycle.RUNNING)
    factories.job(owner, project=led)  # a draft is not going
    client.force_login(owner)
    page = client.get(path(led)).content.decode()
    assert page.count("<td role=\"cell\" class=\"end num\" data-th=\"Jobs going\">1</td>") == 1
    assert "Lead" in page
    assert "Member" in page


@pytest.mark.parametrize("who", ["owner", "admin"])
def test_a_lead_or_an_admin_adds_somebody(client, led, stranger, request, who):
    client.force_login(request.getfixturevalue(who))
    assert client.post(path(led), {"user": "stranger", "role": "member"}).status_code == 302
    assert Membership.objects.get(user=stranger).role == "member"
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.detail) == ("add member", {"member": "stranger", "role": "member"})


def test_adding_somebody_again_changes_the_role(client, owner, member, led):
    client.force_login(owner)
    client.post(path(led), {"user": "member", "role": "lead"})
    assert Membership.objects.get(user=member).role == "lead"
    assert AuditEntry.objects.get().action == "change member"


@pytest.mark.parametrize("who", ["member", "stranger"])
def test_nobody_else_changes_who_is_in_it(client, led, owner, request, who):
    user = request.getfixturevalue(who)
    client.force_login(user)
    status = 404 if who == "stranger" else 403
    assert client.post(path(led), {"user": "stranger", "role": "lead"}).status_code == status
    assert client.post(member_path(led, owner)).status_code == status
    assert Membership.objects.count() == 2
    assert not AuditEntry.objects.exists()
    page = client.get(path(led))
    assert b"Add somebody" not in page.content


@pytest.mark.parametrize("name", ["nobody", "Member", ""])
def test_a_name_that_nobody_has_is_refused_beside_the_field(client, owner, led, name):
    client.force_login(owner)
    answer = client.post(path(led), {"user": name, "role": "member"})
    assert answer.status_code == 422
    assert "id_user_error" in answer.content.decode()


def test_a_closed_account_is_not_added(client, owner, led, stranger):
    stranger.is_active = False
    stranger.save()
    client.force_login(owner)
    assert client.post(path(led), {"user": "stranger", "role": "member"}).status_code == 422


def test_removing_asks_first_and_says_what_goes_on(client, owner, member, led):
    work = factories.job(member, project=led).workload
    Workload.objects.filter(pk=work.pk).update(status=lifecycle.RUNNING)
    client.force_login(owner)
    asked = client.get(member_path(led, member)).content.decode()
    assert "Remove member from Wing?" in asked
    assert "1 job" in asked
    assert client.post(member_path(led, member)).url == path(led)
    assert not Membership.objects.filter(user=member).exists()
    assert AuditEntry.objects.get().detail == {"member": "member", "still_running": 1}
    client.force_login(member)
    assert client.get(path(led)).status_code == 404


def test_a_member_may_leave(client, member, led):
    client.force_login(member)
    assert client.post(member_path(led, member)).url == "/projects/"
    assert not Membership.objects.filter(user=member).exists()


def test_a_project_keeps_a_lead(client, owner, led):
    client.force_login(owner)
    assert "needs a lead" in client.post(member_path(led, owner), follow=True).content.decode()
    client.post(path(led), {"user": "owner", "role": "member"})
    assert Membership.objects.get(user=owner).role == "lead"


def test_a_second_lead_may_go(client, owner, member, led):
    Membership.objects.update(role="lead")
    client.force_login(owner)
    client.post(member_path(led, owner))
    assert list(Membership.objects.values_list("user__username", flat=True)) == ["member"]


def test_a_membership_of_another_project_is_not_reached_through_ones_own(client, owner, stranger, led):
    other = factories.project(stranger, name="Tail")
    foreign = Membership.objects.get(project=other)
    client.force_login(owner)
    assert client.post(f"{path(led)}members/{foreign.pk}/remove/").status_code == 404
    assert Membership.objects.filter(pk=foreign.pk).exists()


def test_the_page_shows_the_project_s_money(client, member, led):
    factories.budget(led, 1000, name="Wing money")
    client.force_login(member)
    assert "€1,000.00 left" in client.get(path(led)).content.decode()
