"""The catalogue in the hands of admins: prices with history, withdrawal, import and export, release, two admins at once."""

from decimal import Decimal

import factories
import playing
import pytest
from django.contrib.auth.models import Group

from jobs import rounds
from jobs.models import AuditEntry, Coretype, Limit, PriceChange, Request, Software, Workload, WorkstationKind

pytestmark = pytest.mark.django_db

GNEISS = "code: gneiss, name: Gneiss, region: here, backend: fake, cores: 1, memory: 1"


@pytest.fixture
def basalt():
    return factories.coretype(code="basalt", name="Basalt")


def fields(kind, **changed):
    known = {
        "name": kind.name, "code": kind.code, "region": kind.region_id, "active": "on", "order": 100, "cores": 8, "memory": "16", "max_nodes": 4,
        "price": "0.1", "disk_price": "0", "walltime_default": "4 h", "walltime_max": "7 d", "backend": "fake", "options": "{}", "version": kind.version,
    }  # fmt: skip
    return {**known, **changed}


def post(client, user, path, data):
    client.force_login(user)
    return client.post(path, data)


def test_a_new_price_has_a_name_and_a_history(client, admin, basalt):
    answer = post(client, admin, "/hardware/coretypes/basalt/edit/", fields(basalt, price="0.25", economy_price="0.05"))
    assert answer.status_code == 302, answer.content.decode()
    assert list(PriceChange.objects.values_list("price", "economy_price", "by__username")) == [
        (Decimal("0.25"), Decimal("0.05"), "boss"), (Decimal("0.1"), None, None),
    ]  # fmt: skip
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.detail["values"]) == ("change coretype", {"price": ["0.1", "0.25"], "economy_price": ["", "0.05"]})
    assert "Prices so far" in client.get("/hardware/coretypes/basalt/edit/").content.decode()


def test_of_two_admins_at_once_the_second_is_told_and_loses_nothing(client, admin, basalt):
    post(client, admin, "/hardware/coretypes/basalt/edit/", fields(basalt, name="First"))
    answer = post(client, admin, "/hardware/coretypes/basalt/edit/", fields(basalt, name="Second"))
    assert answer.status_code == 422
    assert "Somebody else changed it" in answer.content.decode()
    assert 'value="Second"' in answer.content.decode()
    basalt.refresh_from_db()
    assert basalt.name == "First"


@pytest.mark.parametrize(
    ("field", "value"),
    [("price", "-1"), ("price", "NaN"), ("price", "1e30"), ("price", "0.0000001"), ("cores", "0"), ("cores", "-4"), ("memory", "0"), ("memory", "Infinity"),
     ("walltime_default", "soon"), ("walltime_default", "30 d"), ("options", "[1]"), ("options", "{"), ("options", '{"queue": "x"}'), ("backend", "moon"), ("code", "no spaces"), ("max_nodes", "99999999999999"),
     ("order", "9999999999999"), ("groups", "9" * 30), ("software", "9" * 30), ("walltime_max", "30 s")],
)  # fmt: skip
def test_bad_input_is_said_beside_its_field(client, admin, basalt, field, value):
    answer = post(client, admin, "/hardware/coretypes/basalt/edit/", fields(basalt, name="Typed", **{field: value}))
    assert answer.status_code == 422
    assert f'id="id_{field}_error"' in answer.content.decode()
    assert 'value="Typed"' in answer.content.decode()
    basalt.refresh_from_db()
    assert basalt.name == "Basalt"


def test_a_new_coretype_and_region(client, admin, basalt):
    assert post(client, admin, "/hardware/regions/new/", {"name": "North", "code": "north"}).status_code == 302
    answer = post(client, admin, "/hardware/coretypes/new/", fields(basalt, name="Gneiss", code="gneiss", memory="0.5"))
    assert answer.status_code == 302, answer.content.decode()
    assert Coretype.objects.get(code="gneiss").memory == 1 << 29


def test_withdrawing_says_what_becomes_of_queued_work(client, admin, owner, basalt, clock, cloud):
    work = factories.job(owner, coretype=basalt, name="beam-q").workload
    work.submit(owner, clock())
    client.force_login(admin)
    page = client.get("/hardware/coretypes/basalt/offer/").content.decode()
    assert "1 job in line for it can never start" in page
    assert "beam-q" in page
    post(client, admin, "/hardware/coretypes/basalt/offer/", {"active": "0"})
    playing.turn_all(clock, ("queued",))
    work.refresh_from_db()
    assert (work.status, work.reason) == ("failed", "never-starts")
    assert "choose another coretype" in work.detail


