"""What other clients of this kind of API send, in their order, with what they read of the answers."""

from __future__ import annotations

import pytest
from django.test import Client

from jobs import lifecycle, logs
from jobs.models import Workload


@pytest.fixture
def running(jobs):
    """A job that runs, with a folder and a log."""
    work = jobs["running"]
    assert logs.size(logs.attempt_dir(work.public_id, work.attempt), "stdout")
    return work


def listed(answer):
    """The results of a page, held to what every client reads of one."""
    found = answer.json()
    assert answer.status_code == 200, found
    assert found.keys() == {"count", "next", "previous", "results"}
    assert found["count"] >= len(found["results"])
    return found["results"]


def test_a_command_line_of_another_portal(me, jobs, running, wing, owner):
    """Interlink: who am I, what is there, a job looked at from all sides."""
    mine = me.get("users/me/").json()
    assert {"email", "fullName", "company", "workspace"} <= mine.keys()
    assert mine["company"]["code"]
    assert [one["id"] for one in listed(me.get("users/me/projects/"))] == [wing.code]
    me.upload("replayed.inp", b"*HEADING\n")
    assert [one["name"] for one in listed(me.get("files/?page_size=5&search=replayed&include_jobs=true&ordering=-dateUploaded"))] == ["replayed.inp"]
    versions = listed(me.get("analyses/"))[0]["versions"]
    assert {"versionCode", "version", "allowedCoreTypes"} <= versions[0].keys()
    kinds = listed(me.get("coretypes/?isActive=true"))
    assert {"code", "name", "price", "lowPriorityPrice", "cores", "memory", "storage", "walltimeRequired", "isDeprecated", "categoryCodes", "processorInfo"} <= kinds[0].keys()
    names = "id name owner dateInserted analysisNames jobStatus clusterStatusDisplay sharedWith storage isVisible".split()
    newest = listed(me.get("jobs/?page_size=3&ordering=-dateInserted"))
    assert all(set(names) <= one.keys() for one in newest)
    assert [one["dateInserted"] for one in newest] == sorted((one["dateInserted"] for one in newest), reverse=True)
    assert running.public_id in [one["id"] for one in listed(me.get("jobs/?job_status=EXECUTING&page_size=100"))]
    base = f"jobs/{running.public_id}/"
    assert "jobStatus" in me.get(base).json()
    assert listed(me.get(f"{base}statuses/"))[0].keys() >= {"status", "statusDate", "statusReason"}
    assert [one["name"] for one in listed(me.get(f"{base}files/?search=output&page_size=10"))] == ["process_output.log"]
    run = listed(me.get(f"{base}runs/"))[0]
    assert {"id", "dateStarted", "dateCompleted", "type", "variables", "outputFileCount", "outputFileSize", "isOptimal"} <= run.keys()
    assert me.get(f"{base}runs/{run['id']}/").json() == run
    listed(me.get(f"{base}runs/{run['id']}/files/"))
    assert isinstance(me.get(f"{base}connection_details/").json(), list)
    assert me.get(f"{base}cluster-load-measurements/?hours=1").status_code == 200


def test_a_command_line_of_another_portal_changes_a_job(me, running, wing):
    """Interlink: tagged, with fields, moved, stopped, deleted."""
    mine, base = me.get("users/me/").json(), f"jobs/{running.public_id}/"
    for name in ("wing", "final"):
        assert me.post(f"{base}tags/", {"name": name}).json() == {"name": name, "normalizedName": name}
    assert [one["name"] for one in listed(me.get(f"{base}tags/"))] == ["wing", "final"]
    assert me("DELETE", f"{base}tags/?name=wing").status_code == 204
    assert me.post(f"{base}custom-fields/", {"mesh": "fine"}).json()["mesh"]["value"] == "fine"
    assert me.get(f"organizations/{mine['company']['code']}/workspaces/{mine['workspace']['id']}/custom-fields/").json()["isEnabled"] is True
    assert me.post(f"{base}storage-devices/", {"storageDevice": {"id": "x"}}).json().keys() == {"storageDevice"}
    assert me.post(f"organizations/{mine['company']['code']}/jobs/{running.public_id}/project-assignment/", {"projectId": wing.code}).status_code in (200, 409)
    assert me.post(f"{base}stop/").status_code in (200, 202)
    assert me("DELETE", base).status_code == 409
    Workload.objects.filter(pk=running.pk).update(status=lifecycle.STOPPED, outcome="stopped", reason="stopped", ended=running.since)
    assert listed(me.get(f"{base}statuses/"))[0]["status"] in ("Completed", "Stopping")
    running.clusters.all().delete()
    assert me("DELETE", base).status_code == 204


def test_a_library_that_watches_folders(me, running):
    """Skymind: upload, list by state, both histories, the folder and the tail of what runs, stop, delete the file."""
    file = me.upload("net.zip", b"PK").json()
    assert file["id"] in [one["id"] for one in listed(me.get("files/?page_size=100"))]
    assert int(me.get(f"files/{file['id']}/contents/")["Content-Length"]) == 2
    assert running.public_id in [one["id"] for one in listed(me.get("jobs/?state=not_completed&page_size=100"))]
    assert running.public_id not in [one["id"] for one in listed(me.get("jobs/?state=completed&page_size=100"))]
    base = f"jobs/{running.public_id}/"
    assert listed(me.get(f"{base}cluster_statuses/"))[0]["status"] == "Started"
    run = listed(me.get(f"{base}runs/"))[0]["id"]
    folder = me.get(f"{base}runs/{run}/directory-contents/").json()
    assert isinstance(folder, list)
    assert all({"path", "resource"} <= one.keys() for one in folder)
    tail = me.get(f"{base}runs/{run}/tail/process_output.log?lines=2").json()
    assert tail["fileType"] == "text"
    assert "\n".join(tail["lines"]).encode() in me.get(f"{base}log/").content
    assert len(tail["lines"]) == 2
    assert me.post(f"{base}stop/").status_code == 202
    assert me("DELETE", f"files/{file['id']}/").status_code == 204


def test_what_the_documentation_of_such_portals_shows(me, running, member, wing):
    """PUT of a file, its kind changed, a job shared, a snapshot, the run stopped, no desktop."""
    from django.core.files.uploadedfile import SimpleUploadedFile
    from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

    body = encode_multipart(BOUNDARY, {"file": SimpleUploadedFile("in.txt", b"1\n2\n")})
    made = Client().generic("PUT", "/api/v2/files/contents/", body, MULTIPART_CONTENT, headers={"Authorization": f"Token {me.text}"})
    assert made.status_code == 201
    file = made.json()
    assert {"id", "name", "typeId", "relativePath", "decryptedSize", "md5", "isUploaded", "downloadUrl"} <= file.keys()
    assert me("PATCH", f"files/{file['id']}/", {"typeId": 4}).status_code == 200
    assert me.get(f"files/{file['id']}/lines/").json()["lines"] == ["1", "2"]
    base = f"jobs/{running.public_id}/"
    Workload.objects.filter(pk=running.pk).update(project=wing)
    assert me.post(f"{base}share/", {"email": member.username, "message": "look"}).json() == {"recipient": member.username, "supportDesk": False}
    snapshot = me.post(f"{base}runs/1/snapshot/").json()
    assert {"data", "exitcode", "lastSnapshotID", "reason"} <= snapshot.keys()
    assert me.get("remote-viz-config/").json()["desktops"] == []
    assert me.get("tasks/abc/").status_code == 404
    assert me.post(f"{base}runs/1/stop/").json() == {}
