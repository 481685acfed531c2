"""Every case of validation: mistakes that must be named, and unusual inputs that must pass."""

import importlib.util
import sys
from pathlib import Path

import pytest

from jobs.validation import Folder, Request, unpacked, validate
from jobs.validation.archives import is_archive

_PATH = Path(__file__).parents[2] / "cases" / "validation" / "load.py"
_SPEC = importlib.util.spec_from_file_location("validation_load", _PATH)
assert _SPEC and _SPEC.loader
load = sys.modules.setdefault("validation_load", importlib.util.module_from_spec(_SPEC))
_SPEC.loader.exec_module(load)


def findings_of(case, folder):
    inputs = Folder(case.build(folder))
    packed = [name for name in inputs.names() if is_archive(name) and name not in case.command]
    return validate(
        Request(case.software, case.version, case.command, case.cores, unpacked(inputs, packed), memory=case.memory)
    )


@pytest.mark.parametrize("case", load.cases(), ids=lambda case: case.name)
def test_case(case, tmp_path, caplog):
    findings = findings_of(case, tmp_path / "job")
    assert load.problems(case, findings) == []
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []  # a check that broke says nothing else
    for finding in findings:
        assert finding.message.endswith((".", ")"))
        assert finding.remedy
        assert finding.line is None or finding.line > 0


def test_there_are_cases_of_every_solver():
    groups = {}
    for case in load.cases():
        groups.setdefault(case.group, []).append(case.expect)
    for group in ("calculix", "openfoam", "lammps", "gromacs", "espresso", "nwchem", "mpi", "shell"):
        assert sum(expect != "pass" for expect in groups[group]) >= 8
        assert groups[group].count("pass") >= 5
