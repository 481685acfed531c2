"""Limits in the hands of admins: made, changed, deleted, noted; what people see of them; what the queue then does."""

import factories
import playing
import pytest

from jobs.models import AuditEntry, Limit

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("cloud")]


@pytest.fixture
def boss(client, admin):
    client.force_login(admin)
    return client


def test_an_admin_makes_changes_and_deletes_one_and_each_is_noted(boss, owner):
    kind = factories.coretype()
    answer = boss.post("/hardware/limits/new/", {"per": "member", "member": "owner", "coretype": kind.pk, "most_jobs": "4", "version": "1"}, follow=True)
    assert "member owner: at most 4 jobs at once on Granite. What runs goes on." in answer.content.decode()
    one = Limit.objects.get()
    assert (one.member, one.coretype, one.most_jobs, one.most_cores) == (owner, kind, 4, None)
    boss.post(f"/hardware/limits/{one.pk}/", {"most_jobs": "", "most_cores": "32", "version": "1"})
    one.refresh_from_db()
    assert (one.member, one.most_jobs, one.most_cores) == (owner, None, 32)
    boss.post(f"/hardware/limits/{one.pk}/delete/")
    assert not Limit.objects.exists()
    noted = list(AuditEntry.objects.order_by("pk").values_list("action", "detail"))
    assert [action for action, _ in noted] == ["add limit", "change limit", "delete limit"]
    assert noted[1][1]["values"] == {"most_jobs": ["4", ""], "most_cores": ["", "32"]}


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ({}, "Say how many jobs, or how many cores."),
        ({"most_jobs": "0"}, "greater than or equal to 1"),
        ({"most_jobs": "-3"}, "greater than or equal to 1"),
        ({"most_cores": "1e30"}, "Enter a whole number"),
        ({"most_cores": "NaN"}, "Enter a whole number"),
        ({"most_cores": "9" * 40}, "less than or equal to"),
        ({"most_jobs": "1", "member": "nobody"}, "Nobody signs in here as nobody."),
        ({"most_jobs": "1", "member": "a\0"}, "Null characters are not allowed"),
        ({"most_jobs": "1", "per": "project", "member": "owner"}, "can&#x27;t name a member"),
    ],
)
def test_what_cannot_be_is_said_and_nothing_is_kept(boss, owner, typed, words):
    answer = boss.post("/hardware/limits/new/", {"per": "member", "version": "1", **typed})
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not Limit.objects.exists()


def test_a_second_one_for_the_same_is_refused(boss):
    Limit.objects.create(most_jobs=2)
    answer = boss.post("/hardware/limits/new/", {"per": "member", "most_jobs": "3", "version": "1"})
    assert "There is a limit for this already; change that one." in answer.content.decode()


def test_of_two_admins_at_once_the_first_is_saved_and_the_second_keeps_what_was_typed(boss):
    one = Limit.objects.create(most_jobs=2)
    address = f"/hardware/limits/{one.pk}/"
    assert '<input type="hidden" name="version" value="1"' in boss.get(address).content.decode()
    boss.post(address, {"most_jobs": "5", "version": "1"})
    answer = boss.post(address, {"most_jobs": "7", "version": "1"})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "Somebody else changed it while you did." in page
    assert 'value="7"' in page
    one.refresh_from_db()
    assert (one.most_jobs, one.version, AuditEntry.objects.filter(action="change limit").count()) == (5, 2, 1)


def test_of_two_admins_who_make_the_same_the_second_is_told(boss, monkeypatch):
    monkeypatch.setattr(Limit, "clean", lambda self: Limit.objects.get_or_create(key=self.named(), most_jobs=2))
    answer = boss.post("/hardware/limits/new/", {"per": "member", "most_jobs": "3", "version": "1"})
    assert answer.status_code == 422
    assert "There is a limit for this already; change that one." in answer.content.decode()
    assert (Limit.objects.get().most_jobs, AuditEntry.objects.count()) == (2, 0)


def test_a_lower_limit_ends_nothing_and_a_higher_one_starts_what_waits(boss, clock, owner):
    kind = factories.coretype()
    works = [factories.job(owner, coretype=kind).workload for _ in range(3)]
    one = Limit.objects.create(most_jobs=2)
    for work in works:
        work.submit(owner, clock())
    playing.turn_all(clock, ("queued",))
    boss.post(f"/hardware/limits/{one.pk}/", {"most_jobs": "1", "version": "1"})
    playing.turn_all(clock, ("queued",))
    for work in works:
        work.refresh_from_db()
    assert [work.status for work in works] == ["validating", "validating", "queued"]
    assert works[2].gate_text == "Its owner runs 2 of the 1 job allowed at once"
    boss.post(f"/hardware/limits/{one.pk}/", {"most_jobs": "3", "version": "2"})
    playing.turn_all(clock, ("queued",))
    works[2].refresh_from_db()
    assert works[2].status == "validating"


def test_people_read_what_concerns_them(client, owner, stranger, wing):
    Limit.objects.create(most_jobs=4)
    Limit.objects.create(per="project", project=wing, most_cores=64)
    Limit.objects.create(member=stranger, most_jobs=9)
    client.force_login(owner)
    page = client.get("/hardware/").content.decode()
    assert "at most 4 jobs at once" in page
    assert "at most 64 cores at once" in page
    assert "at most 9 jobs" not in page
    assert "/hardware/limits/" not in page


def test_a_waiting_job_says_so_on_its_page(client, clock, owner):
    Limit.objects.create(most_jobs=1)
    kind = factories.coretype()
    works = [factories.job(owner, coretype=kind).workload for _ in range(2)]
    for work in works:
        work.submit(owner, clock())
    playing.turn_all(clock, ("queued",))
    client.force_login(owner)
    page = client.get(f"/jobs/{works[1].public_id}/").content.decode()
    assert "Its owner runs 1 of the 1 job allowed at once" in page
    assert "Waiting: at a limit" in page


def test_no_limit_has_the_number_nought(boss):
    assert boss.get("/hardware/limits/0/").status_code == 404
