"""The README's production set-up, taken from its text: nginx in front of a portal, the systemd unit, sudo's rule."""

from __future__ import annotations

import http.client
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.e2e.real_portal import ROOT, Person
from tests.waiting import until

README = (ROOT / "README.md").read_text(encoding="utf-8")
AROUND = "daemon off; pid {place}/pid; error_log stderr; worker_processes 1; user root;\nevents {{ }}\nhttp {{ access_log off; {temporary}\n{site}\n}}\n"
TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


def block(language: str) -> str:
    found = re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)
    assert len(found) == 1
    return found[0]


def program(name: str) -> str:
    path = shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin")
    if not path:
        pytest.skip(f"no {name} on this machine")
    return path


def configured(place: Path, site: str) -> Path:
    path = place / "nginx.conf"
    temporary = " ".join(f"{name}_temp_path {place}/{name};" for name in TEMPORARY)
    path.write_text(AROUND.format(place=place, temporary=temporary, site=site))
    return path


@pytest.fixture
def certified(tmp_path) -> str:
    """The README's site with a certificate of its own."""
    words = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=portal.example.org", "-days", "1"]
    subprocess.run([program("openssl"), *words, "-keyout", tmp_path / "key", "-out", tmp_path / "pem"], check=True, capture_output=True)
    return block("nginx").replace("/etc/ssl/portal.pem", f"{tmp_path}/pem").replace("/etc/ssl/portal.key", f"{tmp_path}/key")


def test_nginx_takes_the_readmes_site(certified, tmp_path):
    done = subprocess.run([program("nginx"), "-t", "-c", configured(tmp_path, certified)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def behind(engineer: Person, tmp_path) -> Iterator[str]:
    """The address of the shared portal behind the README's nginx, without its certificate."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    site = re.sub(r"upstream headrace \{.*?\}", f"upstream headrace {{ server 127.0.0.1:{engineer.portal.port}; keepalive 16; }}", block("nginx"))
    site = re.sub(r".*ssl_certificate.*\n", "", site).replace("listen 443 ssl http2", f"listen 127.0.0.1:{port}")
    assert str(port) in site and "ssl" not in site
    proxy = subprocess.Popen([program("nginx"), "-c", configured(tmp_path, site)])
    try:
        until(lambda: not socket.socket().connect_ex(("127.0.0.1", port)))
        yield f"http://127.0.0.1:{port}"
    finally:
        proxy.terminate()
        proxy.wait(30)


def test_pages_uploads_downloads_and_pushes_pass_through_nginx(engineer, behind):
    with httpx.Client(base_url=f"{behind}/api/v2", headers=dict(engineer.api.headers), timeout=60, trust_env=False) as api:
        content = b"x" * (8 << 20)
        file = api.post("/files/contents/", files={"file": ("big.bin", content)})
        assert file.status_code == 201, file.text
        assert api.get(f"/files/{file.json()['id']}/contents/").content == content
    assert httpx.get(f"{behind}/signin/", trust_env=False).status_code == 200
    work = engineer.submit("sleep 1", "behind nginx")
    frames = b""
    with live(behind, engineer.cookie(), f"/live/jobs/{work.id}/?page=status") as stream:
        begin = time.monotonic()
        while b"Completed" not in frames and time.monotonic() - begin < 60:
            frames += stream.recv(65536)
    assert b"Running Job" in frames and b"Completed" in frames  # each step was pushed
    work.ends()


class live:
    """A websocket by hand, to see what a proxy lets through."""

    def __init__(self, address: str, cookie: str, path: str) -> None:
        self._connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=60)
        headers = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
        self._connection.request("GET", path, headers={**headers, "Cookie": f"sessionid={cookie}", "Origin": address})

    def __enter__(self) -> socket.socket:
        sock = self._connection.sock
        answer = self._connection.getresponse()
        assert answer.status == 101, answer.read()
        return sock

    def __exit__(self, *_: object) -> None:
        self._connection.close()


def test_systemd_takes_the_readmes_unit(tmp_path):
    unit = tmp_path / "headrace-worker.service"
    text = block("ini")
    assert "KillMode=process" in text
    unit.write_text(text.replace("/srv/headrace/.venv/bin/celery", "/bin/true").replace("/srv/headrace", "/").replace("User=headrace", "User=root"))
    done = subprocess.run([program("systemd-analyze"), "verify", unit], capture_output=True, text=True)
    assert "headrace-worker.service:" not in done.stderr, done.stderr


def test_sudo_takes_the_readmes_rule(tmp_path):
    rule = tmp_path / "headrace"
    rule.write_text(block("sudoers"))
    rule.chmod(0o440)
    done = subprocess.run([program("visudo"), "-c", "-f", rule], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr + done.stdout
