"""`manage.py token USER`: makes an API token and prints it, alone, so that scripts can take it."""

from __future__ import annotations

import os
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, transaction
from django.utils import timezone

from jobs.models import ApiToken, AuditEntry, Scope


class Command(BaseCommand):
    help = "Make an API token for a user and print it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user")
        parser.add_argument("--scope", choices=Scope.values, default=Scope.RUN)
        parser.add_argument("--name", default="command line", help="what the account page calls it")
        parser.add_argument("--days", type=int, help="valid for so many days; without it until it is revoked")
        parser.add_argument("--data", metavar="DIR", help="the data folder of `up` (HEADRACE_DATA)")

    def handle(self, *args: Any, **options: Any) -> None:
        _in_folder(options["data"])
        user = _named(options["user"])
        if user is None or not user.is_active:
            raise CommandError(f"there is no user {options['user']}" if user is None else f"{user} is not active")
        if options["scope"] == Scope.ADMIN and not user.is_staff:
            raise CommandError(f"{user} is no admin; take --scope run")
        if not 0 < len(options["name"]) <= 80:
            raise CommandError("--name has 1 to 80 characters")
        with transaction.atomic():
            token, text = ApiToken.make(user, options["name"], options["scope"], _expires(options["days"]))
            AuditEntry.note(None, "make token on the command line", token, scope=token.scope)
        self.stdout.write(text)


def _named(name: str) -> User | None:
    try:
        return User.objects.filter(username=name).first()
    except DatabaseError as error:
        raise CommandError(
            f"the database of {settings.DATA_DIR} cannot be used: {error}; name the data folder of `up` with --data"
        ) from None


def _expires(days: int | None) -> Any:
    if days is None:
        return None
    if not 0 < days <= 36_500:
        raise CommandError("--days is from 1 to 36500")
    return timezone.now() + timedelta(days=days)


def _in_folder(data: str | None) -> None:
    """Settings are read once, from the environment: for another data folder this starts again."""
    if data and Path(data).resolve() != settings.DATA_DIR:
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "HEADRACE_DATA": str(Path(data).resolve())})
