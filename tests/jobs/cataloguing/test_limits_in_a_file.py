"""Limits in a catalogue file: out and in again, for whom and where by name, each fault with its place, all or nothing."""

import factories
import pytest
import yaml

from jobs import cataloguing
from jobs.models import Limit

pytestmark = pytest.mark.django_db


def read(*entries):
    return cataloguing.read(yaml.safe_dump({"limits": list(entries)}), None)


def test_out_and_in_again(owner, wing):
    granite = factories.coretype(code="granite")
    made = [
        Limit.objects.create(most_jobs=4), Limit.objects.create(member=owner, coretype=granite, most_cores=64),
        Limit.objects.create(per="project", project=wing, most_jobs=9, most_cores=128),
    ]  # fmt: skip
    text, before = cataloguing.written(), [str(limit) for limit in made]
    assert yaml.safe_load(text)["limits"][1] == {"per": "member", "member": "owner", "coretype": "granite", "most_jobs": None, "most_cores": 64}
    Limit.objects.all().delete()
    assert set(before) <= set(cataloguing.read(text, None)["added"])
    assert sorted(str(limit) for limit in Limit.objects.all()) == sorted(before)


def test_an_entry_for_one_that_is_there_changes_it_and_counts_as_an_edit(owner):
    one, other = Limit.objects.create(member=owner, most_jobs=4, most_cores=8), Limit.objects.create(most_jobs=1)
    assert read({"member": "owner", "most_jobs": 5}) == {"added": [], "changed": ["member owner: at most 5 jobs and 8 cores at once on all hardware"]}
    one.refresh_from_db()
    other.refresh_from_db()
    assert [(limit.most_jobs, limit.most_cores, limit.version) for limit in (one, other)] == [(5, 8, 2), (1, None, 1)]
    read({"member": "owner", "most_cores": None})
    one.refresh_from_db()
    assert (one.most_jobs, one.most_cores) == (5, None)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({}, "limit 2: Say how many jobs, or how many cores."),
        ({"most_jobs": 0}, "limit 2: most_jobs can't be 0"),
        ({"most_jobs": True}, "most_jobs can't be True"),
        ({"most_jobs": 1 << 31}, "most_jobs can't be 2147483648"),
        ({"most_cores": "many"}, "most_cores can't be 'many'"),
        ({"most_jobs": 1, "member": "nobody"}, "limit 2: there is no member nobody"),
        ({"most_jobs": 1, "member": "a\0"}, "This is no YAML that is taken here"),
        ({"most_jobs": 1, "coretype": ["x"]}, "there is no coretype ['x']"),
        ({"most_jobs": 1, "per": "project", "member": "owner"}, "can't name a member"),
        ({"most_jobs": 1, "per": "planet"}, "limit 2: per: Value 'planet' is not a valid choice."),
        ({"most_jobs": 1, "per": None}, "limit 2: per:"),
        ({"most_jobs": 1, "colour": "red"}, "not known: colour"),
    ],
)
def test_a_fault_has_its_place_and_nothing_is_kept(owner, entry, words):
    with pytest.raises(cataloguing.Faults) as refusal:
        read({"per": "project", "most_jobs": 2}, entry)
    assert words in refusal.value.all[0]
    assert not Limit.objects.exists()
