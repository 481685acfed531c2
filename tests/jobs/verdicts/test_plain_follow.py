"""Plain commands while they run: only what their own words tell beyond doubt."""

import json

import pytest

from jobs.verdicts import Folder, follow, streams
from tests.jobs.verdicts.conftest import CASES


def fed(*pieces, software="shell", command="./program", stream="stdout"):
    follower = follow(software, None, command)
    for piece in pieces:
        follower.feed(stream, piece.encode())
    return follower


@pytest.mark.parametrize(("said", "text", "percent"), [
    ("step 14 of 40\n", "step 14 of 40", 35), ("Iteration: 3/10, dt=0.1\n", "iteration 3 of 10", 30), ("Epoch 2/5\n", "epoch 2 of 5", 40),
    ("processing file 3 out of 12\n", "file 3 of 12", 25), ("Progress: 45%\n", "45 %", 45), ("[ 12.5%] Building\n", "12.5 %", 12.5),
    ("solve: 37%|####      | 37/100 [00:10<00:17]\n", "37 %", 37), ("60 % done, 12 s left\n", "60 %", 60),
    ("step 1 of 4\nstep 2 of 4\n", "step 2 of 4", 50), ("  7%|x\r  8%|x\r  9%|x\r", "9 %", 9), ("10% done\r20% done\r\n", "20 %", 20),
])  # fmt: skip
def test_what_is_told_in_words_is_progress(said, text, percent):
    progress = fed(said).progress()
    assert progress.text == text
    assert progress.percent == pytest.approx(percent)


@pytest.mark.parametrize("said", [
    "", "45% of the nodes are on the boundary\n", "porosity 12.5%\n", "step 14\n", "page 5/3/2024\n", "1/2 + 1/3\n", "step 12 of 4\n", "date 3/10/2026\n",
    "efficiency: 87%\n", "memory used 50%\n", "file 3/10/2026.log\n", "version 1.2 of 3\n", "400% done\n", "step 1 of 1\n", "ratio 3/4\n", "residual = 0.1\n",
    "100% test coverage\n", "case 2/3rd\n",
])  # fmt: skip
def test_numbers_that_may_mean_anything_are_none(said):
    follower = fed(said)
    assert follower.progress() is None
    assert list(follower.series()) == []
    assert follower.alarm() is None


def test_residuals_beside_their_iteration_are_a_chart():
    follower = fed("".join(f"Iteration {at}: residual = {10.0**-at:.3e}, time = {at}.5\n" for at in range(1, 6)))
    (series,) = follower.series()
    assert (series.name, series.points[0], series.points[-1], series.logarithmic) == ("residual", (1.0, 0.1), (5.0, 1e-5), True)


def test_a_table_with_iterations_and_residuals_is_a_chart():
    head = "+---------+-----------+\n|  Inner_Iter|    rms[Rho]|     Lift|\n+----+\n"
    follower = fed(head + "".join(f"|           {at}|   {0.5**at:.6f}|   0.25|\n" for at in range(1, 5)))
    assert [(one.name, len(one.points)) for one in follower.series()] == [("rms[rho]", 4)]


def test_a_quantity_that_stops_being_a_number_is_an_alarm_with_its_line():
    follower = fed("iter 1 residual: 0.5\niter 2 residual: 0.1\n", "iter 3 residual: nan\niter 4 residual: nan\n")
    alarm = follower.alarm()
    assert (alarm.kind, alarm.diverging, alarm.evidence.line) == ("nan", True, 4)


@pytest.mark.parametrize("said", [
    "iter 0 residual: nan\niter 1 residual: 0.5\n", "residual: nan\n" * 9, "iter 1 residual: 0.5\niter 2 residual: nan\niter 3 residual: 0.2\niter 4 residual: nan\n",
    "Nan Nan Nantes\n", "step 1 of 4 loss nan\n", "error: nan value in the column price\n" * 5,
])  # fmt: skip
def test_a_nan_that_may_be_harmless_is_no_alarm(said):
    assert fed(said).alarm() is None


PLAIN = [
    ("openfoam-timeout-hidden", {"stdout": "log.simpleFoam"}, "bash run.sh", "time 133"),
    ("lammps-melt-harmless-words", {"stdout": "process_output.log"}, "bash run.sh", "step 400"),
    ("calculix-plastic-bar", {"stdout": "bar.log", "bar.sta": "bar.sta", "bar.cvg": "bar.cvg"}, "ccx -i bar > bar.log", "increment 6"),
    ("nwchem-own-opt", {"stdout": "w.out"}, "./go", "iteration"),
]


@pytest.mark.parametrize(
    ("case", "files", "command", "text"), PLAIN, ids=lambda value: value if isinstance(value, str) and "-" in value else ""
)
def test_a_solver_in_a_plain_job_is_followed_as_itself_and_restarts_change_nothing(case, files, command, text):
    def whole(piece, restarts):
        follower = follow("shell", Folder(CASES / case), command)
        for stream, name in files.items():
            data = (CASES / case / name).read_bytes()
            for at in range(0, len(data), piece):
                follower.feed(stream, data[at : at + piece])
                if restarts:
                    kept = json.loads(json.dumps(follower.dump(), allow_nan=False))
                    follower = follow("shell", Folder(CASES / case), command)
                    follower.load(kept)
        return follower

    once, cut = whole(1 << 20, False), whole(997, True)
    assert text in once.progress().text
    assert once.progress() == cut.progress()
    assert list(once.series()) == list(cut.series()) != []


def test_a_restart_in_a_plain_log_changes_nothing():
    said = "".join(f"step {at} of 90\nIter {at} residual = {1 / at:.4f}\n" for at in range(1, 91))
    once, kept = fed(said), fed(said[:700])
    again = follow("mpi", None, "./program")
    again.load(json.loads(json.dumps(kept.dump())))
    again.feed("stdout", said[700:].encode())
    assert (again.progress(), list(again.series())) == (once.progress(), list(once.series()))


def test_the_streams_of_a_solver_in_a_plain_command_are_followed_too():
    assert streams("shell", "ccx -i beam > run.txt") == {"beam.sta": "beam.sta", "beam.cvg": "beam.cvg", "run.txt": "run.txt"}
    assert "log.lammps" in streams("mpi", "mpirun -np 2 lmp -in in.run")
    assert streams("shell", "bash run.sh") == {}
