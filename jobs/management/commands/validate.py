"""`manage.py validate`: the validators for people and scripts, on a folder. Needs no database and no service."""

from __future__ import annotations

import json
import re
import sys
from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandError, CommandParser

from jobs.validation import Folder, Request, Severity, run_apart, unpacked
from jobs.validation.archives import is_archive

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


class Command(BaseCommand):
    help = "Reads the launch command and the inputs in FOLDER; prints findings as JSON; exit 1 if one is an error."
    requires_system_checks: list[str] = []

    def create_parser(self, *args: Any, **options: Any) -> CommandParser:
        parser = super().create_parser(*args, **options)
        parser.error = _one_line  # type: ignore[method-assign]
        return parser

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", metavar="FOLDER", help="the inputs, as the job folder will hold them")
        parser.add_argument("--software", required=True, help="calculix, openfoam, lammps, gromacs, shell...")
        parser.add_argument("--command", required=True, help="the launch command")
        parser.add_argument("--cores", type=_positive, default=1, help="cores in all (default 1)")
        parser.add_argument("--nodes", type=_positive, default=1, help="nodes (default 1)")
        # Django itself has a --version that prints its own; here it is the software's.
        for action in parser._actions:
            if "--version" in action.option_strings:
                parser._remove_action(action)
                del parser._option_string_actions["--version"]
                break
        parser.add_argument("--version", default="", dest="software_version", help="version of the software")
        parser.add_argument("--memory", type=_size, default=None, help="memory of a node, for instance 16G")

    def handle(self, *args: Any, **options: Any) -> None:
        path = Path(options["folder"])
        if not path.is_dir():
            raise CommandError(f"{path} is not a folder", returncode=2)
        found = run_apart(_request(path, options))
        self.stdout.write(json.dumps({"findings": [_shown(finding.as_dict()) for finding in found]}, indent=1))
        if any(finding.severity is Severity.ERROR for finding in found):
            sys.exit(1)


def _one_line(message: str) -> NoReturn:
    print(f"validate: {message}", file=sys.stderr)
    raise SystemExit(2)


def _request(path: Path, options: dict[str, Any]) -> Request:
    inputs = Folder(path)
    command = options["command"].replace("\r\n", "\n")
    packed = [name for name in inputs.names() if is_archive(name) and name.rpartition("/")[2] not in command]
    return Request(
        software=options["software"], version=options["software_version"], command=command, cores=options["cores"],
        nodes=options["nodes"], memory=options["memory"], inputs=unpacked(inputs, packed),
    )  # fmt: skip


def _shown(finding: dict[str, Any]) -> dict[str, Any]:
    return {key: finding[key] for key in ("severity", "file", "line", "thing", "message", "remedy", "fix")}


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise ArgumentTypeError(f"wants a whole number above 0, not {text}")
    return int(text)


def _size(text: str) -> int:
    """Bytes of a size such as 16G, 16GB, 16 GiB or 17179869184."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?\s*", text, re.IGNORECASE)
    if not found:
        raise ArgumentTypeError(f"wants a size such as 16G, not {text}")
    return int(float(found.group(1)) * _UNITS[found.group(2).lower()])
