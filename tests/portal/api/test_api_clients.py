"""Existing clients against a real portal: an unmodified rescalepy from upload to download, others' requests in their order."""

from __future__ import annotations

import io
import sys
import threading
import zipfile
from pathlib import Path

import pytest
import requests

sys.path.insert(0, str(Path(__file__).parent.parent))

from launch.conftest import Up, data, until, up  # noqa: E402, F401  (the fixtures of a real `up`)

rescalepy = pytest.importorskip("rescalepy.client")
PAUSE = 0.2
"""Seconds between two of a client's polls."""


@pytest.fixture
def portal(up):  # noqa: F811
    """(run, address of the API, token of its admin)"""
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
    thread.join(60)
    assert not thread.is_alive(), client.get_job_status(job)
    return client.get_job_status(job)


def submitted(client, command, *files):
    kind = requests.get(client.endpoint + "coretypes/", headers=client.headers, timeout=30).json()["results"][0]["code"]
    job = client.create_job("beam", "shell", list(files), command, core_type=kind, n_cores=1, wall_time=1)
    assert client.submit_job(job)
    return job


def test_rescalepy_unmodified(portal, client, tmp_path):
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
    _failing_and_stopped_jobs_end_the_wait(client)
    _the_nextflow_plugin(portal)
    _the_tutorial(portal)


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
        "analysis": {"code": "shell", "version": "0"} if False else {"code": "shell"}, "command": "cat in.txt; cp in.txt out.txt; sleep 600",
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
