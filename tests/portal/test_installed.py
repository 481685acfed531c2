"""Software found, on the hardware page and in the form of a new job."""

import factories
import pytest
from django.utils import timezone

from jobs.models import AuditEntry, Installed, Look

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("cloud")]


@pytest.fixture
def kind():
    kind, version = factories.coretype(name="Basalt"), factories.software("calculix")
    Look.objects.create(coretype=kind, asked=timezone.now(), done=timezone.now())
    Installed.note(kind, version, "2.20", timezone.now())
    Installed.note(kind, factories.software("gromacs"), "", timezone.now())
    return kind


def test_the_page_says_what_was_found_and_what_was_not(client, owner, kind):
    client.force_login(owner)
    page = client.get("/hardware/").content.decode()
    assert "Calculix&nbsp;2.20" in page
    assert "Not found: Gromacs" in page
    assert "Look again" not in page


def test_an_admin_asks_for_another_look(client, admin, kind):
    client.force_login(admin)
    assert "Look again" in client.get("/hardware/").content.decode()
    answer = client.post(f"/hardware/coretypes/{kind.code}/look/", headers={"hx-request": "true"})
    assert "being looked at again" in answer.content.decode()
    assert 'hx-trigger="every 3s"' in answer.content.decode()
    assert Look.objects.get().waits
    assert AuditEntry.objects.get().action == "look for software"


def test_the_form_offers_versions_with_what_the_hardware_has(client, owner, kind):
    client.force_login(owner)
    page = client.get("/jobs/new/").content.decode()
    assert "Calculix 1 (2.20 on Basalt)" in page
    assert "Gromacs 1 (not found on Basalt)" in page


def test_hardware_that_nobody_looked_at_claims_nothing(client, owner):
    factories.coretype()
    client.force_login(owner)
    assert "Nobody looked yet" in client.get("/hardware/").content.decode()
