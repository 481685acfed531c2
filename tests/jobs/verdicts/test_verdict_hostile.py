"""Whatever lies in a job folder: no verdict hangs, follows a link out, takes much memory, or raises."""

import os
import tracemalloc

import pytest

from jobs.verdicts import Ending, Folder, Label, follow, judge
from jobs.verdicts.base import MODULES

HEADS = {
    "calculix": b"CalculiX Version 2.20, Copyright(C) 1998-2022 Guido Dhondt\n",
    "openfoam": b"| \\\\      /  F ield | OpenFOAM: The Open Source CFD Toolbox |\nExec   : icoFoam\nStarting time loop\n",
    "lammps": b"LAMMPS (29 Sep 2021)\nPer MPI rank memory allocation (min/avg/max) = 3 | 3 | 3 Mbytes\nStep Temp E_pair\n",
    "gromacs": b":-) GROMACS - gmx mdrun, 2022.5 (-:\nLog file opened on Mon\n",
    "quantum_espresso": b"     Program PWSCF v.6.7 starts on 1Jan\n",
    "nwchem": b"   Northwest Computational Chemistry Package (NWChem) 7.0.2\n",
    "shell": b"", "mpi": b"",
}  # fmt: skip
JUNK = (
    b"\x00\x01\xff\xfe\n"
    + b"a" * (10 << 20)
    + b"\n"
    + b"Time = \nTime = nan\nTime = 1e999\nExec   : \n--> FOAM FATAL\n"
    + b"\xc3\x28 \xf0\x28\x8c\x28\n"
    b"ERROR: \nERROR on proc 0: \x1b[31m\nStep\n0 0 0\nLoop time of\nLoop time of x on y procs for z steps\n  by by MPI processor grid\n"
    b"Solving for , Initial residual = , Final residual = , No Iterations \nsmoothSolver:  Solving for Ux, Initial "
    b"residual = 1e, Final residual = --, No Iterations x\n"
    b"time step continuity errors : sum local = \nCourant Number mean: max: \nbounding k, min: max:\ndeltaT = "
    b"\nEnd\n*ERROR\n *ERROR in\n   \n"
    b"largest residual force=\nincrement x attempt\nestimated scf accuracy <\n!    total energy =\niteration #\nscf "
    b"convergence threshold =\n"
    b"           Step           Time\n\n   Energies (kJ/mol)\n\nMaximum force     =\nStep= , Fmax=\nnsteps = "
    b"99999999999999999999\n   nsteps   = 99999999999999999999\n"
    b"%%%%%%%%%\n%%%%%%%%%\n@ x\n d= \n current input line :\ntask\nTask  times\nReading file x.tpr, "
    b"VERSION\nProgram:\nPer MPI rank memory\n\n"
)


@pytest.fixture
def folder(tmp_path):
    for name in (
        "model.inp",
        "in.run",
        "md.mdp",
        "pw.in",
        "w.nw",
        "system/controlDict",
        "system/fvSolution",
        "system/fvSchemes",
        "model.sta",
        "model.frd",
        "model.dat",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(JUNK[-2000:])
    return tmp_path


@pytest.mark.parametrize("software", MODULES)
def test_junk_gets_a_verdict_within_little_memory(software, folder):
    (folder / "stdout").write_bytes(HEADS[software] + JUNK)
    tracemalloc.start()
    verdict = judge(
        software, Folder(folder), Ending(0), "ccx model; icoFoam; lmp -in in.run; gmx mdrun; pw.x -in pw.in; nwchem w.nw", "stdout"
    )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(verdict.verdict, Label) and verdict.reason
    assert "could not be judged" not in verdict.reason
    assert peak < 60 << 20


@pytest.mark.parametrize("software", MODULES)
@pytest.mark.parametrize("code", [0, 1, 137, None])
def test_an_empty_folder_is_never_good(software, code, tmp_path):
    verdict = judge(software, Folder(tmp_path), Ending(code), "")
    assert verdict.verdict is (Label.INCOMPLETE if code else Label.UNKNOWN) or (
        code is None and verdict.verdict in (Label.UNKNOWN, Label.INCOMPLETE)
    )


@pytest.mark.parametrize("software", MODULES)
def test_a_fifo_or_a_link_is_never_read(software, tmp_path):
    outside = tmp_path / "outside.log"
    outside.write_bytes(HEADS[software] + b"secret of another user\n")
    job = tmp_path / "job"
    job.mkdir()
    os.mkfifo(job / "stdout")
    os.mkfifo(job / "log.lammps")
    (job / "process_output.log").symlink_to(outside)
    (job / "linked").symlink_to(tmp_path, target_is_directory=True)
    verdict = judge(
        software, Folder(job), Ending(1), "solve > stdout && solve > process_output.log && solve > linked/outside.log", "stdout"
    )
    assert verdict.verdict is Label.INCOMPLETE
    assert "secret" not in str(verdict)


def test_the_folder_opens_nothing_outside(tmp_path):
    (tmp_path / "secret").write_text("x")
    job = tmp_path / "job"
    (job / "sub").mkdir(parents=True)
    (job / "sub" / "file").write_text("inside")
    (job / "out").symlink_to(tmp_path, target_is_directory=True)
    folder = Folder(job)
    assert folder.names() == ["sub/file"]
    with folder.open("sub/file") as file:
        assert file.read() == b"inside"
    for name in ("../secret", "out/secret", "/etc/passwd", "", "sub", "sub/../../secret"):
        with pytest.raises(OSError, match=r"."):
            folder.open(name)


@pytest.mark.parametrize("software", MODULES)
def test_followers_stand_junk_and_stay_small(software, caplog):
    follower = follow(software)
    data = HEADS[software] + JUNK + HEADS[software]
    for at in range(0, len(data), 65536):
        follower.feed("stdout", data[at : at + 65536])
    for number in range(200):
        follower.feed(f"file:stream{number}", HEADS[software] + JUNK[-2000:])
    follower.progress(), follower.alarm(), follower.series()
    assert len(str(follower.dump())) < 2 << 20
    assert not caplog.records  # nothing was caught on the way


@pytest.mark.parametrize(
    "command",
    ["ccx 'unclosed", "ccx $(cat x)", "ccx -i", "lmp -in", "| | > >", "gmx mdrun -deffnm", "cd ..; pw.x -in ../../h.in", "nwchem\x00"],
)
@pytest.mark.parametrize("software", MODULES)
def test_a_strange_command_is_no_obstacle(software, command, folder):
    (folder / "stdout").write_bytes(HEADS[software] + b"x\n")
    verdict = judge(software, Folder(folder), Ending(0), command, "stdout")
    assert "could not be judged" not in verdict.reason
