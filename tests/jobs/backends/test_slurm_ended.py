"""What others do to a job on real Slurm daemons, told as what it was; and more time."""

from datetime import UTC, datetime, timedelta

from backend_clouds import OnSlurm, destroy, eventually
from backend_portal import ended, says

from jobs.backends.base import State, reason_of


def state(backend, token):
    return backend.describe([token])[token].state




def gone_why(backend, there, token):
    there.release()
    assert destroy(backend, token)
    return backend.why_over(token)


def test_who_ended_it_is_known_although_the_command_exits_with_0_at_once(slurm, backend, portal, spec, zipapp, token):
    there = portal("trap 'exit 0' TERM; echo ready; while :; do sleep 0.01; done")
    backend.create(token, spec(portal=there.address, agent=zipapp))
    assert says(there, b"ready\n")
    slurm.ask("scancel", f"--name={token}")
    assert ended(there)["code"] == 0
    assert reason_of(gone_why(backend, there, token).why) == "cancelled-outside"


def test_an_end_of_its_own_is_nobody_elses(backend, portal, spec, zipapp, token):
    there = portal("true")
    backend.create(token, spec(portal=there.address, agent=zipapp))
    assert ended(there)["code"] == 0
    assert gone_why(backend, there, token) is None


def test_slurms_own_time_limit_is_a_walltime(slurm, place, portal, spec, zipapp, token):
    backend = OnSlurm(place).backend(margin=0)
    there = portal("trap 'echo saving; exit 0' TERM; echo ready; while :; do sleep 0.05; done")
    backend.create(token, spec(portal=there.address, agent=zipapp, walltime=60))
    assert says(there, b"ready\n")
    assert eventually(lambda: there.said("exit"), 150)
    told = gone_why(backend, there, token)
    assert reason_of(told.why) == "walltime", told


def test_more_time_is_given_by_an_operator(slurm, place, spec, token):
    backend = OnSlurm(place).backend(operator=True, margin=60)
    backend.create(token, spec(walltime=600))
    assert eventually(lambda: state(backend, token) is State.UP)
    backend.extend(token, datetime.now(UTC) + timedelta(seconds=7200))
    limit = slurm.ask("squeue", "-h", f"--name={token}", "-O", "TimeLimit").strip()
    assert limit in ("2:01:00", "2:02:00")
    backend.extend(token, datetime.now(UTC) + timedelta(seconds=60))
    assert slurm.ask("squeue", "-h", f"--name={token}", "-O", "TimeLimit").strip() == limit
    assert destroy(backend, token)
