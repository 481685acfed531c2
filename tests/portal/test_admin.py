"""The administration: one door, every change noted, money only by the ledger, history only to be looked at."""

from decimal import Decimal

import factories
import pytest
from django.contrib import admin as administration
from django.utils import timezone

from jobs import lifecycle
from jobs.models import AuditEntry, Budget, Charge, Coretype, Event, Hold, Project, Software, Stray, Workload, WorkstationKind
from portal.models import SignInTry
from tests.portal.admin_forms import inlines

pytestmark = pytest.mark.django_db

LOOK_ONLY = ["auditentry", "charge", "cluster", "event", "hold", "homecopy", "storedfile", "workload"]


@pytest.fixture
def signed(client, admin):
    client.force_login(admin)
    return client


@pytest.fixture
def money(wing):
    return factories.budget(wing, 1000, name="Wing money")


def budget_form(budget, **more):
    return {"name": budget.name, "amount": str(budget.amount), "strictness": budget.strictness, "active": "on", **more}


def rows_of_everything(owner, wing, money):
    work = factories.job(owner, project=wing).workload
    work.submit(owner)
    now = timezone.now()
    Hold.objects.create(budget=money, workload=work, attempt=1, amount=1, made=now)
    Charge.objects.create(budget=money, workload=work, label=work.name, attempt=1, amount=1, cores=1, price=1, start=now, end=now, made=now)
    Stray.objects.create(backend="fake", token="hr1-job-x-1", first_seen=now, last_seen=now)
    SignInTry.objects.create(name="x", at=now)
    AuditEntry.note(owner, "submit", work)
    return work


# --- who comes in -----------------------------------------------------------------------------------------------------
def test_there_is_one_door(client, owner):
    assert client.get("/admin/").url == "/admin/login/?next=/admin/"
    assert client.get("/admin/login/?next=/admin/jobs/").url == "/signin/?next=%2Fadmin%2Fjobs%2F"
    assert client.post("/admin/login/", {"username": "owner", "password": "secret"}).url.startswith("/signin/")
    assert "_auth_user_id" not in client.session


@pytest.mark.parametrize("who", ["owner", "member", "stranger"])
def test_people_do_not_come_in(client, wing, request, who):
    client.force_login(request.getfixturevalue(who))
    assert client.get("/admin/", follow=True).status_code == 403
    assert client.get("/admin/jobs/budget/", follow=True).status_code == 403


def test_every_list_and_every_row_opens(signed, owner, wing, money):
    rows_of_everything(owner, wing, money)
    for model in administration.site._registry:
        name = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        assert signed.get(name).status_code == 200, name
        row = model.objects.order_by("pk").first()
        if row is not None:
            assert signed.get(f"{name}{row.pk}/change/").status_code == 200, name


# --- only to be looked at ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", LOOK_ONLY)
def test_not_even_a_superuser_changes_history(signed, owner, wing, money, name):
    rows_of_everything(owner, wing, money)
    model = next(one for one in administration.site._registry if one._meta.model_name == name)
    before = list(model.objects.values())
    base = f"/admin/jobs/{name}/"
    assert signed.get(f"{base}add/").status_code == 403
    assert signed.post(f"{base}add/", {}).status_code == 403
    for row in model.objects.all():
        assert signed.post(f"{base}{row.pk}/delete/", {"post": "yes"}).status_code == 403
        assert signed.post(f"{base}{row.pk}/change/", {"amount": "9", "name": "x"}).status_code == 403
        signed.post(base, {"action": "delete_selected", "_selected_action": row.pk, "post": "yes"})
    assert list(model.objects.values()) == before


def test_the_secret_of_a_cluster_is_not_shown(signed, owner):
    from jobs.models import Cluster

    work = factories.job(owner).workload
    one = Cluster.objects.create(workload=work, attempt=1, token="hr1-job-x-1", secret_hash="f" * 64, backend="fake", coretype=work.coretype,
                                 nodes_wanted=1, cores=1, price=1, asked=timezone.now(), asker="nonce-of-the-holder")
    page = signed.get(f"/admin/jobs/cluster/{one.pk}/change/").content.decode()
    assert "hr1-job-x-1" in page
    assert "f" * 64 not in page
    assert "nonce-of-the-holder" not in page


def test_names_from_users_are_only_text(signed, owner):
    factories.job(owner, name="<img src=x onerror=alert(1)>")
    assert "<img src=x" not in signed.get("/admin/jobs/workload/").content.decode()


