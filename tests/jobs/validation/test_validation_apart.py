"""Validation in a child process: limits, hostile inputs, and bytes that only the parent can read."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from jobs.validation import Folder, Request, Severity, Stored, run_apart, validate


def request(inputs, command, software="shell"):
    return Request(software, "", command, 2, inputs)


def test_the_child_says_the_same(tmp_path):
    (tmp_path / "run.sh").write_bytes(b"#!/bin/bash\r\nls\r\n")
    asked = request(Folder(tmp_path), "bash run.sh; cat none.txt")
    assert run_apart(asked) == validate(asked)


def test_the_parent_hands_over_what_the_child_cannot_open():
    deck = b"*INCLUDE, INPUT=mesh.inp\n"
    inputs = Stored([("block.inp", len(deck), lambda: io.BytesIO(deck))])
    (finding,) = run_apart(request(inputs, "ccx block", "calculix"))
    assert (finding.file, finding.line, finding.thing) == ("block.inp", 1, "mesh.inp")


def test_a_storage_that_fails_costs_only_its_own_findings():
    def broken():
        raise OSError("gone")

    inputs = Stored([("block.inp", 10, broken)])
    assert [finding.severity for finding in run_apart(request(inputs, "cat none; ccx block", "calculix"))][:1] == [Severity.ERROR]


def test_a_deadline_ends_in_a_finding(tmp_path):
    found = run_apart(request(Folder(tmp_path), "ls"), seconds=0.0)
    assert [finding.thing for finding in found] == ["limits"]


def test_a_limit_of_memory_ends_in_a_finding(tmp_path):
    (tmp_path / "block.inp").write_text("*NODE\n" + "*NSET,NSET=A\nB\n" * 50_000)
    found = run_apart(request(Folder(tmp_path), "ccx block", "calculix"), memory=8 << 20)
    assert "limits" in [finding.thing for finding in found]


HOSTILE = {
    "calculix": ("block.inp", "ccx block"),
    "lammps": ("in.lj", "lmp -in in.lj"),
    "quantum_espresso": ("h.in", "pw.x -in h.in"),
    "nwchem": ("w.nw", "nwchem w.nw"),
    "openfoam": ("system/controlDict", "icoFoam"),
    "gromacs": ("md.mdp", "gmx grompp -f md.mdp"),
}


@pytest.mark.parametrize("software", HOSTILE)
def test_ten_gigabytes_of_nothing(tmp_path, software):
    name, command = HOSTILE[software]
    (tmp_path / name).parent.mkdir(exist_ok=True)
    with open(tmp_path / name, "wb") as stream:
        os.truncate(stream.fileno(), 10 << 30)
    assert name in [finding.file for finding in run_apart(request(Folder(tmp_path), command, software))]


@pytest.mark.parametrize(
    ("software", "line", "command", "ending"),
    [
        ("calculix", "*INCLUDE, INPUT={}\n", "ccx f0", ".inp"),
        ("lammps", "include {}\n", "lmp -in f0.lmp", ".lmp"),
        ("nwchem", "include {}\n", "nwchem f0.nw", ".nw"),
    ],
)
def test_includes_that_multiply(tmp_path, software, line, command, ending):
    for number in range(9):
        (tmp_path / f"f{number}{ending}").write_text(line.format(f"f{number + 1}{ending}") * 10)
    (tmp_path / f"f9{ending}").write_text("\n")
    found = run_apart(request(Folder(tmp_path), command, software))
    assert {"includes", "limits"} & {finding.thing for finding in found}


def test_deep_nesting(tmp_path):
    (tmp_path / "system").mkdir()
    (tmp_path / "system" / "controlDict").write_text("a {" * 20_000)
    found = run_apart(request(Folder(tmp_path), "icoFoam", "openfoam"))
    assert "system/controlDict" in [finding.file for finding in found]


def test_a_link_out_of_the_folder_is_not_followed(tmp_path):
    outside = tmp_path / "secret.inp"
    outside.write_text("*NODE\n")
    job = tmp_path / "job"
    job.mkdir()
    (job / "block.inp").symlink_to(outside)
    found = run_apart(request(Folder(job), "ccx block", "calculix"))
    assert [finding.thing for finding in found] == ["block.inp"]
    assert found[0].severity is Severity.WARNING


def test_a_pipe_among_the_inputs_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / "block.inp")
    assert [finding.severity for finding in run_apart(request(Folder(tmp_path), "ccx block", "calculix"))] == [Severity.WARNING]


def test_findings_have_a_limit(tmp_path):
    (tmp_path / "in.lj").write_text("".join(f"nonsense{number} 1\n" for number in range(1000)))
    found = run_apart(request(Folder(tmp_path), "lmp -in in.lj", "lammps"))
    assert 100 < len(found) < 300


def test_the_package_keeps_its_functions_after_a_run_apart():
    """A module of the package with the name of a function must not take its place."""
    code = "import jobs.validation.apart, jobs.validation.unpacked; from jobs import validation; print(callable(validation.unpacked))"
    run = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[3], capture_output=True, text=True, check=True)
    assert run.stdout == "True\n"
