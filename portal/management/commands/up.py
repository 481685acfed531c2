"""`manage.py up`: everything in one terminal.

One idea: whatever can be wrong is found out before anything starts, and said in one line; then children are started and
kept alive until Ctrl-C. What is running on clusters is not ours to end: it goes on, and the next `up` takes it over.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import ERROR, run_checks
from django.core.management import call_command
from django.core.management.base import CommandParser
from django.db import DatabaseError, connections
from django.utils import timezone

from portal import assets
from portal.launch import Refusal, folders, options, ports, processes
from portal.launch.supervisor import Supervisor

PATIENCE = 30.0
"""Seconds until the first line that says that the page does not answer yet; each next one takes twice as long."""


class Command(options.OneLineCommand):
    help = "Start Headrace: database, broker, worker, beat and web, in this terminal."
    requires_system_checks = ()
    requires_migrations_checks = False
    _patience = PATIENCE

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default=settings.HOST, help="address to listen on (HEADRACE_HOST)")
        parser.add_argument("--port", type=options.port, default=settings.PORT, help="0 for any free one (HEADRACE_PORT)")
        parser.add_argument("--data", default=str(settings.DATA_DIR), metavar="DIR", help="folder for everything kept (HEADRACE_DATA)")
        parser.add_argument("--demo", action="store_true", default=settings.DEMO, help="add a project, a user, a job (HEADRACE_DEMO)")

    def handle(self, *args: Any, host: str, port: int, data: str, demo: bool, **others: Any) -> None:
        try:
            lock, port = self._check(Path(data).resolve(), host, port)
            with lock:
                self._prepare(demo)
                self._warn(host, port)
                self._serve(host, port)
        except Refusal as refusal:
            self.stderr.write(f"up: {refusal}")
            sys.exit(1)

    def _check(self, data: Path, host: str, port: int) -> Any:
        """Everything that can refuse to start does so here. Returns the lock and the port."""
        if data != settings.DATA_DIR:
            raise Refusal(f"The settings were read for {settings.DATA_DIR}; write --data in full or set HEADRACE_DATA")
        lock = folders.prepare(data)
        port = ports.free(host, port)
        for problem in run_checks():
            if problem.level >= ERROR:
                raise Refusal(f"{problem.msg}{f' {problem.hint}' if problem.hint else ''} ({problem.id})")
        return lock, port

    def _prepare(self, demo: bool) -> None:
        from portal.launch import seeds

        self.say("Front-end packages ...")
        try:
            assets.fetch(settings.BASE_DIR / "static")
        except assets.AssetsError as error:
            raise Refusal(str(error)) from None
        self.say("Database and catalogue ...")
        try:
            call_command("migrate", verbosity=0, interactive=False)
            seeds.sow()
        except DatabaseError as error:
            raise Refusal(f"The database cannot be used: {str(error).strip().splitlines()[0]}") from None
        self._tell(seeds.ADMIN, seeds.admin())
        if demo:
            self._demo()
        connections.close_all()

    def _demo(self) -> None:
        from portal.launch import demo

        self._tell(demo.ENGINEER, demo.people())
        if name := demo.job():
            self.say(f"Submitted the job {name}")

    def _tell(self, name: str, password: str | None) -> None:
        """A new password goes to the terminal, once, and nowhere else."""
        if password:
            self.say(f"New user {name}, password {password} (shown only this once)")

    def _warn(self, host: str, port: int) -> None:
        from portal.launch import former

        if words := former.moved(folders.run(settings.DATA_DIR), former.address(host, port), timezone.now()):
            self.say(words)
        connections.close_all()

    def _serve(self, host: str, port: int) -> None:
        page = ports.url(host or "127.0.0.1", port) + "/"
        asked = ports.url(ports.reachable(host), port) + "/"
        children = processes.children(settings.DATA_DIR, host, port)
        Supervisor(children, folders.run(settings.DATA_DIR), self.say).run(partial(self._ready, asked, page))

    def _ready(self, asked: str, page: str, waited: float) -> bool:
        """Asks for the page; says once that it answers, and now and then that it does not."""
        wrong = ports.answers(asked)
        if not wrong:
            self.say(f"Ready: {page}")
        elif waited > self._patience:
            self._patience *= 2
            self.say(f"No page yet after {waited:.0f} s: {wrong}; the log is {folders.log(settings.DATA_DIR) / 'web.log'}")
        return not wrong

    def say(self, line: str) -> None:
        try:
            print(line, flush=True)
        except OSError:  # the terminal is gone; the work is not
            sys.stdout = open(os.devnull, "w")  # noqa: SIM115
