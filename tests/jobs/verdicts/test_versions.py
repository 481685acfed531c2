"""The version that a run's own banner names, against the one that was chosen."""

import pytest

from jobs.verdicts import Ending, Folder, judge, versions
from tests.jobs.verdicts.conftest import CASES


@pytest.mark.parametrize(("case", "command", "software", "version", "other"), [
    ("calculix-cantilever", "ccx cantilever", "calculix", "2.20", "2.21"),
    ("openfoam-channel", "blockMesh > log.blockMesh && icoFoam > log.icoFoam", "openfoam", "v1912", "v2312"),
    ("lammps-melt-harmless-words", "lmp -in in.melt", "lammps", "29Sep2021", "2 Aug 2023"),
    ("gromacs-argon", "gmx mdrun -deffnm run", "gromacs", "2022", "2023.1"),
    ("qe-scf", "pw.x -in h.in > h.out", "quantum_espresso", "6.7", "7.2"),
    ("nwchem-water", "nwchem water.nw | tee water.out", "nwchem", "7.0.2", "7.2"),
])  # fmt: skip
def test_another_version_than_the_chosen_one_is_told_with_its_line(case, command, software, version, other):
    def judged(chosen):
        return judge(software, Folder(CASES / case), Ending(0), command, "process_output.log", chosen)

    plain = judged("")
    assert judged(version) == judged("installed") == plain
    told = judged(other)
    assert told.verdict == plain.verdict
    assert f"you chose {other}" in told.reason
    assert told.evidence[-1].line
    assert told.evidence[: len(plain.evidence)] == plain.evidence


@pytest.mark.parametrize(("one", "other", "same"), [
    ("2.20", "2.20", True), ("2.20", "2.2", False), ("2022", "2022.5", True), ("v1912", "1912", True), ("v1912", "v2006", False),
    ("29Sep2021", "29 Sep 2021 - Update 2", True), ("29Sep2021", "2 Aug 2023", False), ("stable_29Sep2021", "29 Sep 2021", True),
    ("installed", "2.20", True), ("", "2.20", True), ("2.20", "29 Sep 2021", True), ("6.7MaX", "6.7", True), ("of11", "11", True),
])  # fmt: skip
def test_versions_are_the_same_as_far_as_both_are_told(one, other, same):
    assert versions.same(one, other) is versions.same(other, one) is same


def test_a_log_that_was_uploaded_says_nothing_of_this_run(tmp_path):
    (tmp_path / "old.log").write_text("CalculiX Version 2.11, Copyright(C)\n")
    assert versions.ran("calculix", Folder(tmp_path), "ccx beam", None) is None
