"""Who may look and who may change: member, lead, admin, auditor and stranger on every page of money, hardware and queue."""

import factories
import playing
import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import Group
from django.urls import reverse

from jobs.models import AuditEntry, Budget, Coretype, Limit, Membership, Workload
from portal.presenters import audit

pytestmark = pytest.mark.django_db

ROLES = ("member", "lead", "admin", "auditor", "stranger", "anonymous")
LOOKS = {  # name of the view: what each of ROLES gets
    "budget-one": (200, 200, 200, 200, 404, 302),
    "budget-csv": (200, 200, 200, 200, 404, 302),
    "budget-spend": (200, 200, 200, 200, 404, 302),
    "budgets-all": (403, 403, 200, 200, 403, 302),
    "budget-new": (403, 403, 200, 403, 403, 302),
    "budget-edit": (403, 200, 200, 403, 404, 302),
    "budget-close": (403, 403, 200, 403, 403, 302),
    "budget-adjust": (403, 403, 200, 403, 403, 302),
    "hardware": (200, 200, 200, 200, 200, 302),
    "hardware-software": (200, 200, 200, 200, 200, 302),
    "coretypes": (403, 403, 200, 200, 403, 302),
    "coretype-new": (403, 403, 200, 403, 403, 302),
    "coretype": (403, 403, 200, 403, 403, 302),
    "coretype-offer": (403, 403, 200, 403, 403, 302),
    "hardware-export": (403, 403, 200, 200, 403, 302),
    "hardware-import": (403, 403, 200, 403, 403, 302),
    "hardware-slurm": (403, 403, 200, 403, 403, 302),
    "hardware-accounts": (403, 403, 200, 403, 403, 302),
    "limits": (403, 403, 200, 200, 403, 302),
    "limit": (403, 403, 200, 403, 403, 302),
    "limit-new": (403, 403, 200, 403, 403, 302),
    "limit-delete": (403, 403, 200, 403, 403, 302),
    "region-new": (403, 403, 200, 403, 403, 302),
    "audit": (403, 403, 200, 200, 403, 302),
    "audit-csv": (403, 403, 200, 200, 403, 302),
    "project": (200, 200, 200, 200, 404, 302),
    "job": (200, 200, 200, 200, 404, 302),
    "job-settings": (200, 200, 200, 200, 404, 302),
    "job-stop": (403, 200, 200, 403, 404, 302),
    "job-extend": (403, 200, 200, 403, 404, 302),
    "workstation": (200, 200, 200, 200, 404, 302),
    "workstation-settings": (200, 200, 200, 200, 404, 302),
    "workstation-stop": (403, 200, 200, 403, 404, 302),
    "workstation-open": (403, 403, 403, 403, 404, 302),
}
CHANGES = {
    "budget-edit": (403, 422, 422, 403, 404, 302),
    "budget-close": (403, 403, 302, 403, 403, 302),
    "budget-adjust": (403, 403, 422, 403, 403, 302),
    "budget-unpaid": (403, 403, 302, 403, 403, 302),
    "coretype": (403, 403, 422, 403, 403, 302),
    "coretype-offer": (403, 403, 302, 403, 403, 302),
    "coretype-look": (403, 403, 302, 403, 403, 302),
    "coretype-delete": (403, 403, 302, 403, 403, 302),
    "hardware-import": (403, 403, 422, 403, 403, 302),
    "limit-new": (403, 403, 422, 403, 403, 302),
    "limit": (403, 403, 422, 403, 403, 302),
    "limit-delete": (403, 403, 302, 403, 403, 302),
    "hardware-slurm": (403, 403, 200, 403, 403, 302),
    "hardware-slurm-look": (403, 403, 404, 403, 403, 302),
    "hardware-slurm-give-up": (403, 403, 404, 403, 403, 302),
    "hardware-accounts": (403, 403, 422, 403, 403, 302),
    "hardware-account-remove": (403, 403, 404, 403, 403, 302),
    "job-offer": (403, 302, 302, 403, 404, 302),
    "job-stop": (403, 302, 302, 403, 404, 302),
    "job-archive": (403, 302, 302, 403, 404, 302),
    "workstation-suspend": (403, 302, 302, 403, 404, 302),
    "workstation-keep": (403, 302, 302, 403, 404, 302),
    "workstation-share": (403, 200, 200, 403, 404, 302),
    "audit": (405, 405, 405, 405, 405, 302),
}


