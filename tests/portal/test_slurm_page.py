"""A Slurm cluster in the hands of admins: the page asks, the engine acts, coretypes are made as they were edited."""

from decimal import Decimal

import factories
import pytest
from django.conf import settings as live
from django.utils import timezone

from jobs import proposing
from jobs.models import Account, AuditEntry, Coretype, Request

pytestmark = pytest.mark.django_db
PAGE = "/hardware/slurm/"
KINDS = [
    {"partition": "main", "cores": 64, "memory": 256000 << 20, "nodes": 20, "longest": 86400, "gres": ""},
    {"partition": "gpu", "cores": 1, "memory": 100001 << 20, "nodes": 2, "longest": None, "gres": "gpu:a100:4"},
]
FOUND = {"version": "slurm 22.05.8", "troubles": [], "notes": ["Partition old is not up."], "kinds": KINDS, "accounting": True, "cluster": "wave"}


@pytest.fixture
def slurm(tmp_path, settings):
    options = {"notes": str(tmp_path), "path": str(tmp_path), "folder": str(tmp_path / "jobs")}
    settings.BACKENDS = live.BACKENDS | {"slurm": {"BACKEND": "jobs.backends.slurm.Slurm", "OPTIONS": options}}


@pytest.fixture
def boss(client, admin):
    client.force_login(admin)
    return client


@pytest.fixture
def looked(slurm, admin):
    return Request.objects.create(kind="look", backend="slurm", by=admin, done=timezone.now(), details=FOUND, answer="2 kinds of nodes were found.")


def typed(**changed):
    """The form as the page shows it."""
    rows = [
        {"name": "Main", "code": "main", "cores": "64", "memory": "250.000", "max_nodes": "20", "walltime_max": "1 d", "price": "0.02", "partition": "main", "take": "on"},
        {"name": "Cards", "code": "gpu", "cores": "1", "memory": "97.657", "max_nodes": "2", "walltime_max": "7 d", "price": "1", "partition": "gpu", "gres": "gpu:a100:4"},
    ]  # fmt: skip
    flat = {f"form-{number}-{name}": value for number, row in enumerate(rows) for name, value in row.items()}
    return {"form-TOTAL_FORMS": "2", "form-INITIAL_FORMS": "2", "backend": "slurm", **flat, **changed}


def text(answer):
    return " ".join(answer.content.decode().split())


def test_without_a_cluster_in_the_settings_the_page_says_what_to_set(boss):
    assert "export SLURM=1" in text(boss.get(PAGE))
    assert boss.post(PAGE + "look/").status_code == 404


def test_a_look_is_a_request_and_is_noted(boss, slurm):
    assert "Nobody looked yet" in text(boss.get(PAGE))
    for _ in range(2):
        assert boss.post(PAGE + "look/", {"backend": "slurm"}).status_code == 302
    asked = Request.objects.get()
    assert (asked.kind, asked.backend, asked.done, asked.by.username) == ("look", "slurm", None, "boss")
    assert AuditEntry.objects.filter(action="look at cluster").exists()
    assert "Slurm is being asked" in text(boss.get(PAGE))


def test_what_was_found_is_shown_and_proposed(boss, looked):
    page = text(boss.get(PAGE))
    assert "22.05.8" in page and "22 nodes, 1,282 cores in 2 partitions" in page and "Partition old is not up." in page
    assert 'value="main-64c-250g"' in page and 'value="main, 64 cores"' in page and 'value="gpu, 1 core, 4 x a100"' in page
    assert 'value="97.657"' in page  # never more than a node has
    looked.details = {**FOUND, "troubles": ["munge does not answer on this machine."], "kinds": []}
    looked.save()
    page = text(boss.get(PAGE))
    assert "Jobs would not run." in page and "munge does not answer on this machine." in page and "Nothing to offer yet" in page


