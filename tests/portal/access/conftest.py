"""Everybody in a browser of their own, and one job and one workstation with something of each kind that could be seen."""

from __future__ import annotations

import factories
import pytest
from django.test import Client
from django.utils import timezone

from jobs import logs, outputs
from jobs.models import HomeCopy, StoredFile
from tests.portal.access.rights import ROLES, SHA_OF_HI


@pytest.fixture
def people(owner, member, stranger, admin):
    clients = {role: Client() for role in ROLES}
    for role, user in [("owner", owner), ("member", member), ("stranger", stranger), ("admin", admin)]:
        clients[role].force_login(user)
    return clients


@pytest.fixture
def job(owner, wing):
    made = factories.job(owner, project=wing)
    made.workload.submit(owner)
    directory = logs.attempt_dir(made.workload.public_id, 1)
    logs.write(directory, "stdout", 0, 0, b"secret words\n")
    outputs.store_batch(
        made.workload.public_id, 1, [{"path": "a.txt", "size": 2, "sha256": SHA_OF_HI, "mode": 0o644, "mtime": 0}], memoryview(b"hi")
    )
    file = StoredFile.objects.create(owner=owner, name="deck.inp", size=2, sha256=SHA_OF_HI, key="inputs/none")
    made.inputs.create(file=file, name="deck.inp")
    return made.workload


@pytest.fixture
def desk(owner, wing):
    made = factories.workstation(owner, project=wing, status="active")
    made.share(owner, timezone.now())
    key = {
        "code": "c0ffee00c0ffee00",
        "attempt": 1,
        "why": "stop",
        "key": "homes/none",
        "made": timezone.now(),
        "whole": timezone.now(),
        "size": 1,
    }
    HomeCopy.objects.create(workstation=made, **key)
    file = StoredFile.objects.create(owner=owner, name="deck.inp", size=2, sha256=SHA_OF_HI, key="inputs/none")
    made.sent.create(file=file, name="deck.inp", by=owner, made=timezone.now())
    return made.workload
