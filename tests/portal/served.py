"""A whole portal of its own for a test or a benchmark: data folder, a running job with its cluster, a signed-in user."""

import json
import os
import subprocess
import sys
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.portal.asgi_probe import ROOT, running

OURS = "import sys; from portal.server import main; sys.exit(main(['--port', '{port}']))"
UVICORN = "import uvicorn; uvicorn.run('portal.asgi:application', host='127.0.0.1', port={port}, log_level='warning')"

PREPARE = """
import json, os, sys
sys.path.insert(0, "tests")
import django
django.setup()
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
import factories
from jobs import tokens
from jobs.models import Cluster
call_command("migrate", verbosity=0)
owner = factories.user("owner")
kind = factories.coretype(backend="local")
jobs = []
for number in range(int(sys.argv[1])):
    work = factories.job(owner, coretype=kind, status=sys.argv[2], name=f"job {number}").workload
    token = f"hr000000-job-{work.public_id}-1"
    Cluster.objects.create(workload=work, attempt=1, token=token, secret_hash=tokens.hash_of("secret"), backend="local", coretype=kind,
                           nodes_wanted=1, cores=1, price=1, asked=timezone.now(), up=timezone.now(), started=timezone.now())
    jobs.append([work.public_id, token])
client = Client()
client.force_login(owner)
print(json.dumps({"jobs": jobs, "session": client.session.session_key}))
"""
TOUCH = """
import sys, django
django.setup()
from jobs.models import Workload
Workload.objects.get(public_id=sys.argv[1]).touch()
"""


@dataclass(frozen=True)
class Portal:
    folder: Path
    redis: str
    jobs: list[tuple[str, str]]  # public id, token
    session: str

    @property
    def environment(self) -> dict[str, str]:
        return _environment(self.folder, self.redis)

    @contextmanager
    def served(self, code: str = OURS):
        """Gives (port, process)."""
        with running(code, **self.environment) as started:
            yield started

    def touch(self, public_id: str) -> None:
        """A change of the domain in another process, as the engine makes it."""
        _run(TOUCH, self.environment, public_id)

    def log_of(self, public_id: str) -> Path:
        return self.folder / "logs" / public_id / "1"

    def report(self, port: int, token: str, what: str, body: bytes = b"", method: str = "POST", timeout: float = 30):
        """An agent's report; the answer."""
        headers = {"Authorization": "Bearer secret", "Headrace-Protocol": "1"}
        asked = urllib.request.Request(f"http://127.0.0.1:{port}/nodes/{token}/0/{what}", body or None, headers, method=method)
        with urllib.request.urlopen(asked, timeout=timeout) as answer:
            return json.loads(answer.read())

    @property
    def cookie(self) -> dict[str, str]:
        return {"Cookie": f"sessionid={self.session}"}


def prepare(folder: Path, redis: str = "", jobs: int = 1, status: str = "running") -> Portal:
    made = json.loads(_run(PREPARE, _environment(folder, redis), str(jobs), status))
    return Portal(folder, redis, [tuple(job) for job in made["jobs"]], made["session"])


def _environment(folder: Path, redis: str) -> dict[str, str]:
    return {
        **os.environ,
        "HEADRACE_DATA": str(folder),
        "DJANGO_SETTINGS_MODULE": "portal.settings",
        "REDIS_URL": redis,
        "SECRET_KEY": "",
        "DATABASE_URL": "",
        "LOG_LEVEL": "WARNING",
    }


def _run(code: str, environment: dict[str, str], *args: str) -> str:
    run = subprocess.run([sys.executable, "-c", code, *args], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return run.stdout
