"""What software hardware really has: asked for, looked at, kept, and said where a job chose something else."""

import factories
import pytest
import yaml

from jobs import backends, checking, detecting
from jobs.models import Check, Installed, Look, Software, SoftwareVersion
from portal.launch import seeds

pytestmark = pytest.mark.django_db

SAID = {
    "ccx -v": "\nThis is Version 2.20\n\n",
    "gmx --version": "bash: line 1: gmx: command not found\n",
    "lmp -help": "\nLarge-scale Atomic/Molecular Massively Parallel Simulator - 29 Sep 2021 - Update 2\n",
    "nwchem": "             Northwest Computational Chemistry Package (NWChem) 7.0.2\n",
    "echo": "OpenFOAM v2312\n",
    "pw.x": "     Program PWSCF v.6.7MaX starts on  1Jan2026\n",
    "mpirun": "mpirun (Open MPI) 4.1.4\n",
    "bash": "GNU bash, version 5.2.15(1)-release (x86_64-pc-linux-gnu)\n",
}


@pytest.fixture
def catalogue(db):
    for order, entry in enumerate(yaml.safe_load(seeds.CATALOGUE.read_text(encoding="utf-8"))["software"]):
        seeds._software(dict(entry), order)
    SoftwareVersion.objects.create(software=Software.objects.get(code="calculix"), code="2.21", name="2.21", order=9)


@pytest.fixture
def kind(cloud, monkeypatch):
    def says(self, scripts, seconds, options):
        return [next((text for start, text in SAID.items() if start in script.splitlines()[-1]), "") for script in scripts]

    monkeypatch.setattr(type(backends.get("fake")), "says", says)
    return factories.coretype(name="Basalt")


def looked(kind, clock):
    Look.ask(kind, clock())
    assert detecting.carry_out(clock.forward(1)) == 1
    return {f"{row.version.software.code} {row.version.code}": row.found for row in Installed.objects.filter(coretype=kind)}


def chosen(code, version, kind):
    job = factories.job(coretype=kind, command="ccx beam")
    job.software = SoftwareVersion.objects.get(software__code=code, code=version)
    job.save()
    return job


def test_a_look_keeps_what_each_version_answers(catalogue, kind, clock):
    found = looked(kind, clock)
    assert (found["calculix installed"], found["lammps installed"], found["quantum_espresso 6.7"]) == ("2.20", "29 Sep 2021", "6.7")
    assert (found["openfoam v1912"], found["nwchem installed"], found["gromacs 2022.5"], found["mpi installed"]) == (
        "v2312",
        "7.0.2",
        "",
        "4.1.4",
    )


def test_nothing_is_looked_at_unless_somebody_asked_and_then_once(catalogue, kind, clock):
    assert detecting.carry_out(clock()) == 0
    looked(kind, clock)
    assert detecting.carry_out(clock.forward(60)) == 0
    assert not Look.objects.get().waits
    Look.ask(kind, clock.forward(3600))
    assert Look.objects.get().waits


def test_a_backend_that_cannot_be_asked_says_why(catalogue, cloud, clock):
    kind = factories.coretype()
    Look.ask(kind, clock())
    detecting.carry_out(clock.forward(1))
    assert "can't be asked" in Look.objects.get().trouble
    assert not Installed.objects.exists()


@pytest.mark.parametrize(("code", "version", "words"), [
    ("calculix", "2.21", "CalculiX 2.21 was chosen, but Basalt has CalculiX 2.20"),
    ("calculix", "2.20", ""),
    ("calculix", "installed", ""),
    ("lammps", "29Sep2021", ""),
    ("openfoam", "v1912", "OpenFOAM v1912 was chosen, but Basalt has OpenFOAM v2312"),
    ("gromacs", "2022.5", "GROMACS 2022.5 was not found on Basalt"),
    ("gromacs", "installed", "GROMACS was not found on Basalt"),
    ("shell", "1", ""),
])  # fmt: skip
def test_a_version_that_is_not_there_is_a_warning_with_the_remedy(catalogue, kind, clock, code, version, words):
    looked(kind, clock)
    job = chosen(code, version, kind)
    found = list(detecting.findings(job, detecting.found([job])))
    assert [words in one.message and one.severity == "warning" and bool(one.remedy) for one in found] == ([True] if words else [])


def test_nothing_is_said_where_nobody_looked(catalogue, kind):
    job = chosen("calculix", "2.21", kind)
    assert list(detecting.findings(job, detecting.found([job]))) == []


def test_the_deck_is_read_for_the_version_that_is_there(catalogue, kind, clock):
    looked(kind, clock)
    job = chosen("openfoam", "installed", kind)
    assert detecting.version_of(job, detecting.found([job])) == "v2312"
    job = chosen("openfoam", "v1912", kind)
    assert detecting.version_of(job, detecting.found([job])) == "v1912"


def test_a_check_says_it_and_is_not_used_again_for_other_hardware(catalogue, kind, clock):
    job = chosen("calculix", "2.21", kind)
    job.workload.submit(job.workload.owner, clock())
    checking.perform([job], clock())
    assert not any("was chosen" in one["message"] for one in Check.objects.get().findings)
    looked(kind, clock)
    checking.perform([job], clock())
    assert any("was chosen" in one["message"] for one in Check.objects.order_by("pk").last().findings)


@pytest.mark.parametrize("detection", [{"command": "x"}, {"command": "x", "pattern": "("}, {"command": "x", "pattern": "no group"}])
def test_a_detection_that_an_admin_broke_finds_nothing(detection):
    assert detecting.detected(Software(code="own", detection=detection), "no group 1.2") == ""


def test_what_a_list_offers_says_what_is_there(catalogue, kind, clock):
    looked(kind, clock)
    label = {str(one): detecting.label(one) for one in SoftwareVersion.objects.all()}
    assert label["CalculiX"] == "CalculiX (2.20 on Basalt)"
    assert label["CalculiX 2.20"] == "CalculiX 2.20"
    assert label["CalculiX 2.21"] == "CalculiX 2.21 (2.20 on Basalt)"
    assert label["GROMACS"] == "GROMACS (not found on Basalt)"
    assert label["Shell"] == "Shell"
