"""What the history says of a start: an empty home the first time, and later the one that came back."""

import desks
import factories


def said_of_starts(work):
    return [event.detail for event in work.events.order_by("pk") if (event.before, event.after) == ("starting", "active")]


def test_a_start_says_what_home_is_there(owner, wing, cloud, clock):
    station = factories.workstation(owner, project=wing, coretype=factories.coretype())
    desk = desks.start(station, clock)
    desk.files = {"a": b"1", "b": b"2"}
    desks.suspend(station, desk, clock)
    assert station.resume(owner, clock()) == ""
    desks.start(station, clock)
    assert said_of_starts(station.workload) == ["1 of 1 node up, an empty home", "1 of 1 node up, its home with 2 files is back"]
