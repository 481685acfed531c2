"""Which versions of the catalogue's software the machines of a coretype really have, and what that means for a job.

One idea: a page or a start of the portal only asks (models.Look); one turn of the engine asks the backend, at its own time, and
keeps what answered. A version that was not found is a warning with the remedy, never a refusal: a command may bring its own.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from . import backends
from .models import Coretype, Installed, Job, Look, Software, SoftwareVersion, Turn
from .signals import announce
from .validation import Finding, Severity
from .verdicts import versions

log = logging.getLogger(__name__)

SECONDS = 20.0
"""For one program to tell its version."""
LEASE = 300.0
PLAIN = ("shell", "mpi")
"""Whose absence says nothing: the command is the user's own."""

Found = Mapping[tuple[int, int], str]
"""(coretype id, version id): what answered."""


def carry_out(now: datetime | None = None) -> int:
    """One turn over the looks that wait; how many were done."""
    moment = now or timezone.now()
    if not Look.open().exists() or not Turn.take("look", moment, LEASE):
        return 0
    try:
        return sum(_look(look, moment) for look in Look.open().select_related("coretype"))
    finally:
        Turn.give_back("look")


def found(jobs: Iterable[Job]) -> Found:
    """What is known of the versions that these jobs chose, on the hardware that they chose. One query."""
    wanted = {(job.workload.coretype_id, job.software_id) for job in jobs}
    kinds, chosen = {kind for kind, _ in wanted}, {version for _, version in wanted}
    rows = Installed.objects.filter(coretype__in=kinds, version__in=chosen).values_list("coretype_id", "version_id", "found")
    return {(kind, version): text for kind, version, text in rows if (kind, version) in wanted}


def version_of(job: Job, known: Found) -> str:
    """The version that will run, as far as it is known: the chosen one, or what "installed" was found to be."""
    return job.software.code if versions.names_one(job.software.code) else known.get(key(job)) or job.software.code


def label(version: SoftwareVersion) -> str:
    """A version as a list offers it: with what the machines have where that is not what it says. Its `installed` rows are those
    of the hardware on offer."""
    rows = [] if version.software.code in PLAIN else list(version.installed.all())
    having = [row for row in rows if row.found]
    if not rows:
        return str(version)
    if not having:
        return f"{version} (not found on {_named(rows)})"
    if all(versions.names_one(version.code) and versions.same(version.code, row.found) for row in having):
        return str(version)
    told: dict[str, list[Installed]] = {}
    for row in having:
        told.setdefault(row.found, []).append(row)
    return f"{version} ({'; '.join(f'{text} on {_named(some)}' for text, some in list(told.items())[:3])})"


def findings(job: Job, known: Found) -> Iterator[Finding]:
    """What a look at the hardware says against the chosen version."""
    there, chosen, kind = known.get(key(job)), job.software, job.workload.coretype
    if there is None or chosen.software.code in PLAIN:
        return
    if not there:
        yield _warning(f"{chosen} was not found on {kind} when its software was looked for.", str(chosen),
                       "Choose hardware that has it; go on if the command brings it along or sets it up.")  # fmt: skip
    elif not versions.same(chosen.code, there):
        yield _warning(f"{chosen} was chosen, but {kind} has {chosen.software} {there}.", str(chosen),
                       f"Choose the version {there} (or the one that is installed), or hardware that has {chosen.name}.")  # fmt: skip


def _named(rows: Sequence[Installed]) -> str:
    names = [str(row.coretype) for row in rows]
    return ", ".join(names) if len(names) <= 3 else f"{', '.join(names[:2])} and {len(names) - 2} more"


def key(job: Job) -> tuple[int, int]:
    return job.workload.coretype_id, job.software_id


def _warning(message: str, thing: str, remedy: str) -> Finding:
    return Finding(Severity.WARNING, message, thing=thing, remedy=remedy)


# --- looking ----------------------------------------------------------------------------------------------------------
def _look(look: Look, now: datetime) -> bool:
    kind, asked, trouble = look.coretype, look.asked, ""
    try:
        backend = backends.get(kind.backend)
        answers = _told(backend, kind, _versions())
        with transaction.atomic():
            for version, text in answers.items():
                Installed.note(kind, version, text, now)
    except (backends.TryAgain, backends.Refused) as error:
        trouble = str(error)[:300]
    Look.objects.filter(pk=look.pk, asked=asked).update(done=now, trouble=trouble)
    announce("hardware")
    return True


def _versions() -> Sequence[SoftwareVersion]:
    known = SoftwareVersion.objects.filter(software__active=True).select_related("software")
    return [version for version in known if version.software.detection.get("command")]


def _told(backend: backends.Backend, kind: Coretype, asked: Sequence[SoftwareVersion]) -> dict[SoftwareVersion, str]:
    """What each program calls itself there; empty if nothing answers as the pattern wants."""
    scripts = [f"{version.setup}\n{version.software.detection['command']}" for version in asked]
    said = backend.says(scripts, SECONDS, kind.options)
    return {version: detected(version.software, text) for version, text in zip(asked, said, strict=True)}


def detected(software: Software, said: str) -> str:
    """The version in what the detection command printed, by the software's own pattern."""
    try:
        match = re.search(software.detection["pattern"], said)
        text = match[1].strip(" ,;:)") if match else ""
    except (re.error, IndexError, KeyError, TypeError):
        log.warning("the detection of %s has no usable pattern", software.code)
        return ""
    return text[:80] if versions.names_one(text) else ""
