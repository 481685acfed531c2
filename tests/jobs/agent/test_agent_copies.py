"""Copies of a home on their way to the portal: room for them, breaks, deaths, a full storage; and when one is made."""

import pytest

from tests.jobs.agent.spoken_workstation import Workstations, enter, files


@pytest.fixture
def spoken():
    return Workstations()


def test_force_stop_ends_a_copy_under_way(terminal, agent, portal, until):
    terminal()
    portal.refuse["home/part"] = (503, {})
    portal.order(wish="suspend")
    until(lambda: portal.last("exit") and portal.last("home/room"))
    portal.order(wish="force stop")
    agent.finished()
    assert portal.wholes == []


def test_a_copy_that_arrived_wrong_is_sent_again(terminal, agent, portal, until):
    terminal()
    portal.refuse["home/whole"] = (409, {"size": 0})
    portal.order(wish="suspend")
    until(lambda: portal.last("exit") and len(portal.rooms) >= 2)
    del portal.refuse["home/whole"]
    agent.finished()
    assert len(portal.wholes) == 1


def test_room_is_kept_from_before_the_end_until_the_copy_is_there(terminal, agent, portal):
    terminal()
    portal.order(wish="suspend")
    agent.finished()
    assert [body["copy"] for body in portal.rooms] == [portal.wholes[-1]["copy"]]


def test_a_home_that_grew_while_its_programs_ended_asks_for_more_room(terminal, agent, portal):
    portal.spec["stop_command"] = "head -c 100000 /dev/urandom > late"
    terminal()
    portal.order(wish="suspend")
    agent.finished()
    small, large = portal.rooms
    assert small["copy"] == large["copy"] == portal.wholes[-1]["copy"]
    assert small["size"] < 100_000 < large["size"]
    assert files(portal.home())["late"] == (agent.work / "late").read_bytes()


def test_a_copy_that_the_portal_gave_up_is_made_again(terminal, agent, portal, until):
    stream = terminal()
    enter(stream, "head -c 30000000 /dev/urandom > big; echo done-$((1+1))")
    stream.until(b"done-2")
    portal.order(wish="suspend")
    until(lambda: portal.last("home/part"))
    with portal.lock:
        portal.parts.pop(portal.rooms[-1]["copy"], None)
    agent.finished(60)
    assert len({body["copy"] for body in portal.rooms}) >= 2
    assert files(portal.home())["big"] == (agent.work / "big").read_bytes()


def test_broken_answers_lose_and_double_nothing(terminal, agent, portal, until):
    stream = terminal()
    enter(stream, "head -c 40000000 /dev/urandom > big; echo done-$((1+1))")
    stream.until(b"done-2")
    data = (agent.work / "big").read_bytes()
    portal.cut = 40  # every other answer of so many
    portal.order(wish="suspend")
    agent.finished(60)
    assert files(portal.home())["big"] == data


def test_storage_that_is_full_in_the_end_is_waited_for(terminal, agent, portal, until):
    stream = terminal()
    enter(stream, "echo x > kept; echo done-$((1+1))")
    stream.until(b"done-2")
    portal.refuse["home/part"] = (507, {"message": "storage is full"})
    portal.order(wish="suspend")
    until(lambda: portal.last("exit"))
    portal.refuse.clear()
    agent.finished(60)
    assert files(portal.home())["kept"] == b"x\n"


def test_a_reporter_that_dies_while_it_copies_is_followed_by_one_that_copies(terminal, agent, portal, until):
    stream = terminal()
    enter(stream, "head -c 30000000 /dev/urandom > big; echo done-$((1+1))")
    stream.until(b"done-2")
    data = (agent.work / "big").read_bytes()
    portal.refuse["home/whole"] = (503, {})
    portal.order(wish="suspend")
    for _ in range(3):
        parts = len(portal.bodies("home/part"))
        until(lambda parts=parts: len(portal.bodies("home/part")) > parts)
        agent.kill("reporter")
    portal.refuse.clear()
    agent.finished(60)
    assert files(portal.home())["big"] == data
    assert len({body["pid"] for body in portal.bodies("started")}) == 1


def test_copies_are_made_from_time_to_time_if_anything_changed(terminal, agent, portal, until):
    portal.session(every=0.3)
    stream = terminal()
    enter(stream, "echo one > kept; echo done-$((1+1))")
    stream.until(b"done-2")
    until(lambda: portal.wholes and files(portal.home()).get("kept") == b"one\n")
    assert portal.wholes[-1]["why"] == "periodic"
    count = len(portal.wholes)
    enter(stream, "echo two > kept; echo done-$((2+2))")
    stream.until(b"done-4")
    until(lambda: len(portal.wholes) > count)
    until(lambda: files(portal.home())["kept"] == b"two\n")
    copies = len(portal.wholes)
    agent.kill("reporter")
    until(lambda: len(portal.bodies("hello")) == 2 and portal.relay)
    portal.order(wish="stop")
    agent.finished()
    assert len(portal.wholes) == copies + 1


def test_a_periodic_copy_gives_way_to_the_last_one(terminal, agent, portal, until):
    portal.session(every=0.2)
    portal.refuse["home/part"] = (503, {})
    terminal()
    until(lambda: portal.rooms)
    assert portal.rooms[-1]["why"] == "periodic"
    portal.order(wish="suspend")
    until(lambda: portal.last("exit"))
    portal.refuse.clear()
    agent.finished()
    assert [whole["why"] for whole in portal.wholes] == ["suspend"]
