"""`manage.py status`: how things stand, for people, monitors and scripts. Exit code 0 if healthy, else 1."""

from __future__ import annotations

import json
import sys
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser
from django.db import DatabaseError
from django.utils import timezone

from portal.launch import options
from portal.standing import Standing, release, standing


class Command(options.OneLineCommand):
    help = "Say how Headrace stands; exit code 0 if it is healthy."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="for scripts")
        parser.add_argument("--data", default=str(settings.DATA_DIR), metavar="DIR", help="the data folder of `up` (HEADRACE_DATA)")

    def handle(self, *args: Any, json: bool, **others: Any) -> None:
        try:
            found = standing(timezone.now(), settings.DATA_DIR)
        except DatabaseError as error:
            found = _without_database(error)
        self.stdout.write(as_json(found) if json else as_text(found))
        sys.exit(0 if found.healthy else 1)


def as_json(found: Standing) -> str:
    return json.dumps(found.as_dict(), indent=2)


def as_text(found: Standing) -> str:
    head = f"Headrace {found.version}: " + ("healthy" if found.healthy else f"not healthy: {'; '.join(found.reasons)}")
    lines = [head, *(f"  {each['name']:8} {each['pid']:>8}  since {each['since']}" for each in found.processes)]
    lines.append(f"Last sweep: {'never' if found.sweep_age is None else f'{found.sweep_age:.1f} s ago'}")
    lines.append("Workloads: " + (", ".join(f"{count} {label}" for label, count in found.workloads.items()) or "none"))
    lines.append(f"Clusters up: {found.clusters_up}, machines unknown to us: {found.unknown_machines}, holds: {found.holds}")
    return "\n".join(lines)


def _without_database(error: DatabaseError) -> Standing:
    said = str(error).strip().splitlines()[0]
    reason = f"the database does not answer: {said} (data folder {settings.DATA_DIR}; --data names another)"
    return Standing(False, [reason], release(), [], None, {}, 0, 0, "0")
