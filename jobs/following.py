"""Follows running jobs by their own output: how far they are, where the residuals go, the alarm when they diverge.

One idea: a turn looks at what has grown, lets one child process read on (jobs.apart), and writes a few words on the job's row
where they have changed. All that is known lies beside the logs, so any worker goes on where another one stopped, and a
job that was not looked at for a day comes to the same chart.
"""

from __future__ import annotations

import atexit
import logging
import time
from collections import deque
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from . import lifecycle, logs, verdicts
from .apart import Children, Exploded
from .apart.files import Described, described
from .models import Event, Job, JobInput, Software, Turn, touch
from .models.fields import fit
from .places import path_of

log = logging.getLogger(__name__)

EVERY = 1.8
"""Seconds between the beginnings of two turns: a page is told at most that often."""
LEASE = 30.0
WORK = 6.0
"""Seconds that a turn works on jobs that lag behind; the rest is left to the next one."""
BYTES = 8 << 20
"""Read of one job before the next one gets its chance."""
PATIENCE, LONGEST, MEMORY = 15.0, 60.0, 256 << 20
"""Seconds and bytes that the child may take for one answer; more seconds where the decks, read once, are big."""
SPEED = 20 << 20
"""Bytes of a deck that are read in a second at least."""
AFTER = timedelta(minutes=10)
"""For which an ended job may still lag behind."""
PAUSE = 60.0
"""Seconds without a look at a job whose output made the child explode."""

children = Children(1, MEMORY)
atexit.register(children.end)
_seen: dict[str, tuple[Any, ...]] = {}
_pauses: dict[str, float] = {}


def turn(now: datetime | None = None) -> int:
    """Read on in the output of every followed job; how many have news."""
    moment = now or timezone.now()
    if not Turn.take("follow", moment, LEASE):
        return 0
    try:
        return _tell(_read_on(_candidates(moment)), moment)
    finally:
        Turn.objects.filter(name="follow").update(until=moment + timedelta(seconds=EVERY))


def finish(jobs: Sequence[Job], now: datetime) -> None:
    """The last look at jobs whose logs are complete, whatever it takes; what can't be read is left."""
    codes = _codes()
    found = {job: _to_the_end(job) for job in jobs if job.software.software.code in codes}
    _tell({job: {**said, "complete": True} for job, said in found.items() if said}, now)


def is_diverging(job: Job, attempt: int) -> dict[str, Any] | None:
    """The alarm of divergence that was raised in this attempt, with the words for where it was, or None."""
    said = job.progress if job.progress.get("attempt") == attempt else {}
    alarm = said.get("alarm")
    return {**alarm, "where": said.get("text", "")} if alarm and alarm["diverging"] else None


# --- whom to look at --------------------------------------------------------------------------------------------------
def _codes() -> list[str]:
    """The software whose output we can follow."""
    found = Software.objects.values_list("code", flat=True)
    return [code for code in found if verdicts.code_of(code)]


def _candidates(now: datetime) -> list[Job]:
    """Jobs that run, or ended a moment ago and were not read to their end."""
    active = Q(workload__status__in=(lifecycle.RUNNING, lifecycle.STOPPING))
    ended = Q(workload__status__in=lifecycle.REST_CODES, workload__since__gt=now - AFTER)
    found = Job.objects.filter(software__software__code__in=_codes()).filter(active | ended)
    jobs = [job for job in found.select_related("workload", "software__software") if not _of(job).get("complete")]
    for known in (_seen, _pauses):
        for public_id in known.keys() - {job.workload.public_id for job in jobs}:
            del known[public_id]
    return [job for job in jobs if _pauses.get(job.workload.public_id, 0) < time.monotonic()]


def _of(job: Job) -> dict[str, Any]:
    """What was told of this attempt, without when."""
    told = job.progress if job.progress.get("attempt") == job.workload.attempt else {}
    return {name: value for name, value in told.items() if name not in ("at", "attempt")}


# --- reading ----------------------------------------------------------------------------------------------------------
def _read_on(jobs: Sequence[Job]) -> dict[Job, dict[str, Any]]:
    """What is to be told of each job that grew. Those that lag behind take turns."""
    found: dict[Job, dict[str, Any]] = {}
    line, end = deque(sorted(jobs, key=lambda job: job.workload.public_id in _seen)), time.monotonic() + WORK
    while line and time.monotonic() < end:
        job = line.popleft()
        over = job.workload.status in lifecycle.REST_CODES
        said = _look(job, over)
        if said is None:
            continue
        found[job] = {**said, "complete": over and not said.get("behind")}
        if said.get("behind"):
            line.append(job)
    return found


def _to_the_end(job: Job) -> dict[str, Any] | None:
    _seen.pop(job.workload.public_id, None)
    said, end = None, time.monotonic() + PATIENCE
    while time.monotonic() < end:
        said = _look(job, True) or said
        if not said or not said.get("behind"):
            break
    return said


