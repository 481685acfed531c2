"""Hardware: what there is and what is free, the same for all; clusters and unknown machines for admins only."""

import html
import json
from datetime import timedelta
from decimal import Decimal

import factories
import pytest
from django.contrib.auth.models import Group
from django.utils import timezone

from jobs import backends, gauging, hardware, lifecycle
from jobs.models import AuditEntry, Cluster, Software, Stray, Turn, Workload, WorkstationKind

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def fresh():
    gauging.forget()
    yield
    gauging.forget()


@pytest.fixture
def granite():
    return factories.coretype(name="Granite", price=Decimal("0.056"), processor="Epyc")


@pytest.fixture
def stray():
    now = timezone.now()
    return Stray.objects.create(backend="fake", token="hr1234-job-aBcDeF-1", first_seen=now, last_seen=now)


def see(client, user, **more):
    client.force_login(user)
    return client.get("/hardware/", **more).content.decode()


def cluster(owner, kind, **fields):
    work = factories.job(owner, coretype=kind, nodes=2, cores=8).workload
    Workload.objects.filter(pk=work.pk).update(status=fields.pop("status", lifecycle.RUNNING))
    now = timezone.now()
    given = {"asked": now - timedelta(hours=2), "up": now - timedelta(hours=1), "price": kind.price, **fields}
    return Cluster.objects.create(workload=work, attempt=1, token=f"hr1-job-{work.public_id}-1", backend=kind.backend, coretype=kind,
                                  nodes_wanted=2, cores=8, **given)


def test_a_coretype_with_its_node_its_price_and_what_is_free(client, owner, granite, cloud):
    page = see(client, owner)
    assert "8 cores, 16.0 GiB a node, up to 4 nodes a job" in page
    assert "€0.056" in page
    assert "Epyc" in page


def test_busy_and_queued_cores_are_counted(owner, granite, cloud):
    cluster(owner, granite)
    cluster(owner, granite, status=lifecycle.STARTING)
    queued = factories.job(owner, coretype=granite, cores=4).workload
    queued.submit(owner)
    kind, = hardware.kinds()
    assert (kind.running, kind.moving, kind.queued) == (16, 16, 4)
    totals = hardware.totals(timezone.now())
    assert (totals.busy, totals.waiting, totals.waiting_cores, totals.clusters) == (32, 1, 4, 2)
    assert totals.rate == 2 * 16 * granite.price


def test_a_withdrawn_coretype_is_not_offered(client, owner, granite):
    granite.active = False
    granite.save()
    assert "No hardware yet" in see(client, owner)


def test_a_backend_that_does_not_answer_is_not_read_as_empty(client, owner, granite, monkeypatch):
    def broken(self):
        raise backends.TryAgain("no route")

    monkeypatch.setattr(type(backends.get("fake")), "capacity", broken)
    page = see(client, owner)
    assert "The backend does not say what is free" in page
    assert "not known" in page


def test_a_backend_that_is_set_up_wrongly_does_not_take_the_page_down(client, owner, granite, monkeypatch):
    def broken(self):
        raise OSError("no such program")

    monkeypatch.setattr(type(backends.get("fake")), "about", broken)
    assert "fake does not answer: no such program" in see(client, owner)


def test_the_backends_say_how_jobs_are_kept_apart(client, owner, granite):
    assert backends.get("fake").about() in see(client, owner)


@pytest.mark.parametrize("who", ["owner", "member", "stranger"])
def test_people_see_no_clusters_and_no_strays(client, wing, granite, stray, request, who):
    token = cluster(request.getfixturevalue("owner"), granite).token
    page = see(client, request.getfixturevalue(who))
    assert token not in page
    assert stray.token not in page
    assert "Spend now" not in page
    assert "/admin/" not in page.split('id="main"')[1]
    client.force_login(request.getfixturevalue(who))
    assert client.get(f"/hardware/strays/{stray.pk}/").status_code == 403
    assert client.post(f"/hardware/strays/{stray.pk}/", {"decision": "destroy"}).status_code == 403
    stray.refresh_from_db()
    assert stray.decision == ""


def test_nobody_sees_it_without_an_account(client, stray):
    assert client.get("/hardware/").url == "/signin/?next=/hardware/"
    assert client.post(f"/hardware/strays/{stray.pk}/", {"decision": "destroy"}).url.startswith("/signin/")


def test_admins_see_clusters_with_owner_age_and_cost(client, admin, owner, granite):
    token = cluster(owner, granite).token
    page = see(client, admin)
    assert token in page
    assert "€0.90" in page  # an hour of 16 cores
    assert "2:00:0" in page


def test_a_settled_bill_does_not_grow(owner, granite):
    now = timezone.now()
    one = cluster(owner, granite, charged_until=now - timedelta(minutes=30), settled=now)
    assert hardware.cost_of(one, now + timedelta(hours=5)) == Decimal("0.448")


def test_released_clusters_are_not_listed(client, admin, owner, granite):
    token = cluster(owner, granite, released=timezone.now()).token
    assert token not in see(client, admin)


def test_zero_unknown_machines_is_said_with_the_time_of_the_comparison(client, admin):
    Turn.objects.create(name="reconcile", last=timezone.now())
    page = see(client, admin)
    assert "Nothing carries our mark that is not known here" in page
    assert "compared <time" in page


