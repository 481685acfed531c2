"""Inputs that lie in storage no more, or not whole: told in Validating Input, before any hardware is paid for."""

import factories
import playing
import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from jobs.models import Charge, Cluster, JobInput, StoredFile

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("cloud")]


@pytest.fixture
def work(owner, clock):
    """Queued, with the inputs deck0 to deck6."""
    job = factories.job(owner)
    for at in range(7):
        key = default_storage.save(f"inputs/deck{at}", ContentFile(b"solve"))
        file = StoredFile.objects.create(owner=owner, name=f"deck{at}", size=5, sha256="0" * 64, key=key)
        JobInput.objects.create(job=job, file=file, name=file.name, order=at)
    assert job.workload.submit(owner, clock())
    return job.workload


def turned(work, clock):
    playing.turn_all(clock, ("queued", "validating"))
    work.refresh_from_db()
    return work


def test_whole_inputs_go_on(work, clock):
    assert turned(work, clock).status == "starting"
    assert work.events.filter(after="starting").get().detail == "7 files, 0 errors, 0 warnings"


@pytest.mark.parametrize("harm", ["gone", "cut"])
def test_one_that_storage_lost_is_named_and_nothing_is_paid(work, clock, harm):
    key = StoredFile.objects.get(name="deck3").key
    default_storage.delete(key)
    if harm == "cut":
        default_storage.save(key, ContentFile(b"sol"))
    assert turned(work, clock).status == "failed"
    assert (work.reason, work.failed_stage) == ("staging-failed", "validating")
    assert work.detail == "deck3: storage has not all bytes of it any more. Upload again what is missing."
    assert not Cluster.objects.exists() and not Charge.objects.filter(workload=work).exists()
    assert not work.holds.filter(released__isnull=True).exists()


def test_of_many_some_are_named(work, clock):
    for file in StoredFile.objects.all():
        default_storage.delete(file.key)
    assert turned(work, clock).detail.startswith("deck0, deck1, deck2, deck3, deck4 and 2 more: storage has not all bytes of them")


def test_what_was_checked_before_is_looked_at_all_the_same(work, clock, owner):
    """Two jobs with the same bytes share a check; the second one's bytes may have gone since."""
    assert turned(work, clock).status == "starting"
    other = work.clone(owner)
    default_storage.delete(StoredFile.objects.get(name="deck0").key)
    assert other.submit(owner, clock())
    assert turned(other, clock).failed_stage == "validating"