def _look(job: Job, last: bool) -> dict[str, Any] | None:
    """What the job's output says now; None where nothing is new. What can't be read is said and left alone for a while."""
    streams, public_id = _streams(job), job.workload.public_id
    sizes = (job.workload.attempt, last, [stream[:2] + stream[3:4] for stream in streams])
    if not streams or _seen.get(public_id) == sizes:
        return None
    try:
        said: dict[str, Any] = _asked(job, streams, last)
    except Exploded as error:
        log.warning("the output of %s could not be followed: %s", public_id, error)
        _pauses[public_id] = time.monotonic() + PAUSE
        return {**_of(job), "trouble": str(error), "behind": False}
    if not said["behind"]:
        _seen[public_id] = sizes
    return said


def _asked(job: Job, streams: Sequence[Sequence[Any]], last: bool) -> dict[str, Any]:
    question = _question(job, streams, last)
    patience = min(LONGEST, PATIENCE + sum(size for _, size, _ in question["files"]["files"]) / SPEED)
    return children.ask("follow", question, patience, _opener(job))  # type: ignore[no-any-return]


def _streams(job: Job) -> list[list[Any]]:
    """stdout and the streams that the solver writes, as the child wants them: name, generation, path, size, gaps."""
    directory = logs.attempt_dir(job.workload.public_id, job.workload.attempt)
    wanted = {"stdout", *job.followed_streams()}
    found = []
    for stream in logs.streams(directory):
        if stream.name in wanted and stream.size:
            path = logs.log_path(directory, stream.name, stream.generation)
            gaps = [[gap.start, gap.end] for gap in logs.gaps(directory, stream.name, generation=stream.generation)]
            found.append([stream.name, stream.generation, str(path), stream.size, gaps])
    return found


def _question(job: Job, streams: Sequence[Sequence[Any]], last: bool) -> dict[str, Any]:
    work = job.workload
    return {
        "folder": str(logs.course_dir(logs.attempt_dir(work.public_id, work.attempt))),
        "software": job.software.software.code,
        "command": job.command,
        "files": _files(list(job.inputs.select_related("file"))),
        "streams": streams,
        "limit": BYTES,
        "last": last,
    }


def _files(uses: Sequence[JobInput]) -> Described:
    """The inputs: decks say how many steps were asked for."""
    return described(
        {use.name: use.file.size for use in uses},
        {use.name: path for use in uses if (path := path_of(use.file.key))},
        [use.name for use in uses if use.unpack],
    )


def _opener(job: Job) -> Any:
    def opener(name: str) -> Any:
        return default_storage.open(job.inputs.get(name=name).file.key, "rb")

    return opener


# --- telling ----------------------------------------------------------------------------------------------------------
def _tell(found: Mapping[Job, dict[str, Any]], now: datetime) -> int:
    """Write down what has changed, with an event for a new alarm; how many jobs have news."""
    if not found:
        return 0
    woken: dict[bool, list[int]] = {True: [], False: []}
    with transaction.atomic():
        rows = Job.objects.select_for_update().order_by("pk").in_bulk([job.pk for job in found])
        for job, said in found.items():
            row = rows.get(job.pk)
            if row is not None and (changed := _write(job, row.progress, _clean(said), now)):
                woken[changed == "alarm" and job.stop_when_diverging].append(job.pk)
        for due, ids in woken.items():
            touch(ids, now, due) if ids else None
    return len(woken[True]) + len(woken[False])


def _write(job: Job, before: Mapping[str, Any], said: dict[str, Any], now: datetime) -> str:
    """What is new: "alarm", "words", or nothing."""
    attempt = job.workload.attempt
    old = {name: value for name, value in before.items() if name != "at"} if before.get("attempt") == attempt else {}
    said = {**{name: value for name, value in said.items() if name != "behind"}, "attempt": attempt, "first": old.get("first")}
    if said["first"] is None and said.get("percent") is not None:
        said["first"] = [said["percent"], now.timestamp()]  # a pace counts from here
    if said == old or not _worth_telling(said, old):
        return ""
    job.progress = {**said, "at": now.timestamp()}
    Job.objects.filter(pk=job.pk).update(progress=job.progress)
    alarm, known = said.get("alarm"), old.get("alarm")
    if not alarm or (known and known["diverging"] >= alarm["diverging"]):
        return "words"
    _event(job, said["alarm"], now)
    return "alarm"


def _worth_telling(said: Mapping[str, Any], old: Mapping[str, Any]) -> bool:
    """Output that nothing is known of leaves the row as it is."""
    return bool(old or said.get("text") or said.get("series") or said.get("alarm") or said.get("trouble"))


def _event(job: Job, alarm: Mapping[str, Any], now: datetime) -> None:
    where = f" ({alarm['file']} line {alarm['line']})" if alarm.get("line") else ""
    Event.beside(job.workload, now, "solver", "alarm", f"{alarm['message'][:300]}{where}").save()


def _clean(value: Any) -> Any:
    """Every text in it fit for a column."""
    if isinstance(value, dict):
        return {name: _clean(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_clean(one) for one in value]
    return fit(value) if isinstance(value, str) else value
