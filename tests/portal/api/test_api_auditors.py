"""Auditors look, by the API and on pages; they bring and make nothing."""

from __future__ import annotations

import factories
import pytest
from django.contrib.auth.models import Group

from jobs.models import ApiToken, StoredFile, Upload, Workload


@pytest.fixture
def auditor(db):
    made = factories.user("auditor")
    made.groups.add(Group.objects.create(name="auditors"))
    return made


def test_by_token(calls, auditor, wanted, jobs):
    theirs = calls(auditor)
    assert theirs.get(f"jobs/{jobs['running'].public_id}/").status_code == 200
    known = Workload.objects.count()
    tus = {"Authorization": f"Token {theirs.text}", "Tus-Resumable": "1.0.0", "Upload-Length": "3", "Upload-Metadata": "filename YQ=="}
    for answer in (theirs.upload("a", b"1"), theirs.post("jobs/", wanted()), theirs.browser.post("/uploads/", headers=tus)):
        assert (answer.status_code, b"change nothing" in answer.content) == (403, True)
    assert not StoredFile.objects.filter(owner=auditor).exists() and not Upload.objects.filter(owner=auditor).exists()
    assert Workload.objects.count() == known


def test_on_pages(client, auditor):
    client.force_login(auditor)
    for address in ("/files/", "/jobs/new/", "/workstations/new/"):
        assert client.get(address).status_code == 200
        assert client.post(address, {"name": "x"}).status_code == 403, address
    assert not ApiToken.objects.exists() and not StoredFile.objects.exists()