def test_a_coretype_with_jobs_is_not_deleted(client, admin, owner, basalt):
    work = factories.job(owner, coretype=basalt).workload
    for status, words in (("running", "1 job running"), ("completed", "1 job of the past")):
        Workload.objects.filter(pk=work.pk).update(status=status)
        post(client, admin, "/hardware/coretypes/basalt/delete/", {})
        page = client.get("/hardware/coretypes/basalt/edit/").content.decode()
        assert words in page
        assert Coretype.objects.filter(pk=basalt.pk).exists()
    work.delete_for_good(owner)
    post(client, admin, "/hardware/coretypes/basalt/delete/", {})
    assert not Coretype.objects.exists()


def test_what_is_exported_can_be_imported(client, admin, basalt):
    client.force_login(admin)
    text = client.get("/hardware/export.yaml").content.decode()
    assert post(client, admin, "/hardware/import/", {"text": text.replace("price: '0.1'", "price: '0.3'", 1).replace("name: Basalt", "name: Lava")}).status_code == 302
    basalt.refresh_from_db()
    assert (basalt.name, basalt.price, basalt.version) == ("Lava", Decimal("0.3"), 2)
    assert AuditEntry.objects.get(action="change coretype").detail["values"] == {"name": ["Basalt", "Lava"], "price": ["0.1", "0.3"]}


def test_what_is_not_in_a_file_stays_as_it_is(client, admin, basalt):
    shell = Software.objects.create(code="sh", name="sh")
    basalt.software.set([shell])
    assert post(client, admin, "/hardware/import/", {"text": "coretypes: [{code: basalt, gpu: , price: 0.25}]"}).status_code == 302
    basalt.refresh_from_db()
    assert (basalt.price, basalt.gpu, list(basalt.software.all()), basalt.region.code) == (Decimal("0.25"), "", [shell], "here")


@pytest.mark.parametrize(
    ("text", "words"),
    [("a: [", "This is no YAML"), ("- 1", "nothing else"), ("coretypes: [{code: x, colour: red}]", "not known: colour"),
     ("coretypes: [{code: x, name: X, region: nowhere, backend: fake, cores: 1, memory: 1}]", "there is no region nowhere"),
     ("regions: [{code: r, name: R}]\ncoretypes: [{code: x, name: X, region: r, backend: fake, cores: many, memory: 1}]", "cores can&#x27;t be"),
     ("regions: [{code: r, name: R}]\ncoretypes: [{code: x, name: X, region: r, backend: fake, cores: 1, memory: 1, price: .nan}]", "price"),
     (f"coretypes: [{{{GNEISS}, price: 0.0000001}}]", "at most six decimals"),
     (f"coretypes: [{{{GNEISS}, price: 5000000000000}}]", "less than 1,000,000"),
     (f"coretypes: [{{{GNEISS}, walltime_default: 0}}]", "at least 60 seconds"),
     (f"coretypes: [{{{GNEISS}, processor: {{a: b}}}}]", "processor can&#x27;t be"),
     ("coretypes: [{code: , name: X, region: here, backend: fake, cores: 1, memory: 1}]", "code: This field cannot be blank"),
     ("", "Choose a file")],
)  # fmt: skip
def test_a_file_is_taken_as_a_whole_or_not_at_all(client, admin, basalt, text, words):
    answer = post(client, admin, "/hardware/import/", {"text": text})
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert list(Coretype.objects.values_list("code", flat=True)) == ["basalt"]
    assert basalt.region.__class__.objects.count() == 1


def test_a_release_is_a_request_that_the_engine_carries_out(client, admin, owner, basalt, clock, cloud):
    work = factories.job(owner, coretype=basalt).workload
    work.submit(owner, clock())
    playing.turn_all(clock, ("queued", "validating", "starting"))
    agents = playing.boot(work := Workload.objects.get(pk=work.pk), clock)
    playing.turn_all(clock, ("starting",))
    assert agents
    cluster = work.cluster
    client.force_login(admin)
    assert "is force stopped" in client.get(f"/hardware/clusters/{cluster.pk}/release/").content.decode()
    for _ in range(2):  # a second click is the same request
        post(client, admin, f"/hardware/clusters/{cluster.pk}/release/", {})
    assert Request.objects.count() == 1
    assert list(cloud.tokens())
    for _ in range(4):
        playing.rounds_again()
        rounds.sweep(clock.forward(3))
        playing.turn_all(clock)
    work.refresh_from_db()
    request = Request.objects.get()
    assert (work.status, work.reason, list(cloud.tokens())) == ("stopped", "force-stopped", [])
    assert (request.done is not None, request.answer) == (True, "Nothing of it is left.")


