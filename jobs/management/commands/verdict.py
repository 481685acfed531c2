"""`manage.py verdict`: what a solver's output says of a run, for people and scripts. Needs no database and no service."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

from django.core.management.base import BaseCommand, CommandError, CommandParser

from jobs.verdicts import Ending, Files, Folder, code_of, judge
from jobs.verdicts.base import MODULES
from jobs.verdicts.text import words

# A folder that was kept together with how it was started and how it ended says so in these files.
COMMAND, EXIT = "COMMAND.txt", "EXIT"


class Command(BaseCommand):
    help = "Judges the run that left FOLDER; prints the verdict as JSON; exit 0 if it is converged or finished, else 1."
    requires_system_checks: list[str] = []

    def create_parser(self, *args: Any, **options: Any) -> CommandParser:
        parser = super().create_parser(*args, **options)
        parser.print_usage = lambda file=None: None  # type: ignore[method-assign]  # one clear line is enough
        return parser

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", metavar="FOLDER", help="the job folder as the run left it")
        parser.add_argument("--software", required=True, help=f"one of {', '.join(MODULES)}")
        # Django itself has a --version that prints its own; here it is the software's.
        for action in [one for one in parser._actions if "--version" in one.option_strings]:
            parser._remove_action(action)
            del parser._option_string_actions["--version"]
        parser.add_argument(
            "--version", default="", dest="software_version", help="version that was chosen, to be compared with the one that ran"
        )
        parser.add_argument("--command", default=None, help=f"the launch command (else {COMMAND} of the folder, if there is one)")
        parser.add_argument("--exit-code", type=int, default=None, help=f"exit code of the command (else {EXIT} of the folder, else 0)")
        parser.add_argument("--signal", type=int, default=None, help="number of the signal that ended it")
        parser.add_argument("--log", default=None, help="file with the command's own output, in FOLDER or elsewhere")
        parser.add_argument("--memory-killed", action="store_true", help="it was killed for memory")
        parser.add_argument("--stopped", action="store_true", help="it was stopped by a person, the walltime or the budget")

    def handle(self, *args: Any, **options: Any) -> None:
        folder, software = _checked(options)
        command = options["command"] if options["command"] is not None else words(folder, COMMAND, 64 << 10).strip()
        ending = Ending(_exit_code(folder, options), options["signal"], None, options["stopped"], options["memory_killed"])
        files, log = _log(folder, options["log"])
        verdict = judge(software, files, ending, command, log, options["software_version"])
        self.stdout.write(json.dumps(verdict.as_dict(), indent=1, ensure_ascii=False))
        if not verdict.good:
            sys.exit(1)


def _checked(options: dict[str, Any]) -> tuple[Folder, str]:
    path = Path(options["folder"])
    if not path.is_dir():
        raise CommandError(f"{path} is not a folder", returncode=2)
    code = code_of(options["software"])
    if code is None:
        raise CommandError(f"unknown software {options['software']}; known: {', '.join(MODULES)}", returncode=2)
    return Folder(path), code


def _exit_code(folder: Folder, options: dict[str, Any]) -> int | None:
    if options["exit_code"] is not None:
        return int(options["exit_code"])
    if options["signal"] is not None:
        return None
    kept = words(folder, EXIT, 64).strip()
    return int(kept) if kept.isdigit() else 0


def _log(folder: Folder, log: str | None) -> tuple[Files, str | None]:
    """The folder with the log in it, and the log's name there. A log that lies elsewhere is laid beside the rest."""
    if not log or log in folder.names():
        return folder, log
    path = Path(log).resolve()
    if not path.is_file():
        raise CommandError(f"{log} is no file in {folder.path} or elsewhere", returncode=2)
    try:
        return folder, path.relative_to(folder.path.resolve()).as_posix()
    except ValueError:
        return Beside(folder, path), path.name


class Beside:
    """A folder and one file from elsewhere, under its own name."""

    def __init__(self, folder: Folder, path: Path) -> None:
        self.folder, self.path = folder, path

    def names(self) -> Sequence[str]:
        return [*self.folder.names(), self.path.name]

    def size(self, name: str) -> int:
        return self.path.stat().st_size if name == self.path.name else self.folder.size(name)

    def open(self, name: str) -> BinaryIO:
        return self.path.open("rb") if name == self.path.name else self.folder.open(name)
