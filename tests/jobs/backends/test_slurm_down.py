"""Slurm's daemons die and come back while a job runs: nobody takes that for the end of the job."""

import contextlib
import signal

import pytest
import slurm_daemons
from backend_clouds import destroy, eventually
from backend_portal import Portal

from jobs.agent import build
from jobs.backends.base import State, TryAgain
from jobs.backends.slurm import Slurm


@pytest.fixture
def daemons():
    with slurm_daemons.running(2) as made:
        yield made


@pytest.fixture
def backend(daemons, place):
    return Slurm("slurm", notes=place / "notes", folder=str(place / "jobs"), config=str(daemons.config), timeout=3)


@pytest.fixture
def running(backend, place, spec, token):
    """A portal whose job runs there: it prints a line when the file `go` appears."""
    portal = Portal(f"echo ready; until [ -e {place}/go ]; do sleep 0.05; done; echo gone on")
    backend.create(token, spec(portal=portal.address, agent=str(build(place / "agent.pyz"))))
    assert eventually(lambda: bytes(portal.log) == b"ready\n", 60)
    yield portal
    portal.close()


def state(backend, token):
    return backend.describe([token])[token].state


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_controller_that_dies_and_comes_back_in_mid_run(daemons, backend, running, place, token, number):
    assert state(backend, token) is State.UP
    daemons.save(token)
    daemons.end("slurmctld", number)
    assert state(backend, token) is State.UNKNOWN
    assert backend.capacity()[""].total is None
    with pytest.raises(TryAgain):
        backend.destroy(token)
    daemons.start_controller()
    assert eventually(lambda: state(backend, token) is State.UP, 60)
    (place / "go").touch()
    assert eventually(lambda: running.said("exit"), 60)[0]["code"] == 0
    assert bytes(running.log) == b"ready\ngone on\n"
    running.release()
    assert eventually(lambda: _destroyed(backend, token), 60)
    assert state(backend, token) is State.ABSENT


def test_munge_that_is_down_is_nobodys_end(daemons, backend, running, spec, place, token):
    daemons.end("munged")
    assert state(backend, token) is State.UNKNOWN
    with pytest.raises(TryAgain):
        backend.create(f"{token}1", spec())
    daemons.start_munge()
    assert eventually(lambda: state(backend, token) is State.UP, 60)
    (place / "go").touch()
    assert eventually(lambda: running.said("exit"), 60)[0]["code"] == 0
    running.release()
    assert eventually(lambda: _destroyed(backend, token), 60)


def test_a_controller_that_is_away_takes_no_job_and_none_is_made_twice(daemons, backend, spec, token):
    daemons.end("slurmctld")
    with pytest.raises(TryAgain):
        backend.create(token, spec())
    daemons.start_controller()
    assert eventually(lambda: _created(backend, token, spec()), 60)
    assert len(daemons.numbers(token)) == 1
    assert destroy(backend, token)


def _created(backend, token, spec):
    with contextlib.suppress(TryAgain):
        backend.create(token, spec)
        return True
    return False


def _destroyed(backend, token):
    with contextlib.suppress(TryAgain):
        return backend.destroy(token)
    return False