# --- money ------------------------------------------------------------------------------------------------------------
def test_a_raise_keeps_what_was_charged_meanwhile_and_is_noted(signed, money):
    Budget.objects.filter(pk=money.pk).update(spent=Decimal("12.5"), held=Decimal("0.000001"))
    answer = signed.post(f"/admin/jobs/budget/{money.pk}/change/", budget_form(money, amount="1500.000001", spent="0", held="0"))
    assert answer.status_code == 302
    money.refresh_from_db()
    assert (money.amount, money.spent, money.held) == (Decimal("1500.000001"), Decimal("12.5"), Decimal("0.000001"))
    entry = AuditEntry.objects.get()
    assert entry.action == "change budget"
    assert entry.detail["values"] == {"amount": ["1000", "1500.000001"]}


def test_a_strict_budget_is_never_set_below_what_is_taken(signed, money):
    Budget.objects.filter(pk=money.pk).update(spent=Decimal(600), held=Decimal(100))
    page = signed.post(f"/admin/jobs/budget/{money.pk}/change/", budget_form(money, amount="699.99"))
    assert "700.000000 is spent or held already" in page.content.decode()
    assert signed.post(f"/admin/jobs/budget/{money.pk}/change/", budget_form(money, amount="10", strictness="soft")).status_code == 302
    page = signed.post(f"/admin/jobs/budget/{money.pk}/change/", budget_form(money, amount="10"))
    assert "is spent or held already" in page.content.decode()
    money.refresh_from_db()
    assert (money.amount, money.strictness) == (10, "soft")


@pytest.mark.parametrize("amount", ["-1", "x", "NaN", "1e30", "1.0000001"])
def test_what_is_no_amount_is_refused(signed, money, amount):
    assert signed.post(f"/admin/jobs/budget/{money.pk}/change/", budget_form(money, amount=amount)).status_code == 200
    money.refresh_from_db()
    assert money.amount == 1000


def test_a_new_budget_has_one_target(signed, owner, wing):
    form = {"name": "Two", "member": owner.pk, "project": wing.pk, "unit": "money", "amount": "10", "strictness": "strict", "active": "on"}
    assert "of a member, of a project, or of neither" in signed.post("/admin/jobs/budget/add/", form).content.decode()
    assert signed.post("/admin/jobs/budget/add/", {**form, "member": ""}).status_code == 302
    assert Budget.objects.get().project == wing
    assert AuditEntry.objects.get().action == "add budget"


def test_a_budget_that_was_used_is_not_deleted(signed, owner, wing, money):
    rows_of_everything(owner, wing, money)
    signed.post(f"/admin/jobs/budget/{money.pk}/delete/", {"post": "yes"})
    assert Budget.objects.filter(pk=money.pk).exists()


def test_a_project_with_a_budget_does_not_go_away_and_is_only_closed(signed, wing, money):
    page = signed.post(f"/admin/jobs/project/{wing.pk}/delete/", {"post": "yes"}, follow=True).content.decode()
    assert str(money) in page
    assert Project.objects.filter(pk=wing.pk).exists()
    Project.objects.filter(pk=wing.pk).update(active=False)
    assert signed.get(f"/budget/{money.pk}/").status_code == 200
    form = {"name": "Kept", "unit": "money", "strictness": "strict", "amount": "5", "zone": "UTC", "version": 1}
    assert signed.post("/budget/new/", {**form, "project": wing.pk}).status_code == 422
    assert signed.post(f"/budget/{money.pk}/edit/", {**form, "amount": "2000", "version": money.version}).status_code == 302
    money.refresh_from_db()
    assert (money.name, money.project, money.amount) == ("Kept", wing, 2000)


def test_jobs_that_wait_for_money_are_looked_at_at_once(signed, owner, wing, money):
    work = factories.job(owner, project=wing).workload
    work.submit(owner)
    later = timezone.now() + timezone.timedelta(hours=1)
    Workload.objects.update(gate="budget", due=later)
    signed.post(f"/admin/jobs/budget/{money.pk}/change/", budget_form(money, amount="2000"))
    work.refresh_from_db()
    assert (work.status, work.due < later) == (lifecycle.QUEUED, True)


