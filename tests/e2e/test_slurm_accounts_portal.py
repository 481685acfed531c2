"""Jobs of people with accounts of their own, through a whole portal on real Slurm daemons and a real sudo."""

from __future__ import annotations

import json
import os
import pwd
import shutil
from collections.abc import Iterator

import pytest

from tests.e2e.promises import history_is_whole, money_is_exact
from tests.e2e.real_portal import Portal, until
from tests.jobs.backends import slurm_daemons

ACCOUNT = "nobody"


@pytest.fixture(scope="module")
def daemons() -> Iterator[slurm_daemons.Daemons]:
    if not shutil.which("sudo"):
        pytest.skip("no sudo on this machine")
    with slurm_daemons.running(2) as made:
        yield made


@pytest.fixture(scope="module")
def portal(daemons) -> Iterator[Portal]:
    owner = pwd.getpwnam(ACCOUNT)
    folder = daemons.home / "scratch" / ACCOUNT
    folder.mkdir(parents=True)
    os.chown(folder, owner.pw_uid, owner.pw_gid)
    where = str(daemons.home / "scratch" / "{account}" / "headrace")
    options = {"folder": where, "config": str(daemons.config), "timeout": 10, "accounts": "only", "operator": True}
    made = Portal(SLURM="1", SLURM_OPTIONS=json.dumps(options))
    made.run(
        "Coretype.objects.create(code='slurm', name='Slurm', region=Region.objects.first(), backend='slurm', cores=1,"
        " memory=1 << 29, price=1, options={'partition': 'main'})"
    )
    yield made
    made.close()


def test_without_an_account_nothing_is_offered_and_nothing_submitted(portal, daemons):
    bert = portal.person("bert")
    job = {"analysis": {"code": "shell"}, "command": "id -un", "hardware": {"coreType": "slurm", "coresPerSlot": 1, "walltime": 1}}
    answer = bert.api.post("/jobs/", json={"name": "mine", "jobanalyses": [job]})
    assert answer.status_code == 400 and "ask an admin to map it" in answer.text
    assert daemons.ask("squeue", "-h", "-t", "all", "-o", "%j").split() == []


def test_a_mapped_persons_job_runs_as_that_and_its_outputs_come_back(portal, daemons):
    anna = portal.person("anna")
    portal.run(f"Account.objects.create(user=User.objects.get(username='anna'), name='{ACCOUNT}')")
    work = anna.submit("id -un; cat in.txt; echo kept > result", core="slurm", inputs=[anna.upload("in.txt", b"an input\n")])
    assert work.ends()["headraceStatus"] == "Completed", work.events
    assert work.log() == f"{ACCOUNT}\nan input\n".encode()
    assert work.output("result") == b"kept\n"
    assert set(daemons.ask("squeue", "-h", "-t", "all", "-o", "%u").split()) == {ACCOUNT}
    running = anna.submit("echo ready; while :; do sleep 0.1; done", core="slurm")
    running.says(b"ready\n")
    assert running.stop() == 202
    assert running.ends()["headraceStatus"] == "Stopped"
    until(lambda: daemons.running() == [])
    for one in (work, running):
        history_is_whole(one)
        money_is_exact(one)
