"""Ends that others bring about, on a real Slurm that has forgotten the job by the time it is asked: with accounting and without."""

import pytest
import slurm_accounting
import slurm_daemons
from backend_clouds import destroy, eventually

from jobs.backends.base import State, reason_of
from jobs.backends.slurm import Slurm


@pytest.fixture(scope="module")
def daemons(request):
    accounts = request.param == "accounting"
    if why := slurm_daemons.missing() or (accounts and slurm_accounting.missing()):
        pytest.skip(why)
    made = slurm_accounting.Forgetful(accounts)
    yield made
    made.close()


@pytest.fixture
def backend(daemons, place):
    made = Slurm("slurm", notes=place / "notes", folder=str(place / "jobs"), config=str(daemons.config), margin=0, defaults={"partition": "main"})
    yield made
    for token in made.tokens():
        destroy(made, token)


def state(backend, token):
    return backend.describe([token])[token].state


def running(backend, token, spec):
    backend.create(token, spec)
    assert eventually(lambda: state(backend, token) is State.UP, 60)


def cancelled(daemons, backend, token, spec):
    running(backend, token, spec())
    daemons.ask("scancel", f"--name={token}")


def node_down(daemons, backend, token, spec):
    running(backend, token, spec(nodes=2))
    daemons.ask("scontrol", "update", "NodeName=n2", "State=DOWN", "Reason=test")
    eventually(lambda: state(backend, token) is not State.UP, 60)
    daemons.ask("scontrol", "update", "NodeName=n2", "State=RESUME")


def preempted(daemons, backend, token, spec):
    running(backend, token, spec(nodes=2, cores=2, options={"partition": "cheap"}))
    number = daemons.ask("sbatch", "--parsable", "--partition=urgent", "--nodes=2", "--exclusive", "--output=/dev/null", "--wrap=true").strip()
    eventually(lambda: state(backend, token) is not State.UP, 60)
    daemons.ask("scancel", number)


def out_of_time(daemons, backend, token, spec):
    running(backend, token, spec(walltime=60))


ENDS = {
    "cancelled-outside": (cancelled, "Cancelled on the cluster"),
    "node-lost": (node_down, "A node failed"),
    "preempted": (preempted, "Preempted"),
    "walltime": (out_of_time, "Out of time"),
}


@pytest.mark.parametrize(
    ("daemons", "end"), [("accounting", end) for end in ENDS] + [("none", end) for end in ENDS if end != "walltime"], indirect=["daemons"]
)
def test_an_end_is_told_as_what_it_was_while_slurm_knows_and_after_it_forgot(daemons, backend, token, spec, end):
    act, words = ENDS[end]
    act(daemons, backend, token, spec)
    told = eventually(lambda: (found := backend.describe([token])[token]).state is State.FAILED and found, 180)
    assert told and told.why.startswith(words), told
    assert eventually(lambda: not daemons.numbers(token), 90)  # Slurm itself knows nothing of it any more
    backend._queue._no_accounts_until = 0
    after = backend.describe([token])[token]
    if daemons.accounts:
        assert (after.state, after.why.startswith(words)) == (State.FAILED, True), after
        over = backend.why_over(token)
        assert reason_of(over.why) == reason_of(told.why) and over.eta
        if end == "cancelled-outside":
            assert over.why == "Cancelled on the cluster by root"
    else:
        assert after.state is State.ABSENT and backend.why_over(token) is None  # the agent's word alone is left
    assert destroy(backend, token)
