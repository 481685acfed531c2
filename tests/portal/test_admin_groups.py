"""Groups in the administration: made, given to people, kept where they are all that limits; and who was first to save."""

import factories
import pytest
from django.contrib.auth.models import Group

from jobs.models import AuditEntry, Budget, Coretype, Software, WorkstationKind
from jobs.models.roles import is_auditor
from portal.launch import seeds
from tests.portal.admin_forms import user_form

pytestmark = pytest.mark.django_db


@pytest.fixture
def signed(client, admin):
    client.force_login(admin)
    return client


def test_an_admin_makes_a_group_and_an_auditor(signed, owner):
    seeds.sow()
    assert signed.post("/admin/auth/group/add/", {"name": "heavy"}).status_code == 302
    heavy, auditors = Group.objects.get(name="heavy"), Group.objects.get(name="auditors")
    assert signed.post(f"/admin/auth/user/{owner.pk}/change/", user_form(owner, groups=[heavy.pk, auditors.pk])).status_code == 302
    assert is_auditor(type(owner).objects.get(pk=owner.pk))
    assert AuditEntry.objects.first().detail["values"]["groups"] == ["", "auditors, heavy"]
    assert signed.post(f"/admin/auth/group/{auditors.pk}/change/", {"name": "lookers"}).status_code == 200
    assert Group.objects.filter(name="auditors").exists()


@pytest.mark.parametrize("together", [True, False])
def test_what_alone_limits_hardware_is_kept(signed, together):
    kind, alone, beside = factories.coretype(name="Basalt"), *(Group.objects.create(name=name) for name in ("alone", "beside"))
    kind.groups.set([alone])
    other = factories.coretype(name="Slate")
    other.groups.set([alone, beside])
    program = Software.objects.create(code="only", name="Only")
    kind.software.set([program])
    for model, row in (("auth/group", alone), ("jobs/software", program)):
        address = f"/admin/{model}/" if together else f"/admin/{model}/{row.pk}/delete/"
        answer = signed.post(address, {"action": "delete_selected", "_selected_action": [row.pk], "post": "yes"})
        assert "Basalt: nothing else" in answer.content.decode()
        assert type(row).objects.filter(pk=row.pk).exists()
    assert signed.post(f"/admin/auth/group/{beside.pk}/delete/", {"post": "yes"}).status_code == 302
    assert not Group.objects.filter(pk=beside.pk).exists()


@pytest.mark.parametrize("together", [True, False])
def test_hardware_that_alone_offers_a_workstation_is_kept(signed, together):
    kind, desk = factories.coretype(name="Basalt"), WorkstationKind.objects.create(code="desk", name="Desk")
    desk.coretypes.set([kind])
    address = "/admin/jobs/coretype/" if together else f"/admin/jobs/coretype/{kind.pk}/delete/"
    answer = signed.post(address, {"action": "delete_selected", "_selected_action": [kind.pk], "post": "yes"})
    assert "Desk is offered there alone" in answer.content.decode()
    assert Coretype.objects.filter(pk=kind.pk).exists()


def test_who_saves_an_older_page_is_told(signed, wing):
    budget, kind = factories.budget(wing, 100, name="Wing money"), factories.coretype(name="Basalt")
    for row, address in ((budget, f"/admin/jobs/budget/{budget.pk}/change/"), (kind, f"/admin/jobs/coretype/{kind.pk}/change/")):
        assert 'name="opened" value="1"' in signed.get(address).content.decode()
        type(row).objects.filter(pk=row.pk).update(version=2)
        answer = signed.post(address, {"name": "Old", "amount": "50", "strictness": "strict", "active": "on", "opened": "1"})
        assert "Somebody else changed it" in answer.content.decode()
    assert (Budget.objects.get().amount, Coretype.objects.get().name) == (100, "Basalt")
