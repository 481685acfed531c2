"""`manage.py slurm`: what nodes the Slurm cluster has, and with --add a coretype for each kind of them."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.text import slugify

from jobs import backends
from jobs.backends.slurm import Slurm
from jobs.backends.slurm_kinds import Kind
from jobs.models import Coretype, Region

WEEK = 7 * 86400


class Command(BaseCommand):
    help = "Show the kinds of nodes of the Slurm cluster; --add offers each as a coretype (one that is there stays as it is)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--backend", default="slurm", help="its name in the settings")
        parser.add_argument("--add", action="store_true", help="make the coretypes")
        parser.add_argument("--price", default="0", help="of a core and hour, for new ones")

    def handle(self, *args: Any, **options: Any) -> None:
        for kind in self._kinds(options["backend"]):
            code, added = _code(kind), False
            if options["add"]:
                added = _offer(kind, code, options["backend"], _price(options["price"]))
            limit = f"{kind.longest / 3600:.0f} h" if kind.longest else "no limit"
            line = f"{code}: {kind.nodes} nodes of {kind.cores} cores, {kind.memory >> 30} GiB, {kind.gres or 'no GPU'}, {limit}"
            self.stdout.write(line + (" (added)" if added else ""))

    def _kinds(self, name: str) -> list[Kind]:
        try:
            backend = backends.get(name)
            kinds = list(backend.kinds()) if isinstance(backend, Slurm) else []
        except (backends.TryAgain, backends.Refused) as error:
            raise CommandError(str(error)) from None
        if not kinds:
            raise CommandError(f"backend {name} shows no nodes")
        return kinds


def _offer(kind: Kind, code: str, backend: str, price: Decimal) -> bool:
    """Whether it is new."""
    region, _ = Region.objects.get_or_create(code=backend, defaults={"name": "Slurm cluster"})
    longest = min(kind.longest or WEEK, WEEK)
    values = {
        "name": f"{kind.partition}, {kind.cores} cores" + (f", {kind.gres}" if kind.gres else ""), "region": region, "backend": backend,
        "cores": kind.cores, "memory": kind.memory, "max_nodes": kind.nodes, "price": price,
        "walltime_max": longest, "walltime_default": min(4 * 3600, longest),
        "options": {"partition": kind.partition} | ({"gres": kind.gres} if kind.gres and "," not in kind.gres else {}),
    }  # fmt: skip
    return Coretype.objects.get_or_create(code=code, defaults=values)[1]


def _code(kind: Kind) -> str:
    return slugify(f"{kind.partition}-{kind.cores}c-{kind.memory >> 30}g" + (f"-{kind.gres}" if kind.gres else ""))[:40]


def _price(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise CommandError(f"{text!r} is no price") from None
