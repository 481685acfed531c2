"""`manage.py slurm`: what nodes the Slurm cluster has, and with --add a coretype for each kind of them."""

from __future__ import annotations

from dataclasses import asdict
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from jobs import backends, proposing
from jobs.backends.slurm import Slurm
from jobs.backends.slurm_kinds import Kind
from jobs.backends.slurm_look import in_words


class Command(BaseCommand):
    help = "Show the kinds of nodes of the Slurm cluster; --add offers each as a coretype (one that is there stays as it is)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--backend", default="slurm", help="its name in the settings")
        parser.add_argument("--add", action="store_true", help="make the coretypes")
        parser.add_argument("--price", default="0", help="of a core and hour, for new ones")

    def handle(self, *args: Any, **options: Any) -> None:
        price = _price(options["price"])
        for kind in self._kinds(options["backend"]):
            values = proposing.proposed(asdict(kind))
            added = options["add"] and _offer(options["backend"], values, price)
            limit = f"{kind.longest / 3600:.0f} h" if kind.longest else "no limit"
            nodes = f"{kind.nodes} node{'' if kind.nodes == 1 else 's'} of {kind.cores} core{'' if kind.cores == 1 else 's'}"
            line = f"{values['code']}: {nodes}, {kind.memory >> 30} GiB, {kind.gres or 'no GPU'}, {limit}"
            self.stdout.write(line + (" (added)" if added else ""))

    def _kinds(self, name: str) -> list[Kind]:
        try:
            backend = backends.get(name)
            kinds = list(backend.kinds()) if isinstance(backend, Slurm) else []
        except (backends.TryAgain, backends.Refused) as error:
            raise CommandError(in_words(str(error))) from None
        if not kinds:
            raise CommandError(f"backend {name} shows no nodes")
        return kinds


def _offer(backend: str, values: dict[str, Any], price: Decimal) -> bool:
    """Whether it is new."""
    try:
        return proposing.offer(backend, values, price)[1]
    except ValidationError as error:
        raise CommandError("; ".join(error.messages)) from None


def _price(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise CommandError(f"{text!r} is no price") from None
