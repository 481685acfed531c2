"""A whole portal with real processes for a test: `manage.py up`, the API of an engineer, SQL, and Python inside of it.

One idea: tests look from outside (API, pages, sockets, /proc, the files of the data folder); what only an admin can do goes
through one long-lived Python process, because starting a Django takes seconds.
"""

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
from pathlib import Path
from typing import Any

import httpx

from tests.e2e.looking import carrying
from tests.waiting import PATIENCE, alive, until

ROOT = Path(__file__).resolve().parents[2]
OVER = {"Completed", "Failed", "Stopped"}
READ_BY_TESTS = ("DJANGO_SETTINGS_MODULE", "SECRET_KEY", "REDIS_URL", "DATABASE_URL", "PORTAL_URL", "AGENT_URL", "ALLOWED_HOSTS", "LOCAL_CORES")
CONSOLE = """
import io, json, sys, contextlib, django
django.setup()
names = {}
exec("from jobs.models import *; from django.contrib.auth.models import User", names)
for line in sys.stdin:
    out, error = io.StringIO(), ""
    try:
        with contextlib.redirect_stdout(out):
            exec(json.loads(line), names)
    except BaseException as raised:
        error = repr(raised)
    print(json.dumps([out.getvalue(), error]), flush=True)
"""


class Portal:
    """`more` are environment variables. Ended by `close`, which leaves no folder behind."""

    def __init__(self, folder: Path | None = None, **more: str) -> None:
        self.home = folder or Path(tempfile.mkdtemp(prefix="headrace-e2e-"))
        self.home.chmod(0o711)  # users of jobs must get through, unlike to pytest's own folders
        self.data, self.output = self.home / "data", self.home / "up.out"
        kept = {name: value for name, value in os.environ.items() if name not in READ_BY_TESTS and not name.startswith("HEADRACE_")}
        self.environment = kept | {"HEADRACE_DATA": str(self.data), "PYTHONUNBUFFERED": "1"} | more
        self.port = 0
        self._console: subprocess.Popen[str] | None = None
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    def _begin(self) -> None:
        self.start()
        self.password = self.run("from portal.launch import demo; print(demo.people())")
        self.token = self.run("print(ApiToken.make(User.objects.get(username='engineer'), 'tests')[1])")
        self.api = self.client(self.token)

    # --- processes ----------------------------------------------------------------------------------------------------
    def start(self) -> None:
        """`up` on the port it had before; returns when the page answers."""
        with self.output.open("a") as file:
            self.up = subprocess.Popen(
                [sys.executable, "manage.py", "up", "--port", str(self.port)], cwd=ROOT, env=self.environment, stdout=file, stderr=subprocess.STDOUT,
            )  # fmt: skip
        said = len(self.output.read_text().split("Ready: ")) if self.port else 1
        until(lambda: self._is_ready(said), 3 * PATIENCE)  # migrations alone are seconds of processor
        self.url = self.output.read_text().split("Ready: ")[-1].split()[0].rstrip("/")
        self.port = int(self.url.rpartition(":")[2])

    def _is_ready(self, said: int) -> bool:
        assert self.up.poll() is None, self.output.read_text()[-2000:]
        return len(self.output.read_text().split("Ready: ")) > said

    def answers(self) -> bool:
        """Whether its web process is there; tests that killed it wait for that."""
        with contextlib.suppress(httpx.TransportError):
            return self.api.get("/users/me/").status_code == 200
        return False

    def pid(self, name: str) -> int:
        """The process of that name which lives now, as soon as there is one."""

        def look() -> int:
            with contextlib.suppress(OSError, ValueError):
                for entry in json.loads((self.data / "run" / "processes.json").read_text()):
                    if entry["name"] == name and alive(entry["pid"]):
                        return entry["pid"]
            return 0

        return until(look)

    def kill(self, name: str, number: int = signal.SIGKILL) -> int:
        pid = self.pid(name)
        os.kill(pid, number)
        return pid

    def end(self) -> None:
        if self.up.poll() is None:
            self.up.send_signal(signal.SIGTERM)
            self.up.wait(30)

    def close(self) -> None:
        if self._console:
            self._console.kill()
            self._console.wait()
        self.up.kill()  # what it started dies with it, without the seconds that an end in order takes
        self.up.wait()
        with contextlib.suppress(sqlite3.Error):
            for (token,) in self.rows("select token from jobs_cluster where released is null"):
                for pid in carrying(token):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.home, ignore_errors=True)

    # --- looking inside -----------------------------------------------------------------------------------------------
    def run(self, code: str) -> str:
        """Python inside this Headrace, as an admin would run it; returns what it prints. Names stay for the next call."""
        if self._console is None:
            known = self.environment | {"DJANGO_SETTINGS_MODULE": "portal.settings", "PYTHONPATH": str(ROOT)}
            self._console = subprocess.Popen([sys.executable, "-c", CONSOLE], cwd=ROOT, env=known, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._console.stdin and self._console.stdout
        self._console.stdin.write(json.dumps(code) + "\n")
        self._console.stdin.flush()
        out, error = json.loads(self._console.stdout.readline())
        assert not error, error
        return out.strip()

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        with contextlib.closing(sqlite3.connect(self.data / "headrace.sqlite3", timeout=30)) as database:
            return database.execute(sql, values).fetchall()

    def value(self, sql: str, *values: Any) -> Any:
        found = self.rows(sql, *values)
        return found[0][0] if found else None

    # --- people -------------------------------------------------------------------------------------------------------
    def client(self, token: str) -> httpx.Client:
        return httpx.Client(base_url=f"{self.url}/api/v2", headers={"Authorization": f"Token {token}"}, timeout=60, trust_env=False)

    def person(self, name: str) -> Person:
        """A new user with a project and money of their own."""
        self.run(
            f"u = User.objects.create_user('{name}', password='pass word {name}')\n"
            f"p = Project.objects.create(code='{name}', name='{name}')\n"
            f"Membership.objects.create(project=p, user=u, role='lead')\n"
            f"Budget.objects.create(project=p, name='{name}', amount=500)"
        )
        return Person(self, name, self.client(self.run("print(ApiToken.make(u, 'tests')[1])")), f"pass word {name}")

    @property
    def engineer(self) -> Person:
        return Person(self, "engineer", self.api, self.password)


class Person:
    """Somebody who uses the portal by its API, and whose session a browser or a socket may borrow."""

    def __init__(self, portal: Portal, name: str, api: httpx.Client, password: str) -> None:
        self.portal, self.name, self.api, self.password = portal, name, api, password

    def upload(self, name: str, content: bytes) -> str:
        answer = self.api.post("/files/contents/", files={"file": (name, content)})
        assert answer.status_code == 201, answer.text
        return answer.json()["id"]

    def draft(self, command: str, name: str = "a job", **more: Any) -> str:
        """`inputs` are file ids, `core` a coretype, `hardware` and `pipefail` go into the analysis, `headers` with the request."""
        headers = more.pop("headers", {})
        hardware = {"coresPerSlot": 1, "walltime": 1, "coreType": more.pop("core", "local")} | more.pop("hardware", {})
        analysis = {"analysis": {"code": "shell"}, "command": command, "hardware": hardware}
        analysis |= {"inputFiles": [{"id": id} for id in more.pop("inputs", ())]} | more
        answer = self.api.post("/jobs/", json={"name": name, "jobanalyses": [analysis]}, headers=headers)
        assert answer.status_code == 201, answer.text
        return answer.json()["id"]

    def submit(self, command: str, name: str = "a job", **more: Any) -> Work:
        work = Work(self, self.draft(command, name, **more))
        answer = self.api.post(f"/jobs/{work.id}/submit/")
        assert answer.status_code == 200, answer.text
        return work

    def cookie(self) -> str:
        """The session of a browser in which this person has signed in."""
        with httpx.Client(base_url=self.portal.url, timeout=60, trust_env=False) as browser:
            browser.get("/signin/")
            form = {"username": self.name, "password": self.password, "csrfmiddlewaretoken": browser.cookies["csrftoken"]}
            answer = browser.post("/signin/", data=form)
            assert answer.status_code == 302, answer.text
            return browser.cookies["sessionid"]


class Work:
    """A job of a person."""

    def __init__(self, person: Person, id: str) -> None:
        self.person, self.id, self.portal = person, id, person.portal

    def look(self) -> dict[str, Any]:
        answer = self.person.api.get(f"/jobs/{self.id}/")
        assert answer.status_code == 200, answer.text
        return answer.json()

    @property
    def status(self) -> str:
        return self.look()["headraceStatus"]

    def reaches(self, *statuses: str, seconds: float = PATIENCE) -> dict[str, Any]:
        """The job as soon as it stands there; fails at once if it is over instead."""

        def there() -> dict[str, Any] | None:
            found = self._patient_look()
            if found is None:
                return None
            now = found["headraceStatus"]
            assert now in statuses or now not in OVER, f"{now}: {found['reason']}: {found['detail']}"
            return found if now in statuses else None

        return until(there, seconds, tell=lambda: str(self.events))

    def ends(self, seconds: float = PATIENCE) -> dict[str, Any]:
        return self.reaches(*OVER, seconds=seconds)

    def _patient_look(self) -> dict[str, Any] | None:
        try:
            return self.look()
        except httpx.TransportError:  # the portal is being killed
            return None

    def stop(self, force: bool = False) -> int:
        return self.person.api.post(f"/jobs/{self.id}/stop/", json={"force": force}).status_code

    @property
    def key(self) -> int:
        return self.portal.value("select id from jobs_workload where public_id = ?", self.id)

    @property
    def attempt(self) -> int:
        return self.portal.value("select attempt from jobs_workload where public_id = ?", self.id)

    @property
    def token(self) -> str:
        return self.portal.value("select token from jobs_cluster where workload_id = ? order by attempt desc", self.key) or ""

    @property
    def events(self) -> list[tuple[Any, ...]]:
        """(before, after, reason, detail), oldest first."""
        return self.portal.rows('select "before", "after", reason, detail from jobs_event where workload_id = ? order by id', self.key)

    def log(self, start: int = 0) -> bytes:
        """All bytes of its output that the portal has."""
        found = b""
        while True:
            answer = self.person.api.get(f"/jobs/{self.id}/log/", params={"offset": start + len(found)})
            assert answer.status_code == 200, answer.text
            found += answer.content
            if start + len(found) >= int(answer.headers["X-Log-Size"]) or not answer.content:
                return found

    def says(self, text: bytes, seconds: float = PATIENCE) -> bytes:
        """The log as soon as it holds `text`."""
        until(lambda: text in self.log(), seconds)
        return self.log()

    def outputs(self) -> dict[str, dict[str, Any]]:
        answer = self.person.api.get(f"/jobs/{self.id}/files/", params={"page_size": 1000})
        assert answer.status_code == 200, answer.text
        return {row["path"]: row for row in answer.json()["results"]}

    def output(self, path: str) -> bytes:
        answer = self.person.api.get(f"/files/{self.outputs()[path]['id']}/contents/")
        assert answer.status_code == 200, answer.text
        return answer.content

    def manifest(self) -> list[dict[str, Any]]:
        """Every line of it, also of what was not copied."""
        code = f"import json; from jobs import outputs; print(json.dumps([[e.path, e.kind, e.size, e.detail] for e in outputs.manifest({self.id!r}, {self.attempt}).all]))"
        return [dict(zip(("path", "kind", "size", "detail"), row, strict=True)) for row in json.loads(self.portal.run(code))]

    @property
    def folder(self) -> Path:
        """Its job folder while the cluster lives."""
        return self.portal.data / "clusters" / self.token / "work"

    @property
    def processes(self) -> list[int]:
        """Living processes of all its clusters."""
        tokens = self.portal.rows("select token from jobs_cluster where workload_id = ?", self.key)
        return [pid for (token,) in tokens for pid in carrying(token)]
