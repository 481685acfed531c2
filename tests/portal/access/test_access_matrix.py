"""Every page and action x owner, member of the project, stranger, anonymous, admin."""

from __future__ import annotations

import pytest
from django.urls import reverse

from tests.portal.access.rights import (
    DESK_CHANGED,
    DESK_OWNED,
    DESK_SEEN,
    ELSEWHERE,
    JOB_CHANGED,
    JOB_COPIED,
    JOB_SEEN,
    OPEN,
    OWN,
    ROLES_OF_MONEY_AND_HARDWARE,
    addresses,
    names,
)  # fmt: skip

pytestmark = pytest.mark.django_db(transaction=True)


def test_every_address_is_classified():
    rest = (
        names()
        - OPEN
        - OWN
        - JOB_SEEN
        - JOB_CHANGED
        - JOB_COPIED
        - DESK_SEEN
        - DESK_CHANGED
        - DESK_OWNED
        - ELSEWHERE
        - ROLES_OF_MONEY_AND_HARDWARE
    )
    unknown = {name for name in rest if not name.startswith("admin-")}
    assert unknown == set(), "say in this file who may see these"


def test_jobs_are_seen_by_their_project_and_by_nobody_else(people, job):
    for name, address in addresses(job).items():
        if name not in JOB_SEEN:
            continue
        for role, client in people.items():
            status = client.get(address + ("?q=x&line=0&count=1&from=0&to=5" if name.startswith("log-") else "")).status_code
            if role == "anonymous":
                assert status in (302, 401, 403, 404), (name, role, status)
            elif role == "stranger":
                assert status == 404, (name, role, status)
            else:
                assert status in (200, 206, 302, 404) if name in {"job-input", "job-file-view"} else status in (200, 206), (
                    name,
                    role,
                    status,
                )


def test_jobs_are_changed_by_owner_and_admin_only(people, job):
    for name, address in addresses(job).items():
        if name not in JOB_CHANGED:
            continue
        before = type(job).objects.values().get(pk=job.pk)
        assert people["anonymous"].post(address).status_code in (302, 401, 403), name
        assert people["stranger"].post(address).status_code == 404, name
        assert people["member"].post(address).status_code == 403, name
        assert type(job).objects.values().get(pk=job.pk) == before, f"{name} changed something for somebody who may not"
    stop = addresses(job)["job-stop"]
    assert people["owner"].post(stop).status_code in (200, 204, 302)
    job.refresh_from_db()
    assert job.wish == "stop"


def test_a_member_may_copy_but_a_stranger_may_not(people, job):
    address = addresses(job)["job-clone"]
    assert people["stranger"].post(address).status_code == 404
    assert people["anonymous"].post(address).status_code in (302, 401, 403)
    assert people["member"].post(address).status_code in (200, 302)


def test_own_pages_want_a_sign_in_and_show_nothing_of_others(people, job):
    for name in sorted(OWN & names()):
        address = reverse(name)
        assert people["anonymous"].get(address).status_code in (302, 401, 403, 405), name
        answer = people["stranger"].get(address)
        assert answer.status_code in (200, 302, 400, 404, 405), (name, answer.status_code)
        body = b"".join(answer.streaming_content) if answer.streaming else answer.content
        assert job.public_id.encode() not in body, name
        assert b"deck.inp" not in body, name
