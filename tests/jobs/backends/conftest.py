"""Clouds to hold against the contract: the kinds are in backend_clouds.py."""

import shutil
import sys
import tempfile
from pathlib import Path

import pytest

from jobs.agent import build
from jobs.backends.base import Spec
from jobs.backends.local import Local
from jobs.backends.slurm import Slurm

sys.path.insert(0, str(Path(__file__).parent))

import backend_clouds as clouds  # noqa: E402
import slurm_daemons  # noqa: E402
from backend_portal import Portal  # noqa: E402
from slurm_programs import Programs  # noqa: E402


@pytest.fixture
def place():
    """A folder that other users may pass through, which pytest's own do not allow."""
    folder = Path(tempfile.mkdtemp(prefix="headrace-test-"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def agent(place):
    """The stand-in for the agent, where it may be given a job: agent.with_suffix(".sh")."""
    return Path(shutil.copy(clouds.STANDIN, place / "agent.py"))


@pytest.fixture
def spec(agent):
    def make(**changes):
        values = {"coretype": "small", "nodes": 1, "cores": 1, "memory": 256 << 20, "walltime": 3600}
        where = {"portal": "http://127.0.0.1:9", "secret": "not-to-be-seen", "agent": str(agent)}
        return Spec(**{**values, **where, **changes})

    return make


@pytest.fixture
def token(place):
    return "hrtest-job-" + "".join(c for c in place.name if c.isalnum()) + "-1"


@pytest.fixture
def local(place):
    """Makes backends that look at the same folder; at the end nothing may be left of any cluster."""
    made = []

    def make(**options):
        made.append(Local("local", folder=place / "clusters", **{"cores": 8, **options}))
        return made[-1]

    yield make
    for backend in made:
        for token in backend.tokens():
            clouds.destroy(backend, token)


@pytest.fixture(scope="session")
def slurm():
    """Slurm's daemons with nodes of 4, 2 and 2 cores, for all tests that leave them alive."""
    if why := slurm_daemons.missing():
        pytest.skip(why)
    daemons = clouds.OnSlurm.daemons = slurm_daemons.Daemons()
    yield daemons
    daemons.close()


@pytest.fixture(params=clouds.KINDS)
def cloud(request, place):
    if request.param is clouds.OnSlurm:
        request.getfixturevalue("slurm")
    cloud = request.param(place)
    yield cloud
    for token in cloud.backend().tokens():
        clouds.destroy(cloud.backend(), token)


# --- Slurm, real and played --------------------------------------------------------------------------------------------
@pytest.fixture
def zipapp(place):
    """The real agent."""
    return str(build(place / "agent.pyz"))


@pytest.fixture
def backend(slurm, place):
    """On the daemons; nothing may be left of any cluster."""
    made = clouds.OnSlurm(place).backend()
    yield made
    for token in made.tokens():
        clouds.destroy(made, token)


@pytest.fixture
def portal():
    """Makes portals that real agents report to."""
    made = []

    def make(command, nodes=1):
        made.append(Portal(command, nodes))
        return made[-1]

    yield make
    for portal in made:
        portal.close()


@pytest.fixture
def programs(tmp_path):
    """Programs of ours in the place of Slurm's."""
    return Programs(tmp_path, sys.executable)


@pytest.fixture
def played(programs, tmp_path):
    """Makes backends that call them."""
    def make(**options):
        return Slurm("slurm", notes=tmp_path / "notes", path=str(programs.folder), **options)

    return make