def test_the_chosen_kinds_become_coretypes_as_they_were_edited(boss, looked):
    assert boss.post(PAGE, typed()).status_code == 302
    kind = Coretype.objects.get()
    assert (kind.code, kind.name, kind.backend, kind.cores, kind.max_nodes, kind.price) == ("main", "Main", "slurm", 64, 20, Decimal("0.02"))
    assert (kind.memory, kind.walltime_max, kind.options) == (250 << 30, 86400, {"partition": "main"})
    assert AuditEntry.objects.get(action="add coretype").target == "Main"
    assert kind.prices.get().by.username == "boss"
    assert boss.post(PAGE, typed(**{"form-0-take": "", "form-1-take": "on"})).status_code == 302
    cards = Coretype.objects.get(code="gpu")
    assert (cards.gpu, cards.options) == ("4 x a100", {"partition": "gpu", "gres": "gpu:a100:4"})


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"form-0-take": ""}, "Choose at least one kind of nodes."),
        ({"form-0-price": "cheap"}, "Enter a number."),
        ({"form-0-partition": "x; rm -rf /"}, "option partition cannot be"),
        ({"form-0-walltime_max": "soon"}, "no length of time"),
        ({"form-0-code": "a b"}, "valid"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_made(boss, looked, changed, words):
    answer = boss.post(PAGE, typed(**changed))
    assert answer.status_code == 422
    assert words in text(answer)
    assert not Coretype.objects.exists()


def test_a_code_that_is_taken_is_said_and_the_coretype_stays_as_it_is(boss, looked):
    boss.post(PAGE, typed())
    answer = boss.post(PAGE, typed(**{"form-0-name": "Other"}))
    assert answer.status_code == 422 and "There is a coretype of this code already." in text(answer)
    assert Coretype.objects.get().name == "Main"
    assert 'name="form-0-take" class="form-check-input" id="id_form-0-take" checked' not in text(boss.get(PAGE))


def test_a_job_is_tried_with_what_is_typed_and_what_was_typed_stays(boss, looked):
    answer = boss.post(PAGE, typed(trial="0", **{"form-0-memory": "3", "form-0-price": "0.7"}))
    assert answer.status_code == 200
    trial = Request.objects.get(kind="trial")
    assert (trial.details["cores"], trial.details["memory"], trial.details["options"]) == (64, 3 << 30, {"partition": "main"})
    assert "A job tried on Main" in text(answer) and 'value="0.7"' in text(answer)
    boss.post(PAGE, typed(trial="1"))
    assert Request.objects.filter(kind="trial").count() == 1  # one at a time
    for number in ("9", "-1", "x"):
        assert boss.post(PAGE, typed(trial=number)).status_code == 422


def test_a_trial_shows_its_stages_and_can_be_given_up(boss, looked, admin):
    boss.post(PAGE, typed(trial="0"))
    trial = Request.objects.get(kind="trial")
    trial.details |= {"stage": "waits", "why": "Waits for a node in partition main: not enough nodes are free.", "since": {"waits": timezone.now().timestamp()}}
    trial.save()
    page = text(boss.get(PAGE))
    assert "not enough nodes are free" in page and 'aria-current="step"' in page
    assert boss.post(f"{PAGE}trials/{trial.pk}/give-up/").status_code == 302
    trial.refresh_from_db()
    assert trial.until <= timezone.now() and trial.done is None
    trial.details |= {"stage": "over", "ended_in": "runs", "good": False, "why": "The node can't reach the portal"}
    trial.done = timezone.now()
    trial.save()
    page = text(boss.get(PAGE))
    assert page.count("is-failed") == 1 and "reach the portal" in page and "Give up" not in page


def test_accounts_are_mapped_by_admins_alone_and_noted(boss, client, owner, stranger, slurm):
    assert boss.post("/hardware/accounts/", {"user": owner.pk, "name": "anna"}).status_code == 302
    assert boss.post("/hardware/accounts/", {"user": owner.pk, "name": "otto"}).status_code == 302
    assert Account.of(owner.pk) == "otto"
    assert AuditEntry.objects.filter(action="map account").first().detail["values"] == {"account": ["anna", "otto"]}
    client.force_login(owner)
    for user in (owner, stranger):
        assert client.post("/hardware/accounts/", {"user": user.pk, "name": "boss"}).status_code == 403
        assert client.post(f"/hardware/accounts/{Account.objects.get().pk}/remove/").status_code == 403
    assert list(Account.objects.values_list("user__username", "name")) == [("owner", "otto")]


@pytest.mark.parametrize("name", ["root", "a b", "-u", "anna;id", "Anna", "", "a" * 33, "anna\n", "ünal", "../x", "1anna"])
def test_what_is_no_account_is_refused(boss, owner, slurm, name):
    answer = boss.post("/hardware/accounts/", {"user": owner.pk, "name": name})
    if name.strip() == "anna":
        assert Account.of(owner.pk) == "anna"  # a form drops what surrounds a word
    else:
        assert answer.status_code == 422 and not Account.objects.exists()


def test_an_account_is_taken_away(boss, owner, slurm):
    account = Account.objects.create(user=owner, name="anna")
    assert "runs as" in text(boss.get("/hardware/accounts/"))
    boss.post(f"/hardware/accounts/{account.pk}/remove/")
    assert Account.of(owner.pk) == "" and AuditEntry.objects.filter(action="unmap account").exists()


def test_graphics_are_told_in_words():
    assert [proposing.gpu_of(gres) for gres in ("gpu:a100:4", "gpu:2", "tmpdisk:100", "")] == ["4 x a100", "2 x GPU", "", ""]


def test_where_only_accounts_count_nothing_is_offered_without_one(settings, owner, admin, slurm):
    settings.BACKENDS = settings.BACKENDS | {"slurm": settings.BACKENDS["slurm"] | {"OPTIONS": {"accounts": "only"}}}
    kind, shell = factories.coretype(backend="slurm", name="Main"), factories.software().software
    for user in (owner, admin):
        assert kind not in Coretype.objects.offered_to(user)
        assert "ask an admin to map it" in kind.refuses(user, shell)
        Account.objects.create(user=user, name="anna")
        assert kind in Coretype.objects.offered_to(user) and kind.refuses(user, shell) == ""
