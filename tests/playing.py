"""Plays the agents of fake clusters: calls the gateway as portal/api/nodes.py does, without a network."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import factories
from django.utils import timezone

from jobs import engine, gateway, gauging, lifecycle, logs, rounds, tokens
from jobs.models import Cluster, Turn, Workload


class Clock:
    """A false clock that tests move by hand."""

    def __init__(self) -> None:
        self.now = timezone.now()

    def __call__(self) -> datetime:
        return self.now

    def forward(self, seconds: float) -> datetime:
        self.now += timedelta(seconds=seconds)
        return self.now


def turn_all(clock: Clock, codes: tuple[str, ...] = ("queued", "validating", "starting", "running", "stopping")) -> None:
    look(clock)
    for code in codes:
        engine.turn(code, clock())


def look(clock: Clock) -> None:
    """What the poll does: ask the backends what they have, afresh."""
    gauging.forget()
    gauging.write(clock())


def callers(work: Workload) -> list[gateway.Caller]:
    cluster = Cluster.objects.get(workload=work, attempt=work.attempt)
    return [gateway.identify(cluster.token, node, tokens.secret_of(cluster.token)) for node in range(cluster.nodes_wanted)]


def boot(work: Workload, clock: Clock) -> list[gateway.Caller]:
    """Every node says hello, the head stages and gets the command, the command starts."""
    agents = callers(work)
    for agent in agents:
        gateway.hello(agent, {"nonce": f"n{agent.node}", "hostname": f"node{agent.node}", "clock": clock().timestamp()}, clock())
    gateway.staged(agents[0], {"files": 0, "bytes": 0}, clock())
    assert gateway.go(agents[0], "n0", clock())["go"]
    gateway.started(agents[0], {"pid": 1}, clock())
    return agents


def beat(agents: list[gateway.Caller], clock: Clock) -> None:
    """A sign of life of every node, at the clock's time."""
    for agent in agents:
        logs.heard(logs.attempt_dir(agent.public_id, agent.attempt), agent.node, clock().timestamp())


def finish(agent: gateway.Caller, clock: Clock, **report: Any) -> None:
    """The command exits, everything is saved."""
    gateway.exited(agent, {"code": 0, "clock": clock().timestamp(), **report}, clock())
    gateway.done(agent, {"files": 0, "bytes": 0}, clock())


def rounds_again() -> None:
    """Let every periodic turn run at once."""
    Turn.objects.exclude(name="queue").update(until=None)


def through(work: Workload, clock: Clock, minutes: int, agents: list[gateway.Caller]) -> None:
    """Minute by minute, with signs of life, until it is no longer running."""
    for _ in range(minutes):
        clock.forward(60)
        beat(agents, clock)
        rounds_again()
        rounds.meter(clock())
        turn_all(clock)
        work.refresh_from_db()
        if work.status != lifecycle.RUNNING:
            return


def walk(work: Workload, clock: Clock, limit: int = 30, **report: Any) -> list[str]:
    """Turn the crank until it is at rest, playing agents that do everything right; the statuses it went through."""
    agents: list[gateway.Caller] = []
    for _ in range(limit):
        turn_all(clock)
        work.refresh_from_db()
        if not work.is_active:
            break
        if work.status == lifecycle.STARTING and not agents:
            agents = boot(work, clock)
        elif work.status in (lifecycle.RUNNING, lifecycle.STOPPING) and agents and not work.cluster.exited:
            clock.forward(10)
            finish(agents[0], clock, **report)
        clock.forward(1)
        rounds_again()
        rounds.poll(clock())
    return [event.after for event in work.events.all() if event.after != event.before]


def submit(clock: Clock, **fields: Any) -> Workload:
    job = factories.job(**fields)
    assert job.workload.submit(job.workload.owner, clock())
    return job.workload


def starting(clock: Clock, **fields: Any) -> Workload:
    """A job that asks for its cluster."""
    work = submit(clock, **fields)
    turn_all(clock, ("queued", "validating", "starting"))
    work.refresh_from_db()
    assert work.status == lifecycle.STARTING
    return work


def running_one(clock: Clock, **fields: Any) -> tuple[Workload, list[gateway.Caller]]:
    """A job whose command runs, and its agents."""
    work = starting(clock, **fields)
    agents = boot(work, clock)
    turn_all(clock)
    work.refresh_from_db()
    assert work.status == lifecycle.RUNNING
    return work, agents
