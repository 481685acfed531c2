"""What the history says of a start: an empty home the first time, and later the one that came back."""

import desks
import factories

from jobs import gateway


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


def test_a_session_that_its_agent_lost_is_kept_if_its_home_is_saved_after(owner, wing, cloud, clock):
    """There was no copy before: whoever ends it at once ends it for good, with its home saved a moment later."""
    station = factories.workstation(owner, project=wing, coretype=factories.coretype())
    desk = desks.start(station, clock)
    desk.files = {"a": b"1"}
    gateway.exited(desk.agent, {"code": None, "signal": 9, "clock": clock().timestamp(), "why": "lost"}, clock())
    desks.turn(clock)
    station.workload.refresh_from_db()
    assert station.workload.status == "suspending"
    assert desk.copy("suspend") == ""
    gateway.done(desk.agent, {"files": 1, "bytes": 1}, clock())
    desks.turn(clock)
    station.workload.refresh_from_db()
    assert (station.workload.status, station.workload.reason) == ("suspended", "node-lost")
    assert station.can_resume == ""
