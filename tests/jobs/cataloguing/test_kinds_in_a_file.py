"""Kinds of workstations in a catalogue file: out and in again, each fault with its place, all or nothing."""

import json

import factories
import pytest

from jobs import cataloguing
from jobs.models import Coretype, WorkstationKind
from portal.launch import seeds

pytestmark = pytest.mark.django_db
MESH = {"code": "mesh", "name": "Mesh desk", "session": "desktop", "software": "Gmsh", "idle_after": 1800, "idle_warnings": [600, 60]}


def read(*entries):
    return cataloguing.read(json.dumps({"workstations": list(entries)}), None)  # YAML too, without aliases of what is in it twice


def test_out_and_in_again(db):
    hardware = factories.coretype(code="granite")
    assert read({**MESH, "coretypes": ["granite"]}) == {"added": ["mesh"], "changed": []}
    text = cataloguing.written()
    WorkstationKind.objects.all().delete()
    assert cataloguing.read(text, None)["added"] == ["mesh"]
    kind = WorkstationKind.objects.get()
    assert (kind.idle_after, kind.idle_warnings, list(kind.coretypes.all())) == (1800, [600, 60], [hardware])
    assert read({"code": "mesh", "suspended_days": 30})["changed"] == ["mesh"]
    kind.refresh_from_db()
    assert (kind.suspended_rule is not None, kind.name, kind.coretypes.count()) == (True, "Mesh desk", 1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"idle_after": "soon"}, "idle_after can't be 'soon'"),
        ({"idle_after": -1}, "idle_after can't be -1"),
        ({"idle_warnings": [0]}, "above 0"),
        ({"session": "party"}, "session"),
        ({"colour": "red"}, "not known: colour"),
        ({"coretypes": ["basalt"]}, "no coretype basalt"),
        ({"active": 1}, "active can't be 1"),
        ({"home_limit": 0}, "home_limit"),
    ],
)
def test_a_fault_has_its_place(change, words):
    with pytest.raises(cataloguing.Faults) as refusal:
        read(MESH, {**MESH, "code": "other", **change})
    assert words in refusal.value.all[0]
    assert refusal.value.all[0].startswith("workstation 2 (other)")
    assert not WorkstationKind.objects.exists()


def test_a_new_portal_offers_three_kinds_and_keeps_an_admins_edits():
    seeds.sow()
    assert set(WorkstationKind.objects.values_list("code", "session")) == {
        ("desktop", "desktop"),
        ("jupyter", "jupyter"),
        ("terminal", "terminal"),
    }
    WorkstationKind.objects.filter(code="desktop").update(name="Ours")
    seeds.sow()
    assert WorkstationKind.objects.get(code="desktop").name == "Ours"
    assert Coretype.objects.exists()
    for kind in WorkstationKind.objects.all():
        kind.full_clean()
