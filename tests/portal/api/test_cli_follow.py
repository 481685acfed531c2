"""Waiting on the command line: where the job stands is told once each, beside its output."""

import pytest

from portal.cli import follow


class Portal:
    """Answers with one job after another."""

    def __init__(self, *answers):
        self.answers = [
            {"headraceStatus": status, "waitsFor": waits, "outcome": outcome, "exitCode": 0, "failedStage": "", "detail": "", "reason": "", "verdict": ""}
            for status, waits, outcome in answers
        ]

    def get(self, path):
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


QUEUED = ("Queued", "needs 8 cores of Local [all]; 2 free", None)


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(follow, "PAUSES", (0,))


def test_what_it_waits_for_is_told_once(capsys):
    portal = Portal(QUEUED, QUEUED, ("Running Job", "", None), ("Completed", "", "completed"))
    assert follow.wait_for(portal, "aBcDeF")["outcome"] == "completed"
    told = capsys.readouterr()
    assert told.err.splitlines() == ["Queued: needs 8 cores of Local [all]; 2 free", "Running Job"]
    assert told.out == "", "a script reads only what it asked for"


def test_its_output_is_asked_for_once_it_runs(capsys):
    portal = Portal(QUEUED, ("Running Job", "", None))
    assert follow._watched(portal, "aBcDeF", follow.OUTPUT)["headraceStatus"] == "Running Job"
    assert capsys.readouterr().err.splitlines() == ["Queued: needs 8 cores of Local [all]; 2 free"]
