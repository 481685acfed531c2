"""Jobs through a whole portal on real Slurm daemons: submit to Completed, stops, and what others do to them meanwhile."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.e2e.promises import history_is_whole, money_is_exact
from tests.e2e.real_portal import Person, Portal, Work, until
from tests.jobs.backends import slurm_daemons

READY = "echo ready; trap 'echo saving; sleep 1; exit 3' TERM; while :; do sleep 0.1; done"


@pytest.fixture(scope="module")
def daemons() -> Iterator[slurm_daemons.Daemons]:
    with slurm_daemons.running(2, 2) as made:
        yield made


@pytest.fixture(scope="module")
def portal(daemons) -> Iterator[Portal]:
    options = {"folder": str(daemons.home / "jobs"), "config": str(daemons.config), "timeout": 5}
    made = Portal(SLURM="1", SLURM_OPTIONS=json.dumps(options))
    made.run(
        "Coretype.objects.create(code='slurm', name='Slurm', region=Region.objects.first(), backend='slurm', cores=2,"
        " memory=1 << 29, max_nodes=2, price=1, options={'partition': 'main'})"
    )
    yield made
    made.close()


@pytest.fixture(scope="module")
def engineer(portal) -> Person:
    return portal.engineer


def gone(daemons, *works: Work) -> None:
    for work in works:
        until(lambda work=work: work.token not in daemons.ask("squeue", "-h", "-o", "%j").split())
        assert work.processes == []
        history_is_whole(work)
        money_is_exact(work)


def test_a_job_goes_from_submit_to_completed_with_its_outputs(engineer, daemons):
    work = engineer.submit("echo hello from $SLURM_JOB_ID; echo kept > result", core="slurm")
    assert work.ends()["headraceStatus"] == "Completed"
    assert work.log().startswith(b"hello from ")
    assert work.output("result") == b"kept\n"
    gone(daemons, work)


def test_inputs_reach_a_job_on_two_nodes(engineer, daemons):
    file = engineer.upload("in.txt", b"an input")
    hardware = {"coresPerSlot": 4}
    work = engineer.submit("cat in.txt; echo; srun sh -c 'echo node $SLURMD_NODENAME'", core="slurm", inputs=[file], hardware=hardware)
    assert work.ends()["headraceStatus"] == "Completed", work.events
    assert b"an input\n" in work.log()
    assert set(work.log().decode().split("node ")[1:]) >= {"n1\n", "n2\n"}
    gone(daemons, work)


def test_stop_is_graceful_and_force_stop_is_at_once(engineer, daemons):
    gently, hard = engineer.submit(READY, core="slurm"), engineer.submit("trap '' TERM; echo ready; while :; do sleep 1; done", core="slurm")
    for work in (gently, hard):
        work.says(b"ready\n")
    assert gently.stop() == 202
    assert gently.ends()["headraceStatus"] == "Stopped"
    assert b"saving\n" in gently.log()
    assert hard.stop() == 202
    assert hard.stop(force=True) == 202
    found = hard.ends(seconds=40)
    assert (found["headraceStatus"], found["reason"]) == ("Stopped", "force-stopped")
    gone(daemons, gently, hard)


def test_a_stop_while_it_waits_in_slurms_queue(engineer, daemons):
    first = engineer.submit(READY, core="slurm", hardware={"coresPerSlot": 4})
    first.says(b"ready\n")
    waiting = engineer.submit("true", core="slurm", hardware={"coresPerSlot": 4})
    until(lambda: "Waits for 2 nodes in partition main" in (waiting.portal.value("select trouble from jobs_cluster where token = ?", waiting.token) or ""))
    assert waiting.stop() == 202
    assert waiting.ends()["headraceStatus"] == "Stopped"
    first.stop()
    first.ends()
    gone(daemons, first, waiting)


@pytest.mark.parametrize("when", ["waiting", "running"])
def test_cancelled_by_somebody_on_the_cluster(engineer, daemons, when):
    first = engineer.submit("trap 'exit 0' TERM; echo ready; while :; do sleep 0.01; done", core="slurm", hardware={"coresPerSlot": 4})
    first.says(b"ready\n")
    work = engineer.submit(READY, core="slurm", hardware={"coresPerSlot": 4}) if when == "waiting" else first
    until(lambda: work.token and daemons.numbers(work.token))
    daemons.ask("scancel", f"--name={work.token}")
    found = work.ends()
    assert (found["headraceStatus"], found["reason"]) == ("Failed", "cancelled-outside")
    first.stop()
    first.ends()
    gone(daemons, first, work)


def test_a_controller_killed_in_mid_run_changes_nothing(engineer, daemons):
    work = engineer.submit("echo ready; until [ -e go ]; do sleep 0.1; done; echo gone on", core="slurm")
    work.says(b"ready\n")
    daemons.save(work.token)
    daemons.end("slurmctld", 9)
    until(lambda: work.portal.value("select unknown_since from jobs_cluster where token = ?", work.token))
    assert work.status == "Running Job"
    daemons.start_controller()
    until(lambda: not work.portal.value("select unknown_since from jobs_cluster where token = ?", work.token))
    next((daemons.home / "jobs" / work.token).glob("*/*/work")).joinpath("go").touch()
    assert work.ends()["headraceStatus"] == "Completed"
    assert work.log() == b"ready\ngone on\n"
    gone(daemons, work)


def test_workers_that_are_killed_find_their_jobs_again(engineer, daemons, portal):
    work = engineer.submit(READY, core="slurm")
    work.says(b"ready\n")
    portal.kill("worker")
    assert work.stop() == 202
    assert work.ends()["headraceStatus"] == "Stopped"
    assert len(daemons.numbers(work.token)) == 1
    gone(daemons, work)
