"""Verbs of a workstation from its page: what they do, that they are written down, and the reason where they make no sense."""

from datetime import timedelta

import pytest
import stations as scene
from django.contrib.messages import get_messages
from django.utils import timezone

from jobs import lifecycle
from jobs.lifecycle import Wish
from jobs.models import AuditEntry, Event, Membership, Workload

pytestmark = pytest.mark.django_db


@pytest.fixture
def active(owner, wing, money):
    return scene.desk(owner, lifecycle.ACTIVE, project=wing)


@pytest.fixture
def suspended(owner, wing, money):
    work = scene.desk(owner, lifecycle.SUSPENDED, last=lifecycle.ACTIVE, reason="wish", project=wing)
    Workload.objects.filter(pk=work.pk).update(wish=Wish.SUSPEND)
    scene.copy(work)
    return work


def post(client, work, verb, **data):
    return client.post(f"/workstations/{work.public_id}/{verb}/", data)


def said(answer):
    return " ".join(str(message) for message in get_messages(answer.wsgi_request))


def test_suspend_asks_first_and_says_what_ends(signed, active):
    page = signed.get(f"/workstations/{active.public_id}/suspend/").content.decode()
    for words in ("Programs that are open will end", "Its home is saved", "Open programs and windows"):
        assert words in page
    active.refresh_from_db()
    assert active.wish == Wish.RUN


def test_suspend_names_what_the_last_copy_left_out(signed, active):
    deep, why = "d/" * 512 + "d", "more than 512 folders deep"
    scene.copy(active, skipped=[["a.sock", "a socket"], [deep, why], *([f"f{number}", "Permission denied"] for number in range(4))])
    page = signed.get(f"/workstations/{active.public_id}/suspend/").content.decode()
    assert page.count("Not in its last copy") == 4
    for words in (f"\N{HORIZONTAL ELLIPSIS}{deep[-60:]} ({why})", "f1 (Permission denied)", "2 more, named in its Files tab"):
        assert words in page
    assert "a.sock" not in page
    assert deep not in page


def test_suspend_is_wished_and_written_down(signed, active, owner):
    assert post(signed, active, "suspend").url == f"/workstations/{active.public_id}/"
    active.refresh_from_db()
    assert (active.wish, active.wished_by) == (Wish.SUSPEND, owner)
    assert AuditEntry.objects.get().action == "suspend"


def test_a_second_suspend_says_that_it_is_under_way(signed, active):
    post(signed, active, "suspend")
    assert "being suspended already" in said(post(signed, active, "suspend"))
    assert AuditEntry.objects.count() == 1


def test_resume_goes_back_into_the_queue_as_a_new_attempt(signed, suspended):
    post(signed, suspended, "resume")
    suspended.refresh_from_db()
    assert (suspended.status, suspended.attempt, suspended.wish) == (lifecycle.QUEUED, 2, Wish.RUN)
    assert AuditEntry.objects.get().action == "resume"


def test_an_active_one_cannot_be_resumed_and_the_reason_is_told(signed, active):
    assert "It is active" in said(post(signed, active, "resume"))
    active.refresh_from_db()
    assert active.status == lifecycle.ACTIVE


def test_without_a_copy_the_resume_is_greyed_with_its_reason(signed, owner, wing):
    work = scene.desk(owner, lifecycle.SUSPENDED, last=lifecycle.ACTIVE, reason="wish", project=wing)
    page = signed.get(f"/workstations/{work.public_id}/").content.decode()
    assert "There is no copy of its home." in page
    assert "disabled" in page.split(f"workstation-{work.public_id}-resume")[1][:60]


def test_a_suspended_one_ends_without_being_started(signed, suspended):
    assert "without being started again" in signed.get(f"/workstations/{suspended.public_id}/stop/").content.decode()
    post(signed, suspended, "stop")
    suspended.refresh_from_db()
    assert suspended.wish == Wish.STOP


def test_a_force_stop_says_since_when_everything_is_lost(signed, active):
    scene.copy(active, ago=12)
    page = signed.get(f"/workstations/{active.public_id}/stop/?force=1").content.decode()
    assert "since the copy 12 min ago" in page
    post(signed, active, "stop", force="1")
    active.refresh_from_db()
    assert active.wish == Wish.FORCE_STOP


def test_keep_and_take_it_back(signed, active):
    post(signed, active, "keep", hours="4")
    until = type(active.workstation).objects.get().keep_until
    assert abs(until - timezone.now() - timedelta(hours=4)) < timedelta(minutes=1)
    assert "Kept on until" in signed.get(f"/workstations/{active.public_id}/timeline/").content.decode()
    post(signed, active, "keep", hours="0")
    assert type(active.workstation).objects.get().keep_until is None


def test_longer_than_its_kind_allows_is_refused_in_words(signed, active):
    assert "At most 24 hours" in said(post(signed, active, "keep", hours="72"))


@pytest.mark.parametrize("hours", ["-4", "x", "9" * 30, ""])
def test_odd_hours_keep_nothing(signed, active, hours):
    assert post(signed, active, "keep", hours=hours).status_code == 302
    assert type(active.workstation).objects.get().keep_until is None


def test_i_am_here_begins_the_time_anew(signed, active):
    scene.beats(active, 1080)
    scene.kind().__class__.objects.update(idle_after=1800)
    page = f"/workstations/{active.public_id}/"
    assert "It will be suspended at" in signed.get(page).content.decode()
    post(signed, active, "stay")
    assert "It will be suspended at" not in signed.get(page).content.decode()
    assert Event.objects.filter(reason="stay").exists()


def test_a_draft_is_started_and_deleted(signed, owner):
    work = scene.desk(owner, lifecycle.DRAFT)
    post(signed, work, "submit")
    work.refresh_from_db()
    assert work.status == lifecycle.QUEUED
    other = scene.desk(owner, lifecycle.DRAFT)
    assert post(signed, other, "delete").url == "/workstations/"
    assert not Workload.objects.filter(pk=other.pk).exists()


def test_deleting_names_the_copies_and_takes_them_along(signed, owner, folders):
    work = scene.desk(owner, lifecycle.STOPPED, last=lifecycle.ACTIVE, reason="stopped")
    copy = scene.copy(work)
    assert "A copy of its home" in signed.get(f"/workstations/{work.public_id}/delete/").content.decode()
    assert (folders / "files" / copy.key).exists()
    post(signed, work, "delete")
    assert not (folders / "files" / copy.key).exists()


def test_one_that_lives_is_not_deleted(signed, active):
    assert "end it first" in said(post(signed, active, "delete"))
    assert Workload.objects.filter(pk=active.pk).exists()


def test_another_like_it_is_a_draft_with_a_home_of_its_own(signed, owner):
    work = scene.desk(owner, lifecycle.STOPPED, last=lifecycle.ACTIVE, reason="stopped")
    scene.copy(work)
    draft = Workload.objects.get(public_id=post(signed, work, "clone").url.split("/")[2])
    assert (draft.status, draft.workstation.kind, draft.workstation.home) == (lifecycle.DRAFT, work.workstation.kind, None)


def test_a_lead_suspends_and_an_outsider_of_the_project_does_not(as_user, active, member, stranger, wing):
    assert post(as_user(stranger), active, "suspend").status_code == 404
    assert post(as_user(member), active, "suspend").status_code == 403
    Membership.objects.filter(project=wing, user=member).update(role="lead")
    assert post(as_user(member), active, "suspend").status_code == 302


def test_from_the_list_it_goes_back_to_the_list(signed, suspended):
    assert post(signed, suspended, "resume", back="list").url == "/workstations/"
