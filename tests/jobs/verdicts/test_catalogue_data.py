"""The catalogue's entries fit the models and the shell, and each solver in it can be judged."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from jobs.models import Software, SoftwareVersion
from jobs.verdicts import code_of
from tests.jobs.verdicts.conftest import CASES

CATALOGUE = yaml.safe_load((Path(__file__).parents[3] / "jobs" / "catalogue.yaml").read_text(encoding="utf-8"))
ENTRIES = {entry["code"]: entry for entry in CATALOGUE["software"]}


def fields(model):
    return {field.name for field in model._meta.get_fields()}


@pytest.mark.parametrize("code", ENTRIES)
def test_an_entry_fits(code):
    entry = ENTRIES[code]
    assert code_of(code) == code
    assert set(entry) - {"versions"} <= fields(Software) and entry["versions"] and entry["description"]
    assert all(set(version) <= fields(SoftwareVersion) for version in entry["versions"])
    for text in (entry["command"], entry.get("stop_command", ""), *(version.get("setup", "") for version in entry["versions"])):
        assert subprocess.run(["bash", "-n", "-c", text], capture_output=True, check=False).returncode == 0


def test_each_entry_says_how_its_version_is_told():
    told = [entry["detection"] for entry in ENTRIES.values()]
    assert all(set(one) == {"command", "pattern"} and re.compile(one["pattern"]).groups == 1 for one in told)


def test_the_stop_hook_of_openfoam_asks_the_solver_to_write_and_end(tmp_path):
    shutil.copytree(CASES / "openfoam-channel", tmp_path / "case")
    subprocess.run(["bash", "-c", ENTRIES["openfoam"]["stop_command"]], cwd=tmp_path, check=True)
    assert "stopAt writeNow;" in (tmp_path / "case" / "system" / "controlDict").read_text()


def test_the_stop_hook_of_quantum_espresso_leaves_the_file_that_pw_looks_for(tmp_path):
    shutil.copy(CASES / "qe-scf" / "h.in", tmp_path)
    subprocess.run(["bash", "-c", ENTRIES["quantum_espresso"]["stop_command"]], cwd=tmp_path, check=True)
    assert (tmp_path / "h.EXIT").exists()
