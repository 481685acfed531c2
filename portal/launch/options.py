"""What `up` and `status` are told, by the command line or by the environment.

One idea: settings read HEADRACE_DATA when they are imported, which is before a command parses its arguments. So manage.py
lets `early` look at the command line first; from then on the environment, the settings and the children agree.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import MutableMapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandParser

COMMANDS = ("up", "status", "token")


def early(argv: Sequence[str], environ: MutableMapping[str, str]) -> None:
    """Put `--data DIR` of `up` and `status` into the environment; `status` of a folder that is not there ends here.

    Else the settings would make the folder for it.
    """
    if len(argv) < 2 or argv[1] not in COMMANDS:
        return
    if folder := _value_of("--data", argv[2:]):
        environ["HEADRACE_DATA"] = folder
    if argv[1] == "status" and folder and not Path(folder).is_dir():
        _no_folder(environ["HEADRACE_DATA"], "--json" in argv)


class OneLineCommand(BaseCommand):
    """A command that says what is wrong with its arguments in one line, without the usage text."""

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)

        def error(message: str) -> NoReturn:
            self.stderr.write(f"{subcommand}: {message} (see --help)", ending="\n")
            sys.exit(2)

        vars(parser)["error"] = error
        return parser


def port(text: str) -> int:
    """A port number, 0 for any free one."""
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port; use 1 to 65535, or 0 for any free one")
    return int(text)


def _value_of(option: str, words: Sequence[str]) -> str:
    for index, word in enumerate(words):
        if word.startswith(f"{option}="):
            return word.partition("=")[2]
        if word == option and index + 1 < len(words):
            return words[index + 1]
    return ""


def _no_folder(folder: str, as_json: bool) -> NoReturn:
    reason = f"there is no folder {folder}"
    print(json.dumps({"healthy": False, "reasons": [reason]}) if as_json else f"Not healthy: {reason}")
    sys.exit(1)
