"""The local backend's look at its own machine: a few shell lines that get nothing of ours and end in time."""

import os

from jobs.backends import local_look


def test_it_tells_what_the_lines_print_on_both_streams():
    assert local_look.look("echo one; echo two >&2; (exit 3)", 20) == "one\ntwo\n"


def test_it_runs_with_nothing_of_ours_and_without_roots_rights(monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "of the portal")
    said = local_look.look("env; id -u; pwd; touch made && ls", 20)
    assert "of the portal" not in said
    assert "made" in said
    if os.geteuid() == 0:
        assert str(local_look.NOBODY) in said.split()


def test_lines_that_wait_or_never_end_are_ended():
    assert local_look.look("echo before; sleep 1000", 3) == "before\n"
    assert len(local_look.look("yes", 20)) == local_look.MOST
    assert local_look.look("read line; echo got:$line", 20) == "got:\n"