@pytest.mark.parametrize("path", ["coretypes/new/", "coretypes/basalt/edit/", "coretypes/basalt/offer/", "coretypes/basalt/delete/", "regions/new/", "import/", "export.yaml"])
@pytest.mark.parametrize("who", ["owner", "stranger"])
def test_only_admins_change_the_catalogue(client, request, basalt, who, path):
    client.force_login(request.getfixturevalue(who))
    assert client.get(f"/hardware/{path}").status_code == 403
    if path != "export.yaml":
        assert client.post(f"/hardware/{path}", {}).status_code == 403


def test_hardware_for_a_group_and_a_software_is_refused_to_others(client, owner, admin, basalt):
    group = Group.objects.create(name="crash")
    basalt.groups.add(group)
    shell = factories.software().software
    assert "not offered to you" in basalt.refuses(owner, shell)
    assert basalt.refuses(admin, shell) == ""
    owner.groups.add(group)
    assert basalt.refuses(owner, shell) == ""
    basalt.software.add(factories.software("lammps").software)
    assert "only Lammps" in basalt.refuses(owner, shell)


def test_two_who_make_the_same_at_once_are_told(client, admin, basalt, monkeypatch):
    monkeypatch.setattr("django.forms.ModelForm.validate_unique", lambda form: None)  # each had looked before the other saved
    answer = post(client, admin, "/hardware/coretypes/new/", fields(basalt, name="Twice"))
    assert (answer.status_code, "Somebody else has just made one" in answer.content.decode()) == (422, True)
    answer = post(client, admin, "/hardware/regions/new/", {"name": "Twice", "code": basalt.region.code})
    assert (answer.status_code, "Somebody else has just made one" in answer.content.decode()) == (422, True)
    assert not AuditEntry.objects.exists()


def test_what_two_delete_at_once_is_noted_once(client, admin, basalt, monkeypatch):
    limit = Limit.objects.create(per="member", coretype=basalt, most_jobs=3)
    client.force_login(admin)
    assert str(limit) in client.get("/hardware/coretypes/basalt/delete/").content.decode()
    stale = Coretype.objects.get(pk=basalt.pk)
    monkeypatch.setattr("portal.views.hardware_edit.get_object_or_404", lambda *args, **kwargs: stale)
    for _ in range(2):
        assert post(client, admin, "/hardware/coretypes/basalt/delete/", {}).status_code == 302
    assert AuditEntry.objects.get().detail["limits"] == [str(limit)]


def test_a_form_of_what_was_deleted_meanwhile_keeps_what_was_typed(client, admin, basalt, monkeypatch):
    stale = Coretype.objects.get(pk=basalt.pk)
    monkeypatch.setattr("portal.views.hardware_edit.get_object_or_404", lambda *args, **kwargs: stale)
    answer = post(client, admin, "/hardware/coretypes/basalt/edit/", _without(basalt, name="Typed"))
    assert (answer.status_code, "Somebody else deleted it" in answer.content.decode(), 'value="Typed"' in answer.content.decode()) == (422, True, True)


def _without(kind, **changed):
    data = fields(kind, **changed)
    kind.delete()
    return data


def test_the_only_hardware_of_a_kind_of_workstations_is_kept(client, admin, basalt):
    desktop = WorkstationKind.objects.create(code="desk", name="Desk")
    desktop.coretypes.set([basalt])
    answer = post(client, admin, "/hardware/coretypes/basalt/delete/", {})
    assert "Desk is offered there alone" in client.get(answer.url).content.decode()
    assert Coretype.objects.exists()


def test_withdrawing_tells_who_has_other_hardware_as_well(client, admin, owner, basalt, clock, cloud):
    slate = factories.coretype(code="slate", name="Slate")
    for first, other in ((basalt, slate), (slate, basalt), (basalt, None)):
        work = factories.job(owner, coretype=first, name=f"on {first} and {other}").workload
        if other:
            work.accept([(first, 1, 1), (other, 1, 1)])
        work.submit(owner, clock())
    client.force_login(admin)
    page = client.get("/hardware/coretypes/basalt/offer/").content.decode()
    assert "1 job in line for it can never start" in page
    assert "2 jobs in line may have other hardware as well" in page
    assert ("on Basalt and None" in page, "on Basalt and Slate" in page) == (True, False)


def test_a_backend_that_is_not_set_up_any_more_is_not_exchanged_by_saving(client, admin, basalt):
    Coretype.objects.filter(pk=basalt.pk).update(backend="gone")
    client.force_login(admin)
    assert '<option value="gone" selected>gone (not set up)</option>' in client.get("/hardware/coretypes/basalt/edit/").content.decode()
    answer = post(client, admin, "/hardware/coretypes/basalt/edit/", fields(basalt, backend="gone"))
    assert (answer.status_code, 'id="id_backend_error"' in answer.content.decode()) == (422, True)