# --- catalogue --------------------------------------------------------------------------------------------------------
def test_a_price_is_a_decimal_and_its_change_is_noted(signed):
    kind = factories.coretype(price=Decimal("0.05"))
    form = {name: getattr(kind, name) for name in ("name", "code", "order", "processor", "cores", "memory", "backend", "max_nodes",
                                                   "walltime_default", "walltime_max", "disk_price")}
    form |= {"region": kind.region_id, "options": "{}", "active": "on"}
    assert 'value="0.05"' in signed.get(f"/admin/jobs/coretype/{kind.pk}/change/").content.decode()
    assert signed.post(f"/admin/jobs/coretype/{kind.pk}/change/", {**form, "price": "0.056001"}).status_code == 302
    assert Coretype.objects.get().price == Decimal("0.056001")
    assert AuditEntry.objects.get().detail["values"]["price"] == ["0.05", "0.056001"]
    for wrong in ({"price": "-1"}, {"price": "1", "backend": "nowhere"}, {"price": "1", "walltime_default": 10**6, "walltime_max": 1}):
        assert signed.post(f"/admin/jobs/coretype/{kind.pk}/change/", {**form, **wrong}).status_code == 200


def test_software_is_edited_with_its_versions(signed):
    version = factories.software("solver")
    program = version.software
    form = {"code": "solver", "name": "Solver", "description": "", "command": "solve $INPUT", "streams": "{}", "stop_command": "", "grace": 90,
            "order": 1, "active": "on", **inlines("versions", 2, 1)}
    rows = {"versions-0-id": version.pk, "versions-0-software": program.pk, "versions-0-code": "1", "versions-0-name": "1.1", "versions-0-order": 1,
            "versions-1-software": program.pk, "versions-1-code": "2", "versions-1-name": "2", "versions-1-order": 0}
    assert signed.post(f"/admin/jobs/software/{program.pk}/change/", {**form, **rows}).status_code == 302
    assert list(Software.objects.get().versions.values_list("code", "name")) == [("2", "2"), ("1", "1.1")]
    assert AuditEntry.objects.get().detail["values"]["grace"] == ["60", "90"]
    assert "software version" in str(AuditEntry.objects.get().detail["message"])


def test_a_kind_of_workstation_with_its_rules(signed):
    form = {"name": "Mesh desk", "code": "mesh", "description": "", "active": "on", "order": 1, "session": "desktop", "software": "Gmsh", "start": "",
            "save_command": "", "grace": 15, "home_limit": 1 << 30, "copy_every": 600, "idle_after": 3600, "idle_warnings": "[600, 60]",
            "keep_limit": 7200, "suspended_days": 0, "suspended_warnings": "[7, 1]", "max_life": 0}
    assert signed.post("/admin/jobs/workstationkind/add/", form).status_code == 302
    kind = WorkstationKind.objects.get(code="mesh")
    assert (kind.idle_warnings, kind.suspended_rule) == ([600, 60], None)
    address = f"/admin/jobs/workstationkind/{kind.pk}/change/"
    assert signed.post(address, {**form, "suspended_days": 30}).status_code == 302
    assert WorkstationKind.objects.get(code="mesh").suspended_rule is not None
    for wrong in ({"idle_warnings": "[-1]"}, {"idle_warnings": '"soon"'}, {"idle_after": 5}, {"session": "nothing"}, {"copy_every": 1}):
        assert signed.post(address, {**form, **wrong}).status_code == 200


# --- strays -----------------------------------------------------------------------------------------------------------
def test_a_stray_is_decided_about_and_nothing_else_of_it_changes(signed):
    now = timezone.now()
    stray = Stray.objects.create(backend="fake", token="hr1-job-x-1", first_seen=now, last_seen=now)
    signed.post(f"/admin/jobs/stray/{stray.pk}/change/", {"decision": "keep", "token": "other"})
    stray.refresh_from_db()
    assert (stray.decision, stray.token) == ("keep", "hr1-job-x-1")
    assert AuditEntry.objects.get().detail["values"] == {"decision": ["", "keep"]}


def test_history_is_in_the_audit_log_only_when_it_happened(signed, money):
    signed.post(f"/admin/jobs/budget/{money.pk}/change/", budget_form(money))
    assert not AuditEntry.objects.exists()
    assert Event.objects.count() == 0


def test_every_page_of_the_administration_is_in_its_navigation(signed):
    from portal import theme

    listed = {model for rows in theme.GROUPS.values() for _, model, _ in rows}
    assert listed == {f"{model._meta.app_label}_{model._meta.model_name}" for model in administration.site._registry}
    assert "Unknown machines" in signed.get("/admin/").content.decode()
