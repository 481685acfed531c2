"""`manage.py token USER`: makes an API token and prints it, alone, so that scripts can take it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from jobs.models import ApiToken, AuditEntry, Scope


class Command(BaseCommand):
    help = "Make an API token for a user and print it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user")
        parser.add_argument("--scope", choices=Scope.values, default=Scope.RUN)
        parser.add_argument("--name", default="command line")
        parser.add_argument("--days", type=int, help="valid for so many days; without it for ever")
        parser.add_argument("--data", help="the data folder")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(username=options["user"]).first()
        if user is None:
            raise CommandError(f"there is no user {options['user']}")
        if options["scope"] == Scope.ADMIN and not user.is_staff:
            raise CommandError(f"{user} is no admin; take --scope run")
        expires = timezone.now() + timedelta(days=options["days"]) if options["days"] else None
        token, text = ApiToken.make(user, options["name"], options["scope"], expires)
        AuditEntry.note(None, "token made on the command line", token, scope=token.scope)
        self.stdout.write(text)
