"""Live followers: progress, series and alarms as output grows; the same after every restart."""

import json

import pytest

from jobs.verdicts import Folder, follow, streams
from tests.jobs.verdicts.conftest import CASES

LIVE = [
    ("calculix", "calculix-plastic-bar", "ccx -i bar > bar.log", {"bar.sta": "bar.sta", "bar.cvg": "bar.cvg", "stdout": "bar.log"}),
    ("openfoam", "openfoam-channel", "icoFoam > log.icoFoam", {"log.icoFoam": "log.icoFoam"}),
    ("openfoam", "openfoam-timeout-hidden", "simpleFoam", {"stdout": "log.simpleFoam"}),
    ("lammps", "lammps-melt-harmless-words", "lmp -in in.melt", {"log.lammps": "log.lammps", "stdout": "process_output.log"}),
    ("gromacs", "gromacs-own-killed", "gmx mdrun -s md.tpr", {"md.log": "md.log"}),
    ("quantum_espresso", "qe-own-relax", "pw.x -in h.in > h.out", {"h.out": "h.out"}),
    ("nwchem", "nwchem-own-opt", "nwchem w.nw", {"stdout": "w.out"}),
]


def fed(software, case, command, files, piece=1 << 20, restarts=False):
    folder = Folder(CASES / case)
    follower = follow(software, folder, command)
    for stream, name in files.items():
        data = (CASES / case / name).read_bytes()
        for at in range(0, len(data), piece):
            follower.feed(stream, data[at : at + piece])
            if restarts:
                kept = json.loads(json.dumps(follower.dump(), allow_nan=False))
                follower = follow(software, folder, command)
                follower.load(kept)
    return follower


@pytest.mark.parametrize(
    ("software", "case", "command", "files"), LIVE, ids=lambda value: value if isinstance(value, str) and "-" in value else ""
)
def test_a_restart_at_any_byte_changes_nothing(software, case, command, files):
    whole, cut = fed(software, case, command, files), fed(software, case, command, files, 997, restarts=True)
    assert whole.progress() == cut.progress() is not None
    assert list(whole.series()) == list(cut.series()) != []
    assert whole.alarm() == cut.alarm()


@pytest.mark.parametrize(
    ("case", "text", "percent"),
    [("calculix-plastic-bar", "step 1 of 1, increment 6", 100), ("openfoam-channel", "time 1 of 1", 100), ("openfoam-timeout-hidden", "time 133 of 100000", 0.133),
     ("lammps-melt-harmless-words", "step 400 of 400", 100), ("gromacs-own-killed", "of 50000000", 0.0848), ("nwchem-own-opt", "iteration", None), ("qe-own-relax", "iteration", None)],
)  # fmt: skip
def test_progress_says_how_far(case, text, percent):
    progress = fed(*next(one for one in LIVE if one[1] == case)).progress()
    assert text in progress.text
    assert progress.percent == (pytest.approx(percent) if percent is not None else None)


def test_a_healthy_run_raises_no_alarm():
    assert [case for software, case, command, files in LIVE if fed(software, case, command, files).alarm()] == []


@pytest.mark.parametrize(
    ("software", "case", "stream", "kind"),
    [("openfoam", "openfoam-nan-in-pipe", "log.icoFoam", "nan"), ("openfoam", "openfoam-own-fpe", "process_output.log", "growth"), ("gromacs", "gromacs-own-blow", "md.log", "growth"),
     ("gromacs", "gromacs-own-overlap", "em.log", "nan"), ("lammps", "lammps-own-losterr", "process_output.log", "error"), ("quantum_espresso", "qe-not-achieved-in-pipe", "h.out", "error")],
)  # fmt: skip
def test_the_first_sign_of_trouble_is_an_alarm(software, case, stream, kind):
    follower = fed(software, case, "", {stream: stream})
    assert follower.alarm().kind == kind
    assert follower.alarm().evidence.file == stream and follower.alarm().evidence.line > 0


def test_only_divergence_may_stop_a_job():
    assert fed("openfoam", "openfoam-nan-in-pipe", "", {"a": "log.icoFoam"}).alarm().diverging
    assert not fed("quantum_espresso", "qe-not-achieved-in-pipe", "", {"a": "h.out"}).alarm().diverging


def test_series_carry_their_tolerance_and_stay_bounded():
    follower = follow("openfoam")
    follower.feed("stdout", b"Exec   : simpleFoam\nSIMPLE: convergence criteria\n    field p\t tolerance 1e-06\n\nStarting time loop\n")
    for step in range(1, 20_001):
        follower.feed(
            "stdout",
            b"Time = %d\nDICPCG:  Solving for p, Initial residual = %g, Final residual = 1e-9, No Iterations 3\n" % (step, 1 / step),
        )
    (series,) = follower.series()
    assert (series.name, series.tolerance, series.points_seen) == ("p", 1e-6, 20_000)
    assert 150 < len(series.points) <= 401
    assert series.points[0] == (1.0, 1.0) and series.points[-1] == (20_000.0, pytest.approx(5e-5))
    assert follower.alarm() is None


