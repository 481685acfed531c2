"""The pages that send files into a workstation, in Chromium: axe finds no violation, nothing is wider than a phone."""

from __future__ import annotations

import io

import pytest
import scenes
import stations as scene
from browsing import LOOKS, faults
from django.utils import timezone

from jobs import lifecycle
from portal import storing

pytestmark = pytest.mark.django_db(transaction=True)
NAMES = ["plate.inp", "runs/a-rather-long-name-of-a-mesh-that-somebody-made-with-a-program-in-the-night.msh", "notes.txt", "Übersicht 文件.csv"]


@pytest.fixture
def addresses(owner, wing, money):
    work = scene.desk(owner, lifecycle.SUSPENDED, last=lifecycle.ACTIVE, reason="wish", project=wing)
    scene.copy(work)
    job = scenes.job(owner, lifecycle.COMPLETED, "beam-7", end=lifecycle.STOPPING, project=wing)
    scenes.save(job, {"results/field.vtu": b"x" * 3000, "log.txt": b"hi"})
    files = [storing.keep(owner, name, io.BytesIO(b"x" * 40), 40) for name in NAMES]
    told = [{}, {}, {"trouble": "a link or a file is where its folder should be"}, {"arrived": timezone.now()}]
    for file, more in zip(files, told, strict=True):
        work.workstation.sent.create(file=file, name=file.name, by=owner, made=timezone.now(), **more)
    home = f"/workstations/{work.public_id}/files/"
    return [home, f"/files/send/?file={files[1].public_id}&to={work.public_id}", f"/files/send/?job={job.public_id}", f"/jobs/{job.public_id}/files/", "/files/"]


@pytest.mark.parametrize("look", LOOKS)
def test_pages_that_send_are_accessible(addresses, shown, look):
    assert faults(shown, addresses, look) == {}
