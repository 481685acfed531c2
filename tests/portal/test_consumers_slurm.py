"""The page of a Slurm cluster is told of each step of a look and a trial; nobody but admins is."""

import pytest
from asgiref.sync import sync_to_async
from django.conf import settings as live
from django.utils import timezone

from jobs import surveying
from jobs.models import Request
from jobs.signals import announce
from portal.consumers.slurm import NOTHING
from tests.portal.live_client import refused, session_of, viewing

pytestmark = pytest.mark.django_db(transaction=True)
PATH = "/live/hardware/slurm/?backend=slurm"


@pytest.fixture(autouse=True)
def slurm(tmp_path, settings):
    options = {"notes": str(tmp_path), "path": str(tmp_path)}
    settings.BACKENDS = live.BACKENDS | {"slurm": {"BACKEND": "jobs.backends.slurm.Slurm", "OPTIONS": options}}


def done(request, **values):
    Request.objects.filter(pk=request.pk).update(done=timezone.now(), **values)
    announce("hardware")


async def test_each_step_is_pushed(admin):
    async with viewing(PATH, await sync_to_async(session_of)(admin)) as viewer:
        first = await told(viewer)
        assert 'id="slurm-now"' in first and 'hx-swap-oob="true"' in first and "Nobody looked yet" in first
        look = await sync_to_async(surveying.ask_look)("slurm", admin)
        await sync_to_async(announce)("hardware")
        assert "Slurm is being asked" in await told(viewer)
        found = {"version": "slurm 22.05.8", "troubles": ["munge is down"], "notes": [], "kinds": [], "accounting": None, "cluster": ""}
        await sync_to_async(done)(look, details=found)
        assert "munge is down" in await told(viewer)


async def told(viewer):
    while (text := await viewer.text()) == NOTHING:
        pass
    return text


@pytest.mark.parametrize("path", [PATH, "/live/hardware/slurm/?backend=fake", "/live/hardware/slurm/"])
async def test_nobody_but_admins_and_nothing_but_slurm(owner, admin, path):
    who = owner if path == PATH else admin
    assert await refused(path, await sync_to_async(session_of)(who)) == 4404
