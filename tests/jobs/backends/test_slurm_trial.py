"""A job that only tries whether jobs would run, and what a cluster tells of itself, on real Slurm daemons."""

import json
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from backend_clouds import OnSlurm, carrying, destroy, eventually


class Ours(BaseHTTPRequestHandler):
    """Answers a report without a secret as the portal does."""

    answer = (401, {"message": "unknown cluster or wrong secret"})

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        data = json.dumps(self.answer[1]).encode()
        self.send_response(self.answer[0])
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *arguments):
        pass


class Another(Ours):
    answer = (200, {"hello": "world"})


@pytest.fixture
def serve():
    made = []

    def start(handler):
        made.append(ThreadingHTTPServer(("127.0.0.1", 0), handler))
        threading.Thread(target=made[-1].serve_forever, args=(0.02,), daemon=True).start()
        return f"http://127.0.0.1:{made[-1].server_address[1]}"

    yield start
    for server in made:
        server.shutdown()
        server.server_close()


def tried(backend, token, spec):
    backend.trial(token, spec)
    found = eventually(lambda: (told := backend.tried(token)).good is not None and told, 60)
    assert destroy(backend, token)
    return found


def test_a_trial_finds_all_well_and_leaves_nothing(slurm, backend, serve, spec, token, place):
    found = tried(backend, token, spec(portal=serve(Ours), nodes=3, secret="", agent=""))
    assert (found.good, found.stage) == (True, "over"), found.why
    assert carrying(token) == [] and [path for path in (place / "jobs").rglob("*") if path.is_file()] == []


def test_a_trial_tells_what_is_wrong_on_the_node(slurm, place, serve, spec, token):
    good = serve(Ours)
    (place / "file").write_text("")
    old = place / "old-python"
    old.write_text(f"#!{sys.executable}\nimport sys\nsys.version_info = (3, 5)\nexec(sys.argv[-1])\n")
    old.chmod(0o755)
    wrong = [
        ({}, {"portal": "http://127.0.0.1:9"}, "can't reach the portal"),
        ({}, {"portal": "http://no-such-host.invalid"}, "host name"),
        ({}, {"portal": serve(Another)}, "Something else than this portal"),
        ({}, {"portal": good.replace("http", "https")}, "does not trust|can't reach"),
        ({"folder": str(place / "file" / "jobs")}, {}, "can't be written on the node"),
        ({"python": "/no/python3"}, {}, "option python"),
        ({"python": str(old)}, {}, "too old"),
    ]
    for number, (options, changes, words) in enumerate(wrong):
        found = tried(OnSlurm(place).backend(**options), f"{token}{number}", spec(**{"portal": good, "secret": "", "agent": "", **changes}))
        assert found.good is False and re.search(words, found.why), (words, found)


def test_a_trial_that_waits_says_why(backend, serve, spec, token):
    backend.create(f"{token}1", spec(nodes=3, cores=2))
    backend.trial(f"{token}2", spec(portal=serve(Ours), cores=4, secret="", agent=""))
    assert eventually(lambda: backend.tried(f"{token}2").why.startswith("Waits for a node in partition main"))
    assert backend.tried(f"{token}2").stage == "waits"
    assert destroy(backend, f"{token}1")
    assert eventually(lambda: backend.tried(f"{token}2").good, 60)


def test_what_a_real_cluster_tells_of_itself(slurm, backend):
    found = backend.survey()
    assert found["troubles"] == [] and re.search(r"2\d\.\d\d", found["version"])
    assert (found["cluster"], found["accounting"]) == ("test", False)
    assert {(kind["partition"], kind["cores"]) for kind in found["kinds"]} == {("main", 4), ("main", 2)}
    slurm.end("munged")
    try:
        assert "munge does not answer" in backend.survey()["troubles"][0]
    finally:
        slurm.start_munge()