@pytest.fixture
def world(owner, member, stranger, admin, wing, clock, cloud):
    lead, auditor = factories.user("lead"), factories.user("auditor")
    Membership.objects.create(project=wing, user=lead, role="lead")
    auditor.groups.add(Group.objects.create(name="auditors"))
    kind = factories.coretype(code="basalt")
    budget = factories.budget(wing, 100)
    work = factories.job(owner, project=wing, coretype=kind).workload
    work.submit(owner, clock())
    desk = factories.workstation(owner, project=wing, coretype=kind, status="active").workload
    playing.turn_all(clock, ("queued",))
    limit = Limit.objects.create(most_jobs=100)
    pages = {
        "limit": [limit.pk],
        "limit-delete": [limit.pk],
        "project": [wing.code],
        "coretype": ["basalt"],
        "coretype-offer": ["basalt"],
        "coretype-look": ["basalt"],
        "coretype-delete": ["basalt"],
        "hardware-slurm-give-up": [1],
        "hardware-account-remove": [1],
    }
    people = {"member": member, "lead": lead, "admin": admin, "auditor": auditor, "stranger": stranger, "anonymous": None}

    def address(name):
        if name.startswith("budget-") and name not in ("budget-new", "budget-unpaid"):
            return reverse(name, args=[budget.pk])
        if name.startswith("workstation"):
            return reverse(name, args=[desk.public_id])
        return reverse(name, args=[work.public_id] if name.startswith("job") else pages.get(name, []))

    return people, address


@pytest.mark.parametrize("role", ROLES)
def test_who_may_look(client, world, role):
    people, address = world
    if people[role]:
        client.force_login(people[role])
    at = ROLES.index(role)
    assert {name: client.get(address(name)).status_code for name in LOOKS} == {name: row[at] for name, row in LOOKS.items()}


@pytest.mark.parametrize("role", ROLES)
def test_who_may_change(client, world, role):
    people, address = world
    if people[role]:
        client.force_login(people[role])
    at = ROLES.index(role)
    found = {name: client.post(address(name), {"active": "1"}).status_code for name in CHANGES}
    assert found == {name: row[at] for name, row in CHANGES.items()}
    if role in ("member", "auditor", "stranger", "anonymous"):
        assert not AuditEntry.objects.exists()
        assert set(Workload.objects.values_list("wish", flat=True)) == {"run"}
        assert Budget.objects.get().version == Coretype.objects.get().version == 1


def test_an_auditor_sees_how_a_workstation_stands_and_never_its_session(client, world):
    people, address = world
    client.force_login(people["auditor"])
    page = client.get(address("workstation")).content.decode()
    assert "What it costs" in page
    assert "data-socket" not in page
    assert "/suspend/" not in page.split('id="main"')[1]


def test_an_auditor_sees_every_job_and_project_and_can_do_nothing_with_them(client, world):
    people, address = world
    client.force_login(people["auditor"])
    page = client.get(address("job")).content.decode()
    assert "job-stop" not in page
    assert "/stop/" not in page.split('id="main"')[1]
    assert client.get("/jobs/").status_code == 200
    assert client.get("/admin/").status_code != 200


def test_the_audit_log_is_filtered_and_says_from_what_to_what(client, admin, owner, wing):
    AuditEntry.note(admin, "change coretype", "Basalt", "192.0.2.7", values={"price": ["0.1", "0.2"]})
    AuditEntry.note(owner, "stop", "=beam", None, id="aBcDeF")
    client.force_login(admin)
    page = client.get("/audit/").content.decode()
    for words in ("price: 0.1 → 0.2", "192.0.2.7", 'href="/jobs/aBcDeF/"'):
        assert words in page
    assert "=beam" not in client.get("/audit/?who=boss").content.decode().split("<tbody")[1]
    for query in ("action=stop", "q=beam", "q=BEAM"):
        table = client.get(f"/audit/?{query}").content.decode().split("<tbody")[1]
        assert "=beam" in table
        assert "Basalt" not in table
    for query in ("from=2999-01-01", "to=1999-01-01", "q=%00nothing"):
        assert "Nothing like that" in client.get(f"/audit/?{query}").content.decode()
    answer = client.get("/audit/audit.csv")
    assert "'=beam" in async_to_sync(whole)(answer)


async def whole(answer):
    return b"".join([part async for part in answer.streaming_content]).decode()


def test_the_audit_log_cannot_be_edited(admin):
    AuditEntry.note(admin, "stop", "beam")
    entry = AuditEntry.objects.get()
    for act in (entry.save, entry.delete):
        with pytest.raises(TypeError, match="append-only"):
            act()


def test_an_odd_entry_does_not_break_the_page(client, admin):
    AuditEntry.note(admin, "odd", "x" * 300, values={"password": [], "a": "b"}, list=[1, 2], long="y" * 5000)
    client.force_login(admin)
    assert client.get("/audit/").status_code == 200
    assert [value.after for value in audit.values(AuditEntry.objects.get())][:3] == ["changed", "changed", "1, 2"]
