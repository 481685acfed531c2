"""Existing clients against a real portal: an unmodified rescalepy from upload to download, others' requests in their order."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import requests

sys.path.insert(0, str(Path(__file__).parent.parent))

from launch.conftest import ROOT, data, up  # noqa: E402, F401  (the fixtures of a real `up`)

from jobs.webhooks.signing import EXAMPLE  # noqa: E402
from tests.waiting import until  # noqa: E402

rescalepy = pytest.importorskip("rescalepy.client")
PAUSE = 0.2
"""Seconds between two of a client's polls."""


class Receiver:
    """What webhooks bring to this machine."""

    def __init__(self) -> None:
        self.got = got = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                got.append(({name.lower(): value for name, value in self.headers.items()}, self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *args):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def receiver():
    made = Receiver()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture
def portal(up, monkeypatch):  # noqa: F811
    """(run, address of the API, token of its admin)"""
    monkeypatch.setenv("WEBHOOK_NETWORKS", "127.0.0.1")
    run = up()
    address = run.ready().rstrip("/") + "/api/v2/"
    made = run.manage("token", "admin", "--scope", "run")
    assert made.returncode == 0, made.stderr
    return run, address, made.stdout.strip()


@pytest.fixture
def client(portal, monkeypatch):
    monkeypatch.setattr(rescalepy, "ENDPOINT", portal[1])
    return rescalepy.Client(api_token=portal[2])


def waited(client, job):
    """Waits as the client does, in a thread so that a wait without end fails the test."""
    thread = threading.Thread(target=client.wait_for_job, args=(job,), kwargs={"interval": PAUSE}, daemon=True)
    thread.start()
    thread.join(120)
    assert not thread.is_alive(), client.get_job_status(job)
    return client.get_job_status(job)


def submitted(client, command, *files):
    kind = requests.get(client.endpoint + "coretypes/", headers=client.headers, timeout=30).json()["results"][0]["code"]
    job = client.create_job("beam", "shell", list(files), command, core_type=kind, n_cores=1, wall_time=1)
    assert client.submit_job(job)
    return job


def test_rescalepy_unmodified(portal, client, tmp_path, receiver):
    signed = {"Authorization": f"Token {portal[2]}"}
    hook = requests.post(portal[1] + "webhooks/", json={"url": f"http://127.0.0.1:{receiver.server.server_address[1]}/"}, headers=signed, timeout=30).json()
    (tmp_path / "case" / "deep").mkdir(parents=True)
    (tmp_path / "case" / "deep" / "a.txt").write_bytes(b"folder\n")
    (tmp_path / "deck.inp").write_bytes(bytes(range(256)) * 40)
    deck, case = client.upload(tmp_path / "deck.inp"), client.upload(tmp_path / "case")
    job = submitted(client, "cp deck.inp out.bin\ncat case/deep/a.txt > out.txt\necho done", deck, case)
    history = waited(client, job)
    assert [entry["status"] for entry in reversed(history)] == ["Pending", "Queued", "Started", "Validated", "Executing", "Completed"], history
    assert (history[0]["statusReason"], history[0]["exitCode"]) == ("Completed successfully", 0)
    files = {one["relativePath"]: one["id"] for one in client.list_job_results_files(job)}
    assert {"out.bin", "out.txt", "process_output.log"} <= files.keys()
    wanted = {"out.bin": bytes(range(256)) * 40, "out.txt": b"folder\n", "process_output.log": b"done\n"}
    for name, content in wanted.items():
        client.download(files[name], tmp_path / f"got-{name}")
        assert (tmp_path / f"got-{name}").read_bytes() == content
    assert client.get_job_details(job)["id"] == job
    assert len(client.list_job_results(job)) == 1
    _the_webhook_was_told(receiver, hook, job)
    _failing_and_stopped_jobs_end_the_wait(client)
    _the_nextflow_plugin(portal)
    _the_tutorial(portal)
    _our_own_client(portal, tmp_path)


def _the_webhook_was_told(receiver, hook, job):
    """Every status of the job in its order, each signed, each once."""
    def told():
        return [(headers, body) for headers, body in receiver.got if json.loads(body)["data"]["id"] == job]

    until(lambda: told() and json.loads(told()[-1][1])["data"]["over"])
    road = [json.loads(body)["data"]["headraceStatus"] for _, body in told()]
    assert road == ["Queued", "Validating Input", "Starting Cluster", "Running Job", "Stopping Cluster", "Completed"]
    known: dict = {}
    exec(EXAMPLE, known)
    assert all(known["is_genuine"](hook["secret"], headers, body) for headers, body in told())
    assert len({headers["webhook-id"] for headers, _ in told()}) == len(road)


def _failing_and_stopped_jobs_end_the_wait(client):
    failing = submitted(client, "echo oops; exit 3")
    history = waited(client, failing)
    assert [(entry["status"], entry["statusReason"]) for entry in history[:2]] == [("Completed", "A run failed"), ("Stopping", "A run failed")]
    assert (history[0]["outcome"], history[0]["exitCode"]) == ("failed", 3)
    stopped = submitted(client, "sleep 600")
    until(lambda: client.get_job_status(stopped)[0]["status"] == "Executing")
    assert requests.post(f"{client.endpoint}jobs/{stopped}/stop/", headers=client.headers, timeout=30).status_code == 202
    assert waited(client, stopped)[0]["statusReason"] == "User Terminated"
    broken = submitted(client, "echo 'unclosed")
    assert waited(client, broken)[0]["outcome"] == "failed"


def _the_nextflow_plugin(portal):
    """users/me, create with licence settings, submit, poll; Stopping never shows on a success."""
    asked = requests.Session()
    asked.headers["Authorization"] = f"Token {portal[2]}"
    base = portal[1]
    assert asked.get(base + "users/me/").json()["workspace"]["id"]
    body = {"name": "nf", "isLowPriority": False, "jobanalyses": [{
        "analysis": {"code": "shell"}, "command": "true", "useRescaleLicense": False, "onDemandLicenseSeller": None,
        "userDefinedLicenseSettings": {"featureSets": []}, "envVars": {"X": "1"}, "hardware": {"coreType": None, "coresPerSlot": 1, "slots": 1, "walltime": 1}}]}
    made = asked.post(base + "jobs/", json=body)
    assert made.status_code == 201, made.text
    job = made.json()["id"]
    assert asked.post(f"{base}jobs/{job}/custom-fields/", json={"run": "r1"}).status_code == 200
    assert asked.post(f"{base}jobs/{job}/submit/").status_code == 200
    seen = until(lambda: (found := asked.get(f"{base}jobs/{job}/statuses/").json()["results"])[0]["status"] == "Completed" and found)
    assert "Stopping" not in [entry["status"] for entry in seen]
    refused = asked.post(base + "jobs/", json={**body, "projectId": "nothing"})
    assert refused.json().keys() == {"projectId"}


def _the_tutorial(portal):
    """Upload, checksum, create, submit, tail while it runs, stop, list, part of a file, delete all."""
    asked, base = requests.Session(), portal[1]
    asked.headers["Authorization"] = f"Token {portal[2]}"
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("in.txt", "hello\n")
    file = asked.post(base + "files/contents/", files={"file": ("in.zip", archive.getvalue())}).json()
    assert asked.get(f"{base}files/{file['id']}/").json()["fileChecksums"][0]["fileHash"] == file["sha256"]
    kinds = asked.get(base + "coretypes/?isActive=true").json()["results"]
    prices = asked.get(base + "billing/computeprices/").json()
    assert {one["coreType"] for one in prices} >= {one["code"] for one in kinds}
    job = asked.post(base + "jobs/", json={"name": "tutorial", "jobanalyses": [{
        "analysis": {"code": "shell"}, "command": "cat in.txt; cp in.txt out.txt; sleep 600",
        "hardware": {"coreType": kinds[0]["code"], "coresPerSlot": 1, "walltime": 1}, "inputFiles": [{"id": file["id"], "decompress": True}]}]}).json()["id"]
    assert asked.delete(f"{base}files/{file['id']}/").status_code == 409
    assert asked.post(f"{base}jobs/{job}/submit/").status_code == 200
    run = asked.get(f"{base}jobs/{job}/runs/").json()["results"][0]["id"]
    until(lambda: asked.get(f"{base}jobs/{job}/runs/{run}/tail/process_output.log?lines=5").json()["lines"] == ["hello"])
    assert asked.get(f"{base}jobs/{job}/log/?wait=5").content == b"hello\n"
    until(lambda: {"in.txt", "out.txt"} <= {one["path"] for one in asked.get(f"{base}jobs/{job}/runs/{run}/directory-contents/").json()})
    until(lambda: asked.get(f"{base}jobs/{job}/runs/{run}/tail/out.txt").json()["lines"] == ["hello"])
    assert asked.get(f"{base}jobs/{job}/instances/").json()["results"][0]["role"] == "MPI_MASTER"
    assert asked.delete(f"{base}jobs/{job}/").status_code == 409
    assert asked.post(f"{base}jobs/{job}/stop/").status_code == 202
    until(lambda: asked.get(f"{base}jobs/{job}/statuses/").json()["results"][0]["status"] == "Completed")
    assert asked.get(f"{base}jobs/{job}/cluster_statuses/").json()["results"][0]["status"] == "Stopped"
    assert asked.get(f"{base}jobs/{job}/runs/{run}/tail/out.txt").json()["lines"] == ["hello"], "the same address for life"
    assert asked.get(f"{base}jobs/{job}/runs/{run}/tail/process_output.log").json()["lines"][0] == "hello"
    out = asked.get(f"{base}jobs/{job}/files/?search=out.txt").json()["results"][0]
    part = asked.get(out["downloadUrl"], headers={"Range": "bytes=1-3"})
    assert (part.status_code, part.content) == (206, b"ell")
    assert asked.delete(f"{base}jobs/{job}/?deleteInputFiles=true").status_code == 204
    assert asked.get(f"{base}files/{file['id']}/").status_code == 404


def _our_own_client(portal, tmp_path):
    """`headrace` as a process: no Django in it, nothing but the API."""
    def headrace(*words, code=0, typed=b""):
        known = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path / "config"), "DJANGO_SETTINGS_MODULE": "nothing", "NO_COLOR": "1", "COLUMNS": "200"}
        done = subprocess.run([sys.executable, "-m", "portal.cli", *words], cwd=ROOT, env=known, input=typed, capture_output=True, timeout=180)
        assert done.returncode == code, (words, done.stdout, done.stderr)
        return done.stdout.decode(), done.stderr.decode()

    assert "headrace login" in headrace("status", code=1)[1]
    assert "valid token" in headrace("login", "--url", portal[1].split("/api/")[0], "--token", "hr_nothing", code=125)[1]
    headrace("login", "--url", portal[1].split("/api/")[0] + "/", "--token", portal[2])
    assert (tmp_path / "config" / "headrace" / "client.json").stat().st_mode & 0o777 == 0o600
    assert "shell" in headrace("software")[0]
    kind = json.loads(headrace("hardware", "--json")[0])[0]["code"]
    (tmp_path / "in" / "sub").mkdir(parents=True)
    (tmp_path / "in" / "sub" / "b.txt").write_bytes(b"b\n")
    (tmp_path / "big.bin").write_bytes(os.urandom(9 << 20))
    (tmp_path / "run.sh").write_text("#!/bin/sh\ncat sub/b.txt\n")
    (tmp_path / "run.sh").chmod(0o755)
    sent = [str(tmp_path / name) for name in ("big.bin", "run.sh")]
    out, _ = headrace("submit", *sent, "--folder", str(tmp_path / "in"), "-H", kind, "-e", "A=1 2", "-c", "./run.sh; echo $A; cp big.bin big.out; exit 7",
                      "--name", "ours", "-f", "-d", str(tmp_path / "out"), code=7)
    assert out == "b\n1 2\n"
    assert (tmp_path / "out" / "big.out").read_bytes() == (tmp_path / "big.bin").read_bytes()
    assert (tmp_path / "out" / "process_output.log").read_bytes() == b"b\n1 2\n"
    job = json.loads(headrace("status", "--json")[0])[0]["id"]
    assert "exit 7" in headrace("status", job)[0]
    assert headrace("tail", job, "-n", "1")[0] == "1 2\n"
    headrace("tail", job, "-f", code=7)
    assert "big.out" in headrace("ls", job)[0]
    _goes_on_after_a_cut(headrace, job, tmp_path)
    assert float(json.loads(headrace("cost", job, "--json")[0])["cost"]) >= 0
    assert "over" in headrace("stop", job, code=125)[1]
    running = headrace("submit", "-c", "-", "-H", kind, "-t", "1", typed=b"sleep 600\n")[0].strip()
    headrace("stop", running, "-w")
    assert json.loads(headrace("status", running, "--json")[0])["outcome"] == "stopped"
    assert "no coretype" in headrace("submit", "-c", "true", "-H", "nothing", code=125)[1]


def _goes_on_after_a_cut(headrace, job, tmp_path):
    file = next(one for one in json.loads(headrace("ls", job, "--json")[0]) if one["name"] == "big.out")
    whole = (tmp_path / "big.bin").read_bytes()
    again = tmp_path / "again"
    again.mkdir()
    (again / f".big.out.{file['id']}.part").write_bytes(whole[:1000])
    headrace("download", job, "big.*", "-o", str(again))
    assert (again / "big.out").read_bytes() == whole
    (again / "big.out").unlink()
    (again / f".big.out.{file['id']}.part").write_bytes(b"?" * 1000)
    assert "did not arrive" in headrace("download", job, "big.out", "-o", str(again), code=125)[1]
    headrace("download", job, "big.out", "-o", str(again))
    assert (again / "big.out").read_bytes() == whole
    headrace("download", job, "nothing*", code=125)
