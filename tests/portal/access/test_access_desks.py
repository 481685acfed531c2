"""Every page and action of a workstation x owner, member of the project, stranger, anonymous, admin; files sent into it."""

from __future__ import annotations

import pytest

from jobs.models import StoredFile
from tests.portal.access.rights import DESK_CHANGED, DESK_OWNED, DESK_SEEN, SHA_OF_HI, desk_address

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("name", sorted(DESK_SEEN))
def test_workstations_are_seen_by_their_project_and_by_nobody_else(people, desk, name):
    wanted = {"owner": 200, "member": 200, "admin": 200, "stranger": 404, "anonymous": 302}
    assert {role: client.get(desk_address(name, desk)).status_code for role, client in people.items()} == wanted


@pytest.mark.parametrize("name", sorted(DESK_CHANGED | DESK_OWNED))
def test_workstations_are_changed_by_owner_and_admin_and_their_homes_are_the_owners(people, desk, name):
    address, changed = desk_address(name, desk), name in DESK_CHANGED
    ask = "get" if name in {"workstation-open", "workstation-copy", "workstation-copy-file"} else "post"
    refused = {"anonymous": 302, "stranger": 404, "member": 403} | ({} if changed else {"admin": 403})
    before = type(desk).objects.values().get(pk=desk.pk)
    assert {role: getattr(people[role], ask)(address).status_code for role in refused} == refused
    assert type(desk).objects.values().get(pk=desk.pk) == before
    assert getattr(people["owner"], ask)(address).status_code in (200, 302, 404)


def test_only_its_owner_sends_files_into_a_workstation_and_only_their_own(people, desk, job, stranger, member):
    theirs = {
        user: StoredFile.objects.create(owner=user, name="mine", size=2, sha256=SHA_OF_HI, key="inputs/none") for user in (stranger, member)
    }
    for role, user, status in (("stranger", stranger, 404), ("member", member, 403), ("admin", member, 403)):
        assert people[role].post("/files/send/", {"to": desk.public_id, "file": theirs[user].public_id}).status_code == status
    assert people["anonymous"].post("/files/send/", {"to": desk.public_id}).status_code == 302
    people["owner"].post("/files/send/", {"to": desk.public_id, "file": theirs[member].public_id})
    assert desk.workstation.sent.count() == 1
    assert people["stranger"].get(f"/files/send/?job={job.public_id}").status_code == 404
    assert people["member"].get(f"/files/send/?job={job.public_id}").status_code == 200
