"""Jobs of real solvers on the fake backend, whose recorded output is written as their agents would."""

from pathlib import Path

import factories
import playing
import pytest

from jobs import following, judging, logs
from jobs.models import Check, Job, Workload

RECORDED = Path(__file__).parents[2] / "cases" / "verdicts"


class Run:
    """A job whose command runs, and a hand to write its streams."""

    def __init__(self, clock, case: str, software: str, command: str, **fields) -> None:
        self.clock, self.case = clock, RECORDED / case
        job = factories.job(command=command, software=factories.software(software), **fields)
        self.work = job.workload
        Check.objects.get_or_create(key=job.check_key([]), defaults={"findings": [], "done": clock()})  # the decks are not here
        assert self.work.submit(self.work.owner, clock())
        playing.turn_all(clock)
        self.agents = playing.boot(Workload.objects.get(pk=self.work.pk), clock)
        playing.turn_all(clock)
        self.work.refresh_from_db()
        assert self.work.status == "running"
        self.directory = logs.attempt_dir(self.work.public_id, self.work.attempt)

    @property
    def job(self) -> Job:
        return Job.objects.select_related("workload").get(pk=self.work.pk)

    @property
    def progress(self) -> dict:
        return self.job.progress

    def recorded(self, name: str) -> bytes:
        return (self.case / name).read_bytes()

    def write(self, stream: str, data: bytes, generation: int = 0) -> None:
        logs.write(self.directory, stream, generation, logs.size(self.directory, stream, generation=generation), data)

    def follow(self) -> int:
        self.clock.forward(2)
        return following.turn(self.clock())

    def to_the_end(self, **report) -> Workload:
        playing.finish(self.agents[0], self.clock, **report)
        playing.turn_all(self.clock)
        self.work.refresh_from_db()
        return self.work


@pytest.fixture
def start(clock, cloud, db):
    def started(case: str, software: str, command: str, **fields) -> Run:
        return Run(clock, case, software, command, **fields)

    yield started
    following.children.end()
    judging.children.end()
