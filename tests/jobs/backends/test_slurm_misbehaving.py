"""Slurm that fails, hangs, lies or forgets: played by programs of ours in the place of Slurm's."""

import threading
from datetime import UTC, datetime

import pytest
from slurm_programs import TOKEN, full, look

from jobs.backends.base import NoCapacity, Refused, State, TryAgain
from jobs.backends.slurm import Slurm


@pytest.fixture
def slurm(played):
    return played()


@pytest.fixture
def hasty(played):
    """One that waits for a second only."""
    return played(timeout=1)


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
