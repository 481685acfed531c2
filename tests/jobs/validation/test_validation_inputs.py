"""Inputs as names, sizes and bytes; findings in their order; names that can't be."""

import io

from jobs.validation import Finding, Folder, Request, Severity, Stored, validate
from jobs.validation.base import nearest, ordered
from jobs.validation.solvers import canonical


def test_two_inputs_of_one_name_are_said():
    inputs = Stored([("a.inp", 1, lambda: io.BytesIO(b"x"))] * 2)
    (finding,) = validate(Request("shell", "", "ls", 1, inputs))
    assert (finding.severity, finding.file) == (Severity.ERROR, "a.inp")


def test_names_that_cannot_be_are_said():
    for name in ("/etc/passwd", "../x", "a/../../x", "x" * 256, "C:\\x"):
        found = validate(Request("shell", "", "ls", 1, Stored([(name, 1, lambda: io.BytesIO(b"x"))])))
        assert [finding.severity for finding in found] == [Severity.ERROR], name


def test_a_name_that_few_programs_can_open_is_a_warning():
    (finding,) = validate(Request("shell", "", "ls", 1, Stored([("a\nb", 1, lambda: io.BytesIO(b"x"))])))
    assert (finding.severity, finding.file) == (Severity.WARNING, "a\nb")


def test_odd_names_that_can_be_pass():
    for name in ("my file (2).inp", "-rf", "数据.dat", "🚀.csv", "a;touch pwned", "100%.txt", ".hidden", '"q".txt', "\ufffd" * 255):
        assert validate(Request("shell", "", "ls", 1, Stored([(name, 1, lambda: io.BytesIO(b"x"))]))) == []


def test_a_name_that_is_a_file_and_a_folder_is_said():
    inputs = Stored([("a", 1, lambda: io.BytesIO(b"x")), ("a/b", 1, lambda: io.BytesIO(b"x"))])
    assert [finding.thing for finding in validate(Request("shell", "", "ls", 1, inputs))] == ["a"]


def test_a_folder_lists_its_files_and_modes(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "run.sh").write_text("x")
    (tmp_path / "sub" / "run.sh").chmod(0o755)
    folder = Folder(tmp_path)
    assert (folder.names(), folder.size("sub/run.sh"), folder.mode("sub/run.sh")) == (["sub/run.sh"], 1, 0o755)


def test_a_source_without_modes_blames_nobody():
    inputs = Stored([("solver", 1, lambda: io.BytesIO(b"x"))])
    assert validate(Request("shell", "", "./solver", 1, inputs)) == []


def test_the_nearest_name_is_found():
    names = ["mesh/block.inp", "Steel.inp", "readme.txt"]
    assert nearest("blokc.inp", names) == "mesh/block.inp"
    assert nearest("steel.inp", names) == "Steel.inp"
    assert nearest("quite-different.dat", names) is None


def test_errors_come_first_and_once():
    first, second = Finding(Severity.WARNING, "w"), Finding(Severity.ERROR, "e")
    assert ordered([first, second, first]) == [second, first]


def test_spellings_of_software():
    for name in ("quantum-espresso", "quantum_espresso", "QE", "espresso", "Quantum ESPRESSO"):
        assert canonical(name) == "quantum_espresso"
    assert (canonical("CalculiX"), canonical("mpi"), canonical("anything")) == ("calculix", "mpi", "anything")


def test_a_solver_started_by_a_shell_job_is_read_as_well():
    deck = b"*INCLUDE, INPUT=mesh.inp\n"
    inputs = Stored([("block.inp", len(deck), lambda: io.BytesIO(deck))])
    assert "mesh.inp" in [finding.thing for finding in validate(Request("shell", "", "ccx block", 1, inputs))]


def test_a_fix_is_named_where_it_is_safe(tmp_path):
    (tmp_path / "run.sh").write_bytes(b"#!/bin/sh\r\nls\r\n")
    (tmp_path / "run.sh").chmod(0o755)
    found = validate(Request("shell", "", "mpirun -np 9 ./run.sh", 2, Folder(tmp_path)))
    assert {finding.fix for finding in found} >= {"unix-line-ends", "ranks:2"}