@pytest.mark.parametrize("decision", ["keep", "destroy"])
def test_an_admin_decides_and_it_is_noted(client, admin, stray, decision):
    client.force_login(admin)
    page = client.post(f"/hardware/strays/{stray.pk}/", {"decision": decision}, follow=True).content.decode()
    stray.refresh_from_db()
    assert stray.decision == decision
    assert stray.token in page
    assert AuditEntry.objects.get().action == f"{decision} stray"


def test_destroying_is_asked_about_first(client, admin, stray):
    client.force_login(admin)
    asked = client.get(f"/hardware/strays/{stray.pk}/").content.decode()
    assert f"Destroy {stray.token}?" in asked
    assert 'name="decision" value="destroy"' in asked
    stray.refresh_from_db()
    assert stray.decision == ""


@pytest.mark.parametrize("decision", ["", "explode"])
def test_nothing_but_keep_and_destroy_is_a_decision(client, admin, stray, decision):
    client.force_login(admin)
    client.post(f"/hardware/strays/{stray.pk}/", {"decision": decision})
    stray.refresh_from_db()
    assert stray.decision == ""
    with pytest.raises(ValueError, match="explode"):
        hardware.decide(stray, "explode")


def test_what_is_gone_is_not_decided_about(client, admin, stray):
    Stray.objects.update(gone=timezone.now())
    client.force_login(admin)
    assert "gone already" in client.post(f"/hardware/strays/{stray.pk}/", {"decision": "destroy"}, follow=True).content.decode()
    assert not AuditEntry.objects.exists()


def test_the_part_that_changes_comes_alone(client, owner, granite):
    part = see(client, owner, HTTP_HX_REQUEST="true", HTTP_HX_TARGET="hardware-now")
    assert part.startswith('<div class="stack" id="hardware-now"')
    assert 'hx-trigger="every 10s"' in part


def test_marks_say_in_words_what_they_show(client, owner):
    kind = factories.coretype(backend="local", name="Here")
    gauging.write(timezone.now())
    found, = hardware.kinds()
    assert found.coretype == kind
    assert f'aria-label="Here, cores: {found.total} free"' in see(client, owner)


@pytest.mark.parametrize(("who", "seen"), [("admin", True), ("owner", False)])
def test_kinds_of_workstations_with_their_rules_are_the_admins_to_see(client, request, who, seen):
    WorkstationKind.objects.create(code="desk", name="Linux desktop", session="desktop", idle_after=1800, suspended_days=30)
    client.force_login(request.getfixturevalue(who))
    page = client.get("/hardware/").content.decode()
    assert ("Kinds of workstations" in page) is seen
    assert ("after 30 min without work" in page) is seen
    assert ("for 30 days" in page) is seen


def test_the_last_day_is_shown_by_what_was_up(client, owner, granite, cloud):
    assert "No cluster was up in the last 24 hours." in see(client, owner)
    cluster(owner, granite, up=timezone.now() - timedelta(days=2))
    page = see(client, owner)
    assert "16 cores at most, in the quarter of an hour from" in page
    assert "16 cores on average" in page
    drawn = json.loads(html.unescape(page.split('data-occupied="')[1].split('"')[0]))
    assert set(drawn["cores"]) == {16}
    assert client.get("/hardware/day/").content.decode().startswith('<div hx-get="/hardware/day/"')


def test_nodes_stand_beside_cores(client, owner, granite, cloud, monkeypatch):
    monkeypatch.setattr(cloud, "pools", {granite.code: 64})
    gauging.write(timezone.now())
    cluster(owner, granite)
    factories.job(owner, coretype=granite, nodes=3, cores=4).workload.submit(owner)
    kind, = hardware.kinds()
    assert (kind.busy, kind.nodes, kind.free, kind.nodes_free, kind.queued, kind.nodes_queued) == (16, 2, 48, 6, 12, 3)
    page = see(client, owner)
    for words in ("cores on 2 nodes", "cores, up to 6 nodes", "cores on 3 nodes"):
        assert f'<span class="sub">{words}</span>' in page


def test_what_a_coretype_is_for_is_said(client, owner, granite, cloud):
    granite.gpu = "4 x A100"
    granite.save()
    owner.groups.add(heavy := Group.objects.create(name="heavy"))
    granite.groups.set([heavy])
    granite.software.set([Software.objects.create(code="om", name="Mesher")])
    client.force_login(owner)
    page = client.get("/hardware/").content.decode()
    assert all(words in page for words in ("4 x A100", "for people of heavy only", "for Mesher only"))


def test_what_was_done_about_a_machine_that_is_gone_stays_to_be_seen(client, admin, stranger, stray):
    client.force_login(admin)
    client.post(f"/hardware/strays/{stray.pk}/", {"decision": "destroy"})
    Stray.objects.update(gone=timezone.now())
    page = client.get("/hardware/").content.decode()
    assert stray.token in page
    assert f"destroyed, decided by {admin.username}" in page


def test_auditors_see_unknown_machines_and_no_buttons(client, stranger, stray):
    stranger.groups.add(Group.objects.get_or_create(name="auditors")[0])
    client.force_login(stranger)
    page = client.get("/hardware/").content.decode()
    assert (stray.token in page, 'value="keep"' in page) == (True, False)
    part = client.get("/hardware/", HTTP_HX_REQUEST="true", HTTP_HX_TARGET="hardware-now").content.decode()
    assert (stray.token in part, 'id="unknown" hx-swap-oob="true"' in part) == (True, True)  # a page that stays open tells of it