def test_residuals_that_grow_past_the_limit_are_an_alarm():
    follower = follow("quantum_espresso")
    follower.feed("stdout", b"     Program PWSCF v.7.2 starts\n")
    for value in (b"1.0", b"0.001", b"5000.0"):
        follower.feed("stdout", b"     estimated scf accuracy    <       %s Ry\n" % value)
    assert follower.alarm().kind == "growth" and "5e+03" in follower.alarm().message


def test_a_stream_that_begins_anew_is_read_anew():
    follower = follow("calculix")
    follower.feed("x.sta", b"     1          5     1     2  0.5E+00  0.5E+00  0.1E+00\n")
    follower.reset("x.sta")
    follower.feed("x.sta", b"     1          1     1     2  0.1E+00  0.1E+00  0.1E+00\n")
    assert follower.progress().text == "step 1, increment 1"


@pytest.mark.parametrize(
    ("software", "command", "wanted"),
    [("calculix", "ccx -i beam", {"beam.sta", "beam.cvg"}), ("openfoam", "blockMesh > log.b && icoFoam | "
        "tee log.i", {"log.b", "log.i"}), ("lammps", "lmp -in a", {"log.lammps"}),
     ("gromacs", "gmx mdrun -deffnm run", {"run.log"}), ("quantum-espresso", "cd a && pw.x -in h > h.out", {"a/h.out"}), ("nwchem", "nwchem w.nw > w.out", {"w.out"}), ("shell", "run > out.txt", {"out.txt"})],
)  # fmt: skip
def test_the_command_names_the_streams_worth_following(software, command, wanted):
    assert set(streams(software, command).values()) == wanted


TOLERANCES = [
    ("calculix", "calculix-plastic-bar", "ccx -i bar", {"bar.cvg": "bar.cvg"}, {"residual force (%)": 0.5, "correction (%)": 1.0}),
    ("openfoam", "openfoam-steady-converged", "simpleFoam", {"stdout": "log.simpleFoam"}, {"p": 1e-4, "Ux": 1e-4, "Uy": 1e-4}),
    ("quantum_espresso", "qe-own-relax", "pw.x -in h.in > h.out", {"h.out": "h.out"}, {"scf accuracy (Ry)": 1e-8, "gradient error (Ry/bohr)": 1e-3}),
    ("nwchem", "nwchem-own-opt", "nwchem w.nw", {"stdout": "w.out"}, {"scf gradient norm": 1e-4, "largest force (Gmax)": 4.5e-4}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("software", "case", "command", "files", "wanted"), TOLERANCES, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_series_has_the_tolerance_that_deck_or_log_name(software, case, command, files, wanted):
    found = {one.name: one.tolerance for one in fed(software, case, command, files).series()}
    assert {name: found.get(name) for name in wanted} == wanted


def test_a_pattern_in_residual_control_gives_its_tolerance_to_every_field_that_fits():
    follower = follow("openfoam")
    head = b'Exec   : simpleFoam\nSIMPLE: convergence criteria\n    field p\t tolerance 1e-06\n    field "(k|epsilon)"\t tolerance 1e-05\n\nStarting time loop\nTime = 1\n'
    row = b"smoothSolver:  Solving for %s, Initial residual = 0.1, Final residual = 1e-9, No Iterations 3\n"
    follower.feed("stdout", head + b"".join(row % name for name in (b"p", b"k", b"epsilon", b"omega")))
    assert {one.name: one.tolerance for one in follower.series()} == {"p": 1e-6, "k": 1e-5, "epsilon": 1e-5, "omega": None}


def test_controls_of_a_calculix_deck_are_the_tolerances_of_its_chart(tmp_path):
    (tmp_path / "a.inp").write_text("*STEP\n*CONTROLS, PARAMETERS=FIELD\n0.02, 0.05\n*STATIC\n0.1, 1.\n*END STEP\n")
    follower = follow("calculix", Folder(tmp_path), "ccx a")
    follower.feed("a.cvg", b"     1     1     1     1        0  0.1130E+03  0.1000E+03  0.2000E+02  0.0000E+00\n")
    assert {one.name: one.tolerance for one in follower.series()} == {
        "residual force (%)": 2.0,
        "correction (%)": 5.0,
        "residual flux (%)": 2.0,
    }


def test_a_gromacs_minimisation_that_tells_its_force_has_the_limit_of_its_parameters():
    follower = follow("gromacs")
    follower.feed("md.log", b"Log file opened on Mon\n   integrator                     = steep\n   emtol                          = 100\n")
    follower.feed(
        "md.log",
        b"Step=   14, Dmax= 1.2e-02 nm, Epot= -6.2e+04 Fmax= 1.27e+03, atom= 1\nStep=   15, Dmax= 1.2e-02 nm, Epot= -6.3e+04 Fmax= 1.1e+03, atom= 1\n",
    )
    assert [(one.name, one.tolerance) for one in follower.series()] == [("Fmax", 100.0)]
