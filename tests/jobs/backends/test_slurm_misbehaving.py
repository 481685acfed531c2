"""Slurm that fails, hangs, lies or forgets: played by programs of ours in the place of Slurm's."""

import sys
import threading
from datetime import UTC, datetime

import pytest
from slurm_programs import Programs, full

from jobs.backends.base import NoCapacity, Refused, State, TryAgain, reason_of
from jobs.backends.slurm import Slurm

TOKEN = "hrtest-job-aBcDeF-1"


@pytest.fixture
def programs(tmp_path):
    return Programs(tmp_path, sys.executable)


@pytest.fixture
def slurm(programs, tmp_path):
    return Slurm("slurm", notes=tmp_path / "notes", path=str(programs.folder), timeout=15)


@pytest.fixture
def hasty(programs, tmp_path):
    """One that waits for a second only."""
    return Slurm("slurm", notes=tmp_path / "notes", path=str(programs.folder), timeout=1)


def look(slurm, token=TOKEN):
    return slurm.describe([token])[token]


@pytest.mark.parametrize(
    "how",
    [
        {"says": "", "complains": "slurm_load_jobs error: Unable to contact slurm controller (connect failure)", "code": 1},
        {"says": ""},
        {"says": "", "complains": "slurm_load_jobs error: Invalid job id specified", "code": 1},
        {"says": "nonsense\n"},
    ],
)
def test_a_squeue_that_does_not_answer_is_never_an_end(programs, slurm, how):
    programs.jobs(f"{TOKEN}|RUNNING")
    programs.tell("squeue", **how)
    assert look(slurm).state is State.UNKNOWN
    with pytest.raises((TryAgain, Refused)):
        slurm.destroy(TOKEN)
    with pytest.raises(TryAgain):
        slurm.tokens()
    programs.tell("squeue")
    assert look(slurm).state is State.UP


def test_a_squeue_that_hangs_is_ended_and_not_waited_for(programs, hasty):
    programs.tell("squeue", sleeps=600)
    told = look(hasty)
    assert told.state is State.UNKNOWN
    assert "did not answer within 1 s" in told.why


def test_slurm_that_is_not_there_is_said_so(tmp_path):
    slurm = Slurm("slurm", notes=tmp_path / "notes", path=str(tmp_path), timeout=1)
    slurm._commands._environment["PATH"] = str(tmp_path)
    assert look(slurm).state is State.UNKNOWN
    assert slurm.capacity()[""].total is None
    assert slurm.capacity()[""].queues_itself


@pytest.mark.parametrize("how", [{"complains": "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation", "code": 1}])
def test_an_sbatch_that_says_timed_out_but_was_heard_is_adopted(programs, slurm, spec, how):
    programs.tell("sbatch", **how)
    slurm.create(TOKEN, spec())
    slurm.create(TOKEN, spec())
    assert len(programs.calls("sbatch")) == 1
    assert look(slurm).state is State.UP


def test_an_sbatch_slower_than_its_timeout_is_looked_up_before_anything_is_repeated(programs, hasty, spec):
    programs.tell("sbatch", sleeps=600)
    hasty.create(TOKEN, spec())
    assert len(programs.calls("sbatch")) == 1


def test_an_sbatch_that_was_not_heard_may_be_tried_again(programs, slurm, spec):
    programs.tell("sbatch", accepts=False, complains="Unable to contact slurm controller", code=1)
    with pytest.raises(TryAgain):
        slurm.create(TOKEN, spec())
    programs.tell("sbatch")
    slurm.create(TOKEN, spec())
    assert look(slurm).state is State.UP


def test_nothing_is_submitted_while_it_is_unknown_what_there_is(programs, slurm, spec):
    programs.tell("squeue", says="", complains="Unable to contact slurm controller", code=1)
    with pytest.raises(TryAgain):
        slurm.create(TOKEN, spec())
    assert programs.calls("sbatch") == []


