"""How jobs stand and end, told from the rows of squeue and sacct: played by programs of ours in the place of Slurm's."""

from datetime import UTC, datetime

import pytest
from slurm_programs import TOKEN, full, look

from jobs.backends.base import State, reason_of


@pytest.fixture
def slurm(played):
    return played()


ENDS = {
    "OUT_OF_MEMORY": "raise the memory or choose a larger coretype",
    "TIMEOUT": "time limit",
    "CANCELLED by 0": "by root",
    "NODE_FAIL": "node failed",
    "PREEMPTED": "Preempted",
    "DEADLINE": "deadline",
    "BOOT_FAIL": "could not be started",
    "REQUEUED": "requeued",
    "COMPLETED": "before the portal let them go",
}


@pytest.mark.parametrize("state", ENDS)
def test_ends_that_accounting_tells_with_exit_code_0_are_told_apart(programs, slurm, state):
    programs.accounts(f"{TOKEN}|{state}|N/A")
    told = look(slurm)
    assert told.state is State.FAILED
    assert ENDS[state] in told.why


def test_ends_with_a_reason_of_their_own_name_it(programs, slurm):
    reasons = {"OUT_OF_MEMORY": "out-of-memory", "TIMEOUT": "walltime", "CANCELLED by 0": "cancelled-outside", "NODE_FAIL": "node-lost", "PREEMPTED": "cancelled-outside"}
    for state, reason in reasons.items():
        programs.accounts(f"{TOKEN}|{state}|N/A")
        assert reason_of(look(slurm).why) == reason


@pytest.mark.parametrize("by", ["squeue", "sacct"])
def test_a_state_that_nobody_knows_is_unknown_with_its_name(programs, slurm, by):
    if by == "squeue":
        programs.jobs(f"{TOKEN}|FOO")
    else:
        programs.accounts(f"{TOKEN}|FOO|N/A")
    told = look(slurm)
    assert (told.state, told.why) == (State.UNKNOWN, "status unknown (FOO)")


def test_a_job_that_squeue_has_forgotten_and_accounting_has_not_is_never_alive(programs, slurm):
    programs.accounts(f"{TOKEN}|RUNNING|N/A")
    assert look(slurm).state is State.UNKNOWN


def test_accounting_that_does_not_answer_is_no_end(programs, slurm):
    programs.tell("sacct", complains="sacct: error: Problem talking to the database: Connection refused", code=1)
    assert look(slurm).state is State.UNKNOWN


def test_without_accounting_it_is_asked_for_once(programs, slurm):
    for _ in range(5):
        assert look(slurm).state is State.ABSENT
    assert len(programs.calls("sacct")) == 1


def test_a_job_that_was_requeued_is_lost_and_cancelled_with_its_cluster(programs, slurm):
    programs.jobs(f"1|{TOKEN}|PENDING|0|1|1|main|N/A|BeginTime|")
    assert "never started twice" in look(slurm).why
    assert list(slurm.tokens()) == [TOKEN]
    assert not slurm.destroy(TOKEN)
    assert programs.calls("scancel") == [["--quiet", "1"]]


def test_completing_is_not_gone(programs, slurm):
    programs.jobs(f"{TOKEN}|COMPLETING")
    assert look(slurm).state is State.UP
    assert not slurm.destroy(TOKEN)
    programs.jobs(f"{TOKEN}|CANCELLED")
    assert slurm.destroy(TOKEN)
    assert look(slurm).state is State.ABSENT


@pytest.mark.parametrize("time", ["1796036576", "2026-11-30T11:02:56"])
def test_a_waiting_job_says_why_and_until_when(programs, slurm, time):
    programs.jobs(f"1|{TOKEN}|PENDING|0|0|4|main|{time}|Resources|")
    told = look(slurm)
    assert (told.state, told.why) == (State.PENDING, "Waits for 4 nodes in partition main: not enough nodes are free.")
    assert told.eta == datetime(2026, 11, 30, 11, 2, 56, tzinfo=UTC)


def test_reasons_with_odd_words_are_told_as_they_are(programs, slurm):
    programs.jobs(f"1|{TOKEN}|PENDING|0|0|1|main|N/A|ReqNodeNotAvail, UnavailableNodes:n[1-2]|")
    assert "down or reserved" in look(slurm).why
    programs.jobs(f"1|{TOKEN}|PENDING|0|0|1|main|N/A|AssocGrpCPUMinutesLimit|")
    assert "a limit of the account is reached (AssocGrpCPUMinutesLimit)" in look(slurm).why
    programs.jobs(f"1|{TOKEN}|PENDING|0|0|1|main|N/A|Some|Thing|")
    assert look(slurm).why.endswith("main: Some|Thing.")


@pytest.mark.parametrize(("status", "word"), [(73 << 8, "second time"), (71 << 8, "folder"), (2 << 8, "option python"), (9, "signal 9"), (5 << 8, "exit code 5")])
def test_an_agent_that_could_not_start_says_why_by_its_exit_code(programs, slurm, status, word):
    programs.jobs(f"1|{TOKEN}|FAILED|{status}|0|1|main|N/A|NonZeroExitCode|")
    assert word in look(slurm).why


def over(programs, slurm, state, end="1796036576", reason="None"):
    """What it says of a job that is over, once it let it go."""
    programs.rows(full(f"1|{TOKEN}|{state}|0|0|1|main|1796030000|{reason}|", end=end))
    assert slurm.destroy(TOKEN)
    return slurm.why_over(TOKEN)


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ("TIMEOUT", "walltime"),
        ("DEADLINE", "walltime"),
        ("PREEMPTED", "cancelled-outside"),
        ("NODE_FAIL", "node-lost"),
        ("CANCELLED", "cancelled-outside"),
        ("OUT_OF_MEMORY", "out-of-memory"),
    ],
)
@pytest.mark.parametrize("forgotten", [False, True])
def test_who_ended_a_job_is_told_after_it_is_gone(programs, slurm, state, reason, forgotten):
    told = over(programs, slurm, state)
    if forgotten:
        programs.rows()
        assert slurm.why_over(TOKEN) is None  # without accounting nobody knows any more
        programs.accounts(f"{TOKEN}|{state}|1796036576")
        slurm._queue._no_accounts_until = 0
        told = slurm.why_over(TOKEN)
    assert told is not None and reason_of(told.why) == reason
    assert told.eta == datetime(2026, 11, 30, 11, 2, 56, tzinfo=UTC)


def test_who_cancelled_it_is_named_where_accounting_knows(programs, slurm):
    programs.accounts(f"{TOKEN}|CANCELLED by 0|1796036576")
    assert over(programs, slurm, "CANCELLED").why == "Cancelled on the cluster by root"


def test_an_end_of_ours_is_not_somebody_elses(programs, slurm):
    programs.jobs(f"{TOKEN}|RUNNING")
    assert not slurm.destroy(TOKEN)
    assert over(programs, slurm, "CANCELLED") is None
    assert over(programs, slurm, "COMPLETED") is None
    assert over(programs, slurm, "FAILED") is None


def test_a_job_that_was_ending_already_was_ended_by_somebody_else(programs, slurm):
    programs.jobs(f"{TOKEN}|COMPLETING")
    assert not slurm.destroy(TOKEN)
    assert reason_of(over(programs, slurm, "CANCELLED").why) == "cancelled-outside"
