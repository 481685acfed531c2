"""Validation: reads the command and the inputs before hardware is paid for.

The one idea to know: `validate` says all it finds and never raises; `run_apart` does the same in a child process
with a limit of memory and a deadline, for inputs that nobody vouches for.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace

from .base import Finding, Folder, Inputs, Request, Severity, Stored, StoredFile, ordered
from .unpacked import unpacked  # here and not later: loading a module of the same name would take the function's place

__all__ = ["Finding", "Folder", "Inputs", "Request", "Severity", "Stored", "StoredFile", "run_apart", "unpacked", "validate"]

MOST = 200  # findings that are told
SHORT = 2_000  # characters of a command
_log = logging.getLogger(__name__)


def validate(request: Request) -> list[Finding]:
    """All findings, errors first. What a validator trips over is logged and costs only its own findings."""
    return ordered(findings(request))


def findings(request: Request) -> Iterator[Finding]:
    """As validate, each finding as soon as it is known."""
    from . import text

    text.start()
    said = 0
    for check in _checks(request):
        try:
            for finding in check:
                said += 1
                if said <= MOST:
                    yield finding
        except MemoryError:
            raise
        except Exception:
            _log.exception("a validator failed on %s", request.software)
    yield from text.cut_short()
    if said > MOST:
        yield Finding(Severity.WARNING, f"There are {said - MOST:,} more findings; mend these first.", thing="findings")


def run_apart(request: Request, seconds: float | None = None, memory: int = 200 << 20) -> list[Finding]:
    """As validate, in a child process with limits. `seconds` None: by the size of the inputs, at least 3.

    A short command of plain words without any input has nothing to explode, and needs no child.
    """
    from .apart import run
    from .syntax import trivial

    if seconds is None and len(request.command) < SHORT and trivial(request.command) and not request.inputs.names():
        return validate(request)
    return run(request, seconds, memory)


def _checks(request: Request) -> Iterator[Iterator[Finding]]:
    from . import command, decks, files, habits, helpers, pythons, solvers
    from .plan import make_plan

    plan = make_plan(request)
    yield command.check(request, plan)
    yield files.check(request, plan)
    for guessed in (helpers, habits, decks, pythons):
        yield guessed.check(request, plan)
    for solver in solvers.chosen(request, plan):
        found = iter(solver.check()(request, plan))
        yield _softened(found) if solver.runs_after_unknown(plan) else found


def _softened(found: Iterator[Finding]) -> Iterator[Finding]:
    """A program that nobody here knows may rewrite a deck before its solver reads it: then no error in it is sure."""
    for finding in found:
        yield replace(finding, severity=Severity.WARNING) if finding.file else finding