@pytest.mark.parametrize(
    ("complaint", "error"),
    [
        ("Batch job submission failed: Invalid partition specified: x", Refused),
        ("Batch job submission failed: Requested node configuration is not available", Refused),
        ("Batch job submission failed: Invalid account or account/partition combination specified", Refused),
        ("invalid partition specified: main", Refused),
        ("AssocMaxSubmitJobLimit\nsbatch: error: Batch job submission failed: Job violates accounting/QOS policy", NoCapacity),
        ("Batch job submission failed: Unable to contact slurm controller (connect failure)", TryAgain),
        ("Slurm temporarily unable to accept job, sleeping and retrying", TryAgain),
        ("If munged is up, restart with --num-threads=10\nMunge encode failed: Failed to access socket", TryAgain),
        ("something that nobody has seen before", TryAgain),
    ],
)
def test_what_sbatch_complains_of_is_understood(programs, slurm, spec, complaint, error):
    programs.tell("sbatch", accepts=False, complains=f"sbatch: error: {complaint}\n", code=1)
    with pytest.raises((TryAgain, Refused)) as raised:
        slurm.create(TOKEN, spec())
    assert type(raised.value) is error
    assert complaint.split(": ")[-1].splitlines()[-1] in str(raised.value)


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


def test_of_two_jobs_of_one_name_the_living_one_counts(programs, slurm):
    programs.jobs(f"{TOKEN}|FAILED", f"{TOKEN}|RUNNING", f"{TOKEN}|PENDING")
    assert look(slurm).state is State.UP
    slurm.destroy(TOKEN)
    assert programs.calls("scancel") == [["--quiet", "2", "3"]]


def test_other_jobs_of_our_user_are_left_alone(programs, slurm):
    programs.jobs("interactive|RUNNING", "my job|RUNNING", f"{TOKEN}|RUNNING")
    assert list(slurm.tokens()) == [TOKEN]


def test_one_squeue_answers_for_all_who_ask_at_once(programs, slurm):
    programs.jobs(f"{TOKEN}|RUNNING")
    programs.tell("squeue", sleeps=0.3)
    threads = [threading.Thread(target=look, args=(slurm,)) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(programs.calls("squeue")) <= 3


def test_five_thousand_jobs_are_one_process(programs, slurm):
    tokens = [f"hrtest-job-{number}-1" for number in range(5000)]
    programs.jobs(*(f"{token}|RUNNING" for token in tokens))
    assert {told.state for told in slurm.describe(tokens).values()} == {State.UP}
    assert len(programs.calls("squeue")) == 1
    assert programs.calls("sacct") == []


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


# --- more time ----------------------------------------------------------------------------------------------------------


def test_more_time_is_given_where_the_portal_is_an_operator(programs, tmp_path):
    slurm = Slurm("slurm", notes=tmp_path / "notes", path=str(programs.folder), operator=True, margin=600)
    assert slurm.can_extend
    programs.rows(full(f"1|{TOKEN}|RUNNING|0|0|1|main|1796036400|None|", end="1796040000"))
    slurm.extend(TOKEN, datetime.fromtimestamp(1796036400 + 3000, UTC))  # it has that much
    assert programs.calls("scontrol") == []
    slurm.extend(TOKEN, datetime.fromtimestamp(1796036400 + 7230, UTC))
    assert programs.calls("scontrol") == [["update", "JobId=1", "TimeLimit=131"]]
    programs.tell("scontrol", complains="slurm_update error: Invalid user id", code=1)
    with pytest.raises(Refused, match="Invalid user id"):
        slurm.extend(TOKEN, datetime.fromtimestamp(1796036400 + 9000, UTC))


def test_more_time_is_refused_in_words_where_it_is_not(programs, slurm):
    programs.rows(full(f"1|{TOKEN}|RUNNING|0|0|1|main|1796036400|None|", end="1796040000"))
    assert not slurm.can_extend
    with pytest.raises(Refused, match="operators"):
        slurm.extend(TOKEN, datetime.fromtimestamp(1796060000, UTC))
    assert programs.calls("scontrol") == []
