"""`true` from submit to Completed on the local backend, split by stage, beside bare fork and exec in the same run.

Run: `uv run --group test python tests/bench/submit.py [rounds]`. Starts a portal of its own by `manage.py up`.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
JOB = {"analysis": {"code": "shell"}, "command": "true", "hardware": {"coreType": "local", "coresPerSlot": 1, "walltime": 1}}
STAGES = {"Queued": "Queued", "Started": "Validating Input", "Validated": "Starting Cluster", "Executing": "Running, Stopping"}


@contextmanager
def portal(code: str = "pass", folder: str = ""):
    """A portal with the admin's token, after some Python inside of it; (address, token). It lives in `folder`, if one is given."""
    with tempfile.TemporaryDirectory(prefix="headrace-bench-") as own:
        data = folder or own
        environment = {**os.environ, "HEADRACE_DATA": data, "PYTHONUNBUFFERED": "1"}
        command = [sys.executable, str(ROOT / "manage.py"), "up", "--port", "0"]
        up = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
        try:
            address = next(line.split("Ready: ")[1].strip() for line in up.stdout if "Ready: " in line)
            token = subprocess.run(
                [sys.executable, "manage.py", "token", "admin"], cwd=ROOT, env=environment, capture_output=True, text=True
            )
            subprocess.run([sys.executable, "manage.py", "shell", "-c", code], cwd=ROOT, env=environment, capture_output=True, check=True)
            yield address, token.stdout.strip()
        finally:
            up.terminate()
            up.wait()


def call(address: str, token: str, path: str, body: object = None):
    request = urllib.request.Request(f"{address}api/v2/{path}", json.dumps(body).encode() if body is not None else None)
    request.add_header("Authorization", f"Token {token}")
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def one(address: str, token: str) -> tuple[float, dict[str, float]]:
    """Seconds from the click to the end, and by stage."""
    job = call(address, token, "jobs/", {"name": "true", "jobanalyses": [JOB]})["id"]
    begin = time.perf_counter()
    call(address, token, f"jobs/{job}/submit/", {})
    while (found := call(address, token, f"jobs/{job}/statuses/")["results"])[0]["status"] != "Completed":
        time.sleep(0.01)
    total = time.perf_counter() - begin
    times = [(entry["status"], datetime.fromisoformat(entry["statusDate"])) for entry in reversed(found)]
    pairs = zip(times, times[1:], strict=False)
    return total, {STAGES[name]: (end - start).total_seconds() for (name, start), (_, end) in pairs if name in STAGES}


def bare() -> float:
    begin = time.perf_counter()
    subprocess.run(["/bin/true"], check=True)
    return time.perf_counter() - begin


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    with portal() as (address, token):
        one(address, token)
        results = [(*one(address, token), bare()) for _ in range(rounds)]
    print(f"{'`true`, submit to Completed':34}{'median s':>10}{'worst s':>10}")
    totals = [total for total, _, _ in results]
    print(f"{'whole':34}{statistics.median(totals):10.3f}{max(totals):10.3f}")
    for stage in STAGES.values():
        times = [stages.get(stage, 0.0) for _, stages, _ in results]
        print(f"{'  ' + stage:34}{statistics.median(times):10.3f}{max(times):10.3f}")
    forks = [seconds for _, _, seconds in results]
    print(f"{'bare fork and exec':34}{statistics.median(forks):10.4f}{max(forks):10.4f}")


if __name__ == "__main__":
    main()
