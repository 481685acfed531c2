"""Files sent into a home: what waits, what an agent is told and tells, and what that means for the files."""

import desks
import factories
import pytest

from jobs import gateway, sending, stored
from jobs.models import Sent, StoredFile, Workload

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("cloud")]


@pytest.fixture
def desk(owner, wing, clock):
    factories.budget(wing, 1000)
    return desks.start(factories.workstation(owner, project=wing), clock)


@pytest.fixture
def station(desk):
    return desk.work.workstation


def deck(owner, name="deck.inp"):
    return StoredFile.objects.create(owner=owner, name=name, size=6, sha256="a" * 64, key=f"inputs/{name}", mode=0o640)


def bring(desk, clock):
    return gateway.orders(desk.agent, clock())["bring"]


def test_an_agent_is_told_and_what_it_says_counts_once(desk, station, owner, clock):
    before = gateway.orders(desk.agent, clock())
    (row,) = sending.send(station, [deck(owner)], owner, clock())
    told = gateway.orders(desk.agent, clock())
    assert before["bring"] == []
    assert told["bring"] == [{"id": row.pk, "name": "deck.inp", "size": 6, "sha256": "a" * 64, "mode": 0o640}]
    assert told["version"] > before["version"]
    gateway.brought(desk.agent, {"id": row.pk, "name": "deck (2).inp"}, clock())
    first = Sent.objects.get()
    gateway.brought(desk.agent, {"id": row.pk, "name": "other"}, clock.forward(5))
    gateway.brought(desk.agent, {"id": row.pk, "error": "late"}, clock.forward(5))
    gateway.brought(desk.agent, {"id": row.pk + 1, "name": "nobody's"}, clock())
    row = Sent.objects.get()
    assert (row.name, row.arrived, row.trouble) == ("deck (2).inp", first.arrived, "")
    assert bring(desk, clock) == []


def test_what_waits_is_not_sent_twice_and_trouble_is_tried_again(desk, station, owner, clock):
    file = deck(owner)
    (row,) = sending.send(station, [file, file], owner, clock())
    assert sending.send(station, [file], owner, clock()) == [row]
    gateway.brought(desk.agent, {"id": row.pk, "error": "the disk is full\0"}, clock())
    gateway.brought(desk.agent, {"id": row.pk, "error": "again"}, clock())
    row.refresh_from_db()
    assert (row.trouble, row.waits, bring(desk, clock)) == ("the disk is full\N{SYMBOL FOR NULL}", False, [])
    (again,) = sending.send(station, [file], owner, clock())
    assert [one["id"] for one in bring(desk, clock)] == [again.pk]
    assert Sent.objects.count() == 1


def test_an_agent_speaks_for_its_own_workstation_only(desk, owner, clock):
    other = factories.workstation(owner)
    (row,) = sending.send(other, [deck(owner)], owner, clock())
    gateway.brought(desk.agent, {"id": row.pk, "name": "deck.inp"}, clock())
    row.refresh_from_db()
    assert row.waits
    assert bring(desk, clock) == []
    assert sending.file_for(desk.work.pk, row.pk) is None
    assert sending.file_for(other.pk, row.pk) == row.file


def test_it_waits_over_a_suspend_for_the_next_cluster(desk, station, owner, clock):
    desks.suspend(station, desk, clock)
    (row,) = sending.send(station, [deck(owner)], owner, clock())
    assert row.waits
    assert station.resume(owner, clock()) == ""
    desks.turn(clock)
    desk.work.refresh_from_db()
    again = desks.Desk(desk.work, clock).boot()
    assert [one["id"] for one in bring(again, clock)] == [row.pk]


def test_only_the_owner_and_only_their_files_and_only_while_it_is_not_over(station, owner, member, clock):
    file = deck(owner)
    with pytest.raises(sending.Refused, match="owner"):
        sending.send(station, [file], member, clock())
    with pytest.raises(sending.Refused, match="own files"):
        sending.send(station, [deck(member, "theirs")], owner, clock())
    StoredFile.objects.filter(pk=file.pk).update(deleted=clock())
    with pytest.raises(sending.Refused, match="own files"):
        sending.send(station, [file], owner, clock())
    Workload.objects.filter(pk=station.pk).update(status="stopped")
    with pytest.raises(sending.Refused, match="over"):
        sending.send(station, [deck(owner, "b")], owner, clock())
    assert not Sent.objects.exists()


def test_many_are_told_of_in_turn_and_too_many_are_refused(desk, station, owner, clock, monkeypatch):
    monkeypatch.setattr(sending, "AT_ONCE", 2)
    monkeypatch.setattr(sending, "MOST", 3)
    rows = sending.send(station, [deck(owner, name) for name in "abc"], owner, clock())
    assert [one["name"] for one in bring(desk, clock)] == ["a", "b"]
    with pytest.raises(sending.Refused, match="At most 3"):
        sending.send(station, [deck(owner, "d")], owner, clock())
    gateway.brought(desk.agent, {"id": rows[0].pk, "name": "a"}, clock())
    assert [one["name"] for one in bring(desk, clock)] == ["b", "c"]


def test_a_file_that_waits_cannot_be_deleted_one_that_arrived_can(desk, station, owner, clock):
    file = deck(owner)
    (row,) = sending.send(station, [file], owner, clock())
    assert list(stored.needed_by(file)) == [desk.work]
    with pytest.raises(stored.InUse):
        stored.delete(file, clock())
    gateway.brought(desk.agent, {"id": row.pk, "name": "deck.inp"}, clock())
    assert stored.delete(file, clock())
    assert not Sent.objects.exists()


def test_taken_back_it_is_nobodys_and_the_agent_is_told(desk, station, owner, clock):
    (row,) = sending.send(station, [deck(owner)], owner, clock())
    before = gateway.orders(desk.agent, clock())["version"]
    sending.take_back(row, clock())
    after = gateway.orders(desk.agent, clock())
    assert (after["bring"], after["version"] > before) == ([], True)
    gateway.brought(desk.agent, {"id": row.pk, "name": "deck.inp"}, clock())
    assert stored.delete(row.file, clock())
