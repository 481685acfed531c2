"""A real JupyterLab through the relay: its page, a kernel, nothing on the network, the home it saves."""

import json
import os
import shutil
import subprocess

import pytest

from jobs.backends.local_sandbox import Bubblewrap
from tests.jobs.agent.spoken_workstation import Workstations

PROGRAM = shutil.which("jupyter-lab", path=os.environ.get("HEADRACE_JUPYTER", "") + os.pathsep + os.environ["PATH"])
pytestmark = pytest.mark.skipif(not PROGRAM, reason="needs jupyterlab")
BASE = "/relay/x/app/"


@pytest.fixture
def spoken():
    portal = Workstations()
    portal.session(kind="jupyter", base=BASE)
    portal.orders["watched"] = True
    return portal


@pytest.fixture(params=["none", "bwrap"])
def lab(request, make_agent, portal, until, tmp_path):
    """JupyterLab without a wall, and behind bubblewrap's as the local backend puts it up."""
    walls = behind_bubblewrap(tmp_path / "node0") if request.param == "bwrap" else {}
    agent = make_agent(environment={"PATH": os.path.dirname(PROGRAM) + os.pathsep + os.environ["PATH"]}, **walls)
    agent.start()
    until(lambda: portal.last("ready") or portal.last("exit"), 90)
    assert portal.last("ready") == {"service": "app"}, portal.log()
    return agent


def behind_bubblewrap(base):
    wrap = Bubblewrap().wrap(str(base / "work"), str(base / "tmp"))
    for name in ("work", "tmp"):
        (base / name).mkdir(parents=True)
    try:
        subprocess.run([*wrap, "true"], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs bubblewrap, and a kernel that lets it make namespaces")
    return {"wrap": wrap, "sandbox": "bwrap"}


def ask(portal, method, path, body="", **headers):
    """(status, headers, body) of a request by a stream of its own."""
    stream = portal.relay.open("app")
    lines = [f"{method} {path} HTTP/1.1", "Host: apps.example.org", "Connection: close", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    stream.write(("\r\n".join(lines) + "\r\n\r\n" + body).encode())
    stream.wait_closed(60)
    head, _, rest = bytes(stream.data).partition(b"\r\n\r\n")
    return int(head.split()[1]), head.decode(), rest


def test_lab_kernel_and_home(lab, portal, until):
    status, head, page = ask(portal, "GET", BASE + "lab")
    assert status == 200
    assert b"JupyterLab" in page
    token = head.split("_xsrf=")[1].split(";")[0]
    safe = {"Cookie": f"_xsrf={token}", "X-XSRFToken": token}
    assert ask(portal, "POST", BASE + "api/kernels", "{}")[0] == 403
    status, _, made = ask(portal, "POST", BASE + "api/kernels", '{"name": "python3"}', **safe)
    assert status == 201
    text = json.dumps({"type": "file", "format": "text", "content": "kept"})
    assert ask(portal, "PUT", BASE + "api/contents/note.txt", text, **safe)[0] == 201
    assert (lab.work / "note.txt").read_text() == "kept"
    kernel = json.loads(made)["id"]
    until(lambda: any(kernel.encode() in _words(process.pid) for process in lab.processes()))
    assert _listening(lab) == set()
    until(lambda: any(beat.get("input_at") for beat in portal.bodies("beat")))
    portal.order(wish="suspend")
    assert lab.finished(90)["why"] == "wish"
    assert b"note.txt" in portal.home()
    assert lab.processes() == []


def _words(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read()
    except OSError:
        return b""


def _listening(agent):
    """Sockets that processes of the session listen on in the network."""
    with open("/proc/net/tcp") as four, open("/proc/net/tcp6") as six:
        listening = {f"socket:[{line.split()[9]}]" for line in [*four, *six] if line.split()[3] == "0A"}
    return listening & {link for process in agent.processes() for link in _open(process.pid)}


def _open(pid):
    try:
        return [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
    except OSError:
        return []
