"""`kill -9` of every process in every stage, twenty rounds: one run, one end, every byte of the log, the money exact.

One idea: rounds overlap. A round ends when its victim is dead, not when its job is over, so that what starts again meets
the jobs of earlier rounds in all their stages. The order is shuffled with a fixed seed.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import random
import signal
import tarfile
from dataclasses import dataclass

import httpx

from tests.e2e.promises import budgets_agree, nothing_left
from tests.e2e.real_portal import Portal, Work, until

SEED = 20
STAGES = ["queued", "validating", "starting", "running", "stopping", "completed"]
CHILDREN = ["worker", "web", "valkey", "beat"]
AGENTS = ["reporter", "holder"]
CORES = 4
"""Of the portal that the tests share."""
COMMAND = """echo run >> runs.txt; # round {round}
rm -rf many; for i in $(seq 30); do echo "line $i"; sleep 0.05; done; {more}
wc -l < runs.txt"""
MANY = "for i in $(seq 300); do echo $i > file$i; done"
SAID = b"".join(b"line %d\n" % number for number in range(1, 31)) + b"1\n"


@dataclass
class Round:
    victim: str
    stage: str
    work: Work


def rounds() -> list[tuple[str, str]]:
    """(victim, stage): every agent's death, two of `up`, and a dozen of its children in all stages."""
    chance = random.Random(SEED)
    agents = [(victim, stage) for victim in AGENTS for stage in ("starting", "running", "stopping")]
    children = [(victim, stage) for victim in CHILDREN for stage in STAGES[:-1]]
    chosen = [*agents, ("up", "running"), ("up", chance.choice(["queued", "starting", "stopping"])), *chance.sample(children, 12)]
    chance.shuffle(chosen)
    return chosen


def test_whatever_is_killed_jobs_run_once_and_nothing_is_lost(battered_portal):
    portal = battered_portal
    many = portal.engineer.upload("many.tar", archive())
    played = [play(portal, number, victim, stage, many) for number, (victim, stage) in enumerate(rounds())]
    assert len(played) == 20
    for one in played:
        judge(one)
    nothing_left([one.work for one in played])
    budgets_agree(portal)
    assert list((portal.data / "clusters").glob("hr*")) == []
    until(lambda: httpx.get(f"{portal.url}/health/", trust_env=False).status_code == 200)


def archive() -> bytes:
    """Many small files: what makes the check and the staging long enough to be met."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for number in range(1000):
            entry = tarfile.TarInfo(f"many/{number}")
            entry.size = 5
            tar.addfile(entry, io.BytesIO(b"byte\n"))
    return buffer.getvalue()


def play(portal: Portal, number: int, victim: str, stage: str, many: str) -> Round:
    until(portal.answers)
    if stage == "queued":
        portal.engineer.submit("sleep 1", "takes all cores", hardware={"coresPerSlot": CORES})
    inputs = [many] if stage in ("validating", "starting") else []
    command = COMMAND.format(round=number, more=MANY if stage == "stopping" else "")
    work = portal.engineer.submit(command, f"{victim} dies while {stage}", inputs=inputs)
    until(lambda: stands_in(work, stage), pause=0.002, tell=lambda: f"{victim} in {stage}: {work.events}")
    kill(portal, victim, work)
    return Round(victim, stage, work)


def stands_in(work: Work, stage: str) -> bool:
    """In that stage or past it; in a running one after some lines."""
    now = work.portal.value("select status from jobs_workload where id = ?", work.key)
    assert now not in ("failed", "stopped"), work.events
    reached = now in STAGES and STAGES.index(now) >= STAGES.index(stage)
    return reached and (stage != "running" or now != "running" or b"line 5" in log_file(work))


def log_file(work: Work) -> bytes:
    with contextlib.suppress(OSError):
        return (work.portal.data / "logs" / work.id / str(work.attempt) / "stdout.0.log").read_bytes()
    return b""


def kill(portal: Portal, victim: str, work: Work) -> None:
    if victim in AGENTS:
        kill_agent(portal, victim, work)
        return
    if victim != "up":
        portal.kill(victim)
        return
    portal.up.kill()
    portal.up.wait()
    portal.start()


def kill_agent(portal: Portal, victim: str, work: Work) -> None:
    """Its process as its own mark names it; if the cluster is gone already, the round was too late and kills nobody."""
    mark = portal.data / "clusters" / work.token / "node-0" / f"{victim}.pid"
    until(lambda: mark.exists() or work.portal.value("select releasing from jobs_cluster where token = ?", work.token), pause=0.002)
    with contextlib.suppress(OSError, IndexError):
        os.kill(int(mark.read_text().split()[0]), signal.SIGKILL)


def judge(one: Round) -> None:
    end = one.work.ends()
    told = f"{one.victim} in {one.stage}: {end['headraceStatus']}, {end['reason']}, {end['detail']}, attempt {end['attempt']}"
    print(told)
    runs = one.work.output("runs.txt") if "runs.txt" in one.work.outputs() else b""
    if one.victim == "holder":
        assert end["headraceStatus"] == "Completed" or end["reason"] in {"node-lost", "not-saved"}, told
        assert SAID.startswith(one.work.log()), told
        assert runs.count(b"run") <= 1, told
    if one.victim != "holder" or end["headraceStatus"] == "Completed":
        assert end["headraceStatus"] == "Completed", told
        assert one.work.log() == SAID, told
        assert runs == b"run\n", told
        is_sealed(one.work)


def is_sealed(work: Work) -> None:
    """The agent's last word and what the portal holds agree."""
    seal = json.loads((work.portal.data / "logs" / work.id / str(work.attempt) / "stdout.0.seal").read_text())
    assert seal["complete"]
    assert seal["sha256"] == seal["agent_sha256"] == hashlib.sha256(SAID).hexdigest()


def test_a_reporter_that_dies_three_times_loses_nothing(engineer):
    work = engineer.submit(COMMAND.format(round="of its own", more=""), "its reporter dies often")
    until(lambda: stands_in(work, "running"))
    mark = engineer.portal.data / "clusters" / work.token / "node-0" / "reporter.pid"
    for _ in range(3):
        old = mark.read_text()
        os.kill(int(old.split()[0]), signal.SIGKILL)
        until(lambda old=old: mark.read_text() not in ("", old), pause=0.01)
    judge(Round("reporter", "running", work))
    nothing_left([work])
