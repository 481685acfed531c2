"""A real `manage.py up` in a data folder of its own, on any free port."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import PATIENCE, until

ROOT = Path(__file__).resolve().parents[3]


def clean_environment(data: Path) -> dict[str, str]:
    """Ours without what other settings of the test run would change."""
    ours = ("DJANGO_SETTINGS_MODULE", "SECRET_KEY", "REDIS_URL", "DATABASE_URL", "PORTAL_URL", "AGENT_URL", "ALLOWED_HOSTS")
    kept = {name: value for name, value in os.environ.items() if name not in ours and not name.startswith("HEADRACE_")}
    return kept | {"HEADRACE_DATA": str(data), "PYTHONUNBUFFERED": "1"}


class Up:
    """One run of `up`; `data` is its folder."""

    def __init__(self, data: Path, *words: str, port: int = 0) -> None:
        self.data, self.output = data, data.with_name(data.name + ".out")
        self.environment = clean_environment(data)
        with self.output.open("w") as file:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "up", "--port", str(port), *words], cwd=ROOT, env=self.environment, stdout=file,
                stderr=subprocess.STDOUT,
            )

    @property
    def text(self) -> str:
        return self.output.read_text()

    def ready(self) -> str:
        """The address in the line that says so."""
        def line() -> str:
            assert self.process.poll() is None, self.text
            return next((line.split()[1] for line in self.text.splitlines() if line.startswith("Ready: ")), "")

        return until(line)

    def processes(self) -> dict[str, int]:
        entries = json.loads((self.data / "run" / "processes.json").read_text())
        return {entry["name"]: entry["pid"] for entry in entries}

    def end(self, number: int = signal.SIGTERM) -> float:
        """Send the signal and wait; returns the seconds it took."""
        began = time.monotonic()
        self.process.send_signal(number)
        self.process.wait(30)
        return time.monotonic() - began

    def manage(self, *words: str) -> subprocess.CompletedProcess[str]:
        return manage(self.data, *words)

    def ask(self, sql: str) -> Any:
        """One value from its database, without the seconds that a Django needs to start."""
        with contextlib.closing(sqlite3.connect(self.data / "headrace.sqlite3", timeout=30)) as database:
            return database.execute(sql).fetchone()[0]

    def run(self, code: str) -> str:
        """Python code inside this Headrace, as an admin would run it; returns what it prints."""
        start = "import django; django.setup()\nfrom jobs.models import *\nfrom django.contrib.auth.models import User\n"
        known = self.environment | {"DJANGO_SETTINGS_MODULE": "portal.settings", "PYTHONPATH": str(ROOT)}
        done = subprocess.run([sys.executable, "-c", start + code], cwd=ROOT, env=known, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


def manage(data: Path, *words: str) -> subprocess.CompletedProcess[str]:
    known = clean_environment(data)
    return subprocess.run([sys.executable, "manage.py", *words], cwd=ROOT, env=known, capture_output=True, text=True, timeout=PATIENCE)


@pytest.fixture
def data() -> Iterator[Path]:
    """A folder that users of jobs may pass through, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="headrace-up-"))
    folder.chmod(0o711)
    yield folder / "data"
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def up(data: Path) -> Iterator[Callable[..., Up]]:
    """Starts `up`; whatever was started is ended after the test."""
    started: list[Up] = []

    def start(*words: str, port: int = 0) -> Up:
        started.append(Up(data, *words, port=port))
        return started[-1]

    yield start
    for run in started:
        if run.process.poll() is None:
            run.end()
