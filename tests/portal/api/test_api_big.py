"""A big file in one multipart request, up and slowly down, through the real server: the web process does not grow with it."""

from __future__ import annotations

import http.client
import json
import threading

import psutil
import pytest

from tests.portal import served

SIZE = 256 << 20
GROWTH = 50 << 20
TOKEN = "import django; django.setup()\nfrom jobs.models import ApiToken\nfrom django.contrib.auth.models import User\nprint(ApiToken.make(User.objects.get(username='owner'), 'x')[1])"
HEAD = b"--xx\r\nContent-Disposition: form-data; name=\"file\"; filename=\"big.bin\"\r\nContent-Type: {'type_id': 1}\r\n\r\n"
TAIL = b"\r\n--xx--\r\n"


class Watch(threading.Thread):
    """The most memory that a process has used while this watches."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.process, self.over, self.most = psutil.Process(pid), threading.Event(), 0

    def run(self):
        while not self.over.wait(0.02):
            self.most = max(self.most, self.process.memory_info().rss)


@pytest.fixture
def portal(tmp_path):
    return served.prepare(tmp_path)


def test_memory_is_flat(portal):
    token = served._run(TOKEN, portal.environment).strip()
    signed = {"Authorization": f"Token {token}"}
    with portal.served() as (port, process):
        line = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
        line.request("GET", "/api/v2/", headers=signed)
        assert line.getresponse().read()
        before = psutil.Process(process.pid).memory_info().rss
        watch = Watch(process.pid)
        watch.start()
        file = sent(line, signed)
        assert got(line, signed, file["id"]) == SIZE
        watch.over.set()
    assert file["decryptedSize"] == SIZE
    assert watch.most - before < GROWTH


def sent(line, signed):
    headers = {**signed, "Content-Type": "multipart/form-data; boundary=xx", "Content-Length": str(len(HEAD) + SIZE + len(TAIL))}
    line.putrequest("POST", "/api/v2/files/contents/")
    for name, value in headers.items():
        line.putheader(name, value)
    line.endheaders()
    line.send(HEAD)
    for _ in range(SIZE >> 20):
        line.send(bytes(1 << 20))
    line.send(TAIL)
    answer = line.getresponse()
    body = answer.read()
    assert answer.status == 201, body
    return json.loads(body)


def got(line, signed, key):
    line.request("GET", f"/api/v2/files/{key}/contents/", headers=signed)
    answer, size = line.getresponse(), 0
    while piece := answer.read(1 << 20):
        size += len(piece)
    return size
