"""Real agents on real Slurm daemons: commands run and are stopped, on one node and several, and nothing is left."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from backend_clouds import OnSlurm, carrying, destroy, eventually
from backend_portal import Portal, ended, says
from slurm_daemons import PATH

from jobs.backends.base import State, reason_of
from jobs.backends.slurm_script import script

MPI = '''
import ctypes, os
mpi = ctypes.CDLL("libmpi.so.40", mode=ctypes.RTLD_GLOBAL)
world = ctypes.byref(ctypes.c_char.in_dll(mpi, "ompi_mpi_comm_world"))
integer, plus = (ctypes.byref(ctypes.c_char.in_dll(mpi, name)) for name in ("ompi_mpi_int", "ompi_mpi_op_sum"))
mpi.MPI_Init(None, None)
rank, size, total = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
mpi.MPI_Comm_rank(world, ctypes.byref(rank))
mpi.MPI_Comm_size(world, ctypes.byref(size))
mpi.MPI_Allreduce(ctypes.byref(rank), ctypes.byref(total), 1, integer, plus, world)
print("rank", rank.value, "of", size.value, "sum", total.value, "on", os.environ["SLURMD_NODENAME"], flush=True)
mpi.MPI_Finalize()
'''


def state(backend, token):
    return backend.describe([token])[token].state


@pytest.mark.parametrize("shared", [False, True])
def test_a_command_runs_on_two_nodes_and_leaves_nothing(slurm, place, portal, spec, zipapp, token, shared):
    there, backend = portal("echo $HEADRACE_NODES $SLURM_JOB_NUM_NODES $SLURM_NTASKS; srun hostname; pwd", nodes=2), OnSlurm(place).backend(shared=shared)
    backend.create(token, spec(nodes=2, cores=2, portal=there.address, agent=zipapp))
    assert ended(there)["code"] == 0
    assert eventually(lambda: there.said("done"))
    assert there.nodes_up() == {0, 1}
    assert bytes(there.log).startswith(b"2 2 4\n")
    assert str(place / "jobs" / token).encode() in bytes(there.log)
    there.release()
    assert destroy(backend, token)
    assert carrying(token) == []
    assert eventually(lambda: not (place / "jobs" / token).exists())


def test_the_secret_is_in_nothing_that_others_see(slurm, backend, portal, spec, zipapp, token, place):
    there = portal("env; cat /proc/$PPID/environ; echo; echo ready; sleep 600")
    backend.create(token, spec(portal=there.address, agent=zipapp))
    assert says(there, b"ready\n")
    assert "not-to-be-seen" not in slurm.ask("scontrol", "show", "job", "-d", "-o")
    assert token in slurm.ask("scontrol", "show", "job", "-o")
    assert "not-to-be-seen" not in subprocess.run(["ps", "axeww"], capture_output=True, text=True, check=True).stdout
    assert b"not-to-be-seen" not in bytes(there.log)
    assert subprocess.run(["grep", "-r", "not-to-be-seen", str(place)], check=False).returncode == 1
    assert (place / "jobs" / token).stat().st_mode & 0o777 == 0o700


def test_several_nodes_run_one_mpi_job(backend, portal, spec, zipapp, token, place):
    if not any((Path(folder) / "mpirun").exists() for folder in PATH.split(":")):
        pytest.skip("no mpirun on this machine")
    (place / "program.py").write_text(MPI)
    options = "--mca btl self,tcp --mca pml ob1 --mca btl_tcp_if_include lo --mca plm_rsh_no_tree_spawn 1 --oversubscribe"
    there = portal(f"export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; mpirun {options} {sys.executable} {place}/program.py", nodes=2)
    backend.create(token, spec(nodes=2, cores=2, portal=there.address, agent=zipapp))
    report = ended(there)
    lines = sorted(line for line in there.log.decode().splitlines() if line.startswith("rank"))
    assert report["code"] == 0, there.log.decode()
    assert [line.split(" on ")[0] for line in lines] == [f"rank {rank} of 4 sum 6" for rank in range(4)], there.log.decode()
    assert len({line.split(" on ")[1] for line in lines}) == 2, lines


def test_a_stop_lets_the_command_end_by_itself(backend, portal, spec, zipapp, token):
    there = portal("trap 'echo saving; exit 3' TERM; echo ready; while :; do sleep 0.05; done")
    backend.create(token, spec(portal=there.address, agent=zipapp))
    assert says(there, b"ready\n")
    there.order("stop")
    assert ended(there)["code"] == 3
    assert b"saving\n" in bytes(there.log)


def test_destroy_in_the_middle_of_a_run_leaves_nothing(backend, portal, spec, zipapp, token):
    there = portal("for i in 1 2 3; do setsid sleep 600 & done; (trap '' TERM HUP INT; sleep 600) & echo ready; wait", nodes=2)
    backend.create(token, spec(nodes=2, portal=there.address, agent=zipapp))
    assert says(there, b"ready\n")
    there.release()
    assert destroy(backend, token)
    assert eventually(lambda: carrying(token) == [])


def test_scancel_by_somebody_else_lets_the_command_save_and_is_told_as_such(slurm, backend, portal, spec, zipapp, token):
    there = portal("trap 'echo saving; sleep 1; exit 0' TERM; echo ready; while :; do sleep 0.05; done")
    backend.create(token, spec(portal=there.address, agent=zipapp))
    assert says(there, b"ready\n")
    slurm.ask("scancel", f"--name={token}")
    assert ended(there)["why"] == "outside"
    assert eventually(lambda: state(backend, token) is State.FAILED)
    assert reason_of(backend.describe([token])[token].why) == "cancelled-outside"
    assert carrying(token) == []


def test_scancel_while_it_waits_is_told_as_such(slurm, backend, spec, token):
    backend.create(f"{token}1", spec(nodes=3, cores=2))
    backend.create(f"{token}2", spec(nodes=3, cores=2))
    assert eventually(lambda: backend.describe([f"{token}2"])[f"{token}2"].why.startswith("Waits for 3 nodes in partition main: "))
    slurm.ask("scancel", f"--name={token}2")
    assert eventually(lambda: state(backend, f"{token}2") is State.FAILED)
    assert reason_of(backend.describe([f"{token}2"])[f"{token}2"].why) == "cancelled-outside"


def test_a_requeue_never_runs_the_command_twice(slurm, backend, portal, spec, zipapp, token):
    there = portal("echo ready; sleep 600")
    backend.create(token, spec(portal=there.address, agent=zipapp))
    assert says(there, b"ready\n")
    number = slurm.numbers(token)[0]
    slurm.ask("scontrol", "update", f"JobId={number}", "Requeue=1")
    slurm.ask("scontrol", "requeue", number)
    assert eventually(lambda: state(backend, token) is State.FAILED)
    assert "never started twice" in backend.describe([token])[token].why
    assert destroy(backend, token)
    assert bytes(there.log).count(b"ready\n") == 1


def test_a_node_that_goes_down_is_a_node_failure(slurm, backend, spec, token):
    backend.create(token, spec(nodes=3))
    assert eventually(lambda: state(backend, token) is State.UP)
    try:
        slurm.ask("scontrol", "update", "NodeName=n3", "State=DOWN", "Reason=test")
        assert eventually(lambda: state(backend, token) is State.FAILED)
        assert "node failed" in backend.describe([token])[token].why
    finally:
        slurm.ask("scontrol", "update", "NodeName=n3", "State=RESUME")
    assert destroy(backend, token)


def test_a_python_that_nodes_do_not_have_is_named(slurm, place, spec, token):
    backend = OnSlurm(place).backend(python="/no/python3")
    backend.create(token, spec())
    assert eventually(lambda: state(backend, token) is State.FAILED)
    assert "option python" in backend.describe([token])[token].why
    assert destroy(backend, token)


def test_a_folder_that_cannot_be_made_is_named(slurm, place, spec, token):
    (place / "file").write_text("")
    backend = OnSlurm(place).backend(folder=str(place / "file" / "jobs"))
    backend.create(token, spec())
    assert eventually(lambda: state(backend, token) is State.FAILED)
    assert "option folder" in backend.describe([token])[token].why
    assert destroy(backend, token)


def test_two_hundred_at_once_come_and_go(backend, spec, token):
    names = [f"{token}{number:03}" for number in range(200)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: backend.create(name, spec()), names))
        assert sorted(backend.tokens()) == names
        assert set(backend.describe(names)) == set(names)
        before = len(os.listdir("/proc/self/fd"))
        assert all(pool.map(lambda name: eventually(lambda: backend.destroy(name), 120), names))
    assert list(backend.tokens()) == []
    assert [name for name in names if carrying(name)] == []
    assert len(os.listdir("/proc/self/fd")) <= before + 5


def test_a_second_job_of_the_same_name_leaves_the_firsts_files_alone(slurm, place, portal, spec, zipapp, token):
    there, backend = portal("echo ready; until [ -e go ]; do sleep 0.05; done; echo kept"), OnSlurm(place).backend(shared=True)
    backend.create(token, spec(portal=there.address, agent=zipapp))
    assert says(there, b"ready\n")
    away = Portal("true")
    away.release()  # to this one every agent is somebody else's
    late = spec(portal=away.address, agent=zipapp)
    backend._submit(token, late, backend._checked(token, late, ""), script(token, late, backend._place), "")  # as an sbatch that came late
    numbers = slurm.numbers(token)
    assert len(numbers) == 2
    assert eventually(lambda: len([job for job in backend._queue.jobs()[token] if job.state == "COMPLETED"]) == 1)
    assert state(backend, token) is State.UP
    next((place / "jobs" / token).glob("*/work")).joinpath("go").touch()
    assert ended(there)["code"] == 0
    assert bytes(there.log) == b"ready\nkept\n"
    away.close()
    there.release()
    assert destroy(backend, token)


def test_what_ignores_every_signal_is_gone_when_slurm_says_so(backend, portal, spec, zipapp, token):
    there = portal("trap '' TERM HUP INT; for i in 1 2 3; do setsid sleep 600 & done; echo ready; sleep 600")
    backend.create(token, spec(portal=there.address, agent=zipapp))
    assert says(there, b"ready\n")
    assert destroy(backend, token)
    assert eventually(lambda: carrying(token) == [])
