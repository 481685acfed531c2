"""A portal that is away, answers half, refuses, or hands the command to somebody else."""

import os
import shutil
import ssl
import subprocess

import pytest

LINES = "for i in $(seq 1 200); do echo line $i; sleep 0.005; done"
EXPECTED = b"".join(b"line %d\n" % number for number in range(1, 201))


def test_portal_that_says_503_for_a_while(agent, portal, until):
    portal.spec["commands"] = [LINES]
    portal.down = True
    agent.start()
    until(lambda: "503" in (agent.folder / "agent.log").read_text())
    portal.down = False
    until(lambda: portal.log())
    portal.down = True
    until(lambda: agent.mark("exit.json"))
    portal.down = False
    assert agent.finished()["code"] == 0
    assert portal.log() == EXPECTED


def test_portal_that_is_killed_and_comes_back(agent, portal, until):
    portal.spec["commands"] = [LINES, "echo x > out.txt"]
    agent.start()
    until(lambda: portal.log())
    portal.stop()
    until(lambda: agent.mark("exit.json"))
    portal.start(portal.port)
    assert agent.finished()["code"] == 0
    assert portal.log() == EXPECTED
    assert portal.files["out.txt"] == b"x\n"


def test_answers_cut_in_half_are_asked_for_again(agent, portal):
    portal.cut = 12
    exit = agent.run("echo run >> runs.txt", "seq 1000", "head -c 2000000 /dev/zero > big.bin")
    assert exit["code"] == 0
    assert portal.cut == 0
    assert portal.log() == b"".join(b"%d\n" % number for number in range(1, 1001))
    assert portal.files["runs.txt"] == b"run\n"
    assert len(portal.files["big.bin"]) == 2000000


def test_go_that_must_wait_for_other_nodes(agent, portal, until):
    portal.ready = False
    agent.start()
    until(lambda: len(portal.bodies("go")) >= 2)
    assert portal.bodies("started") == []
    portal.ready = True
    assert agent.finished()["code"] == 0
    assert len(set(portal.bodies("go"))) == 1


def test_command_handed_to_another_ends_the_agent(agent, portal, until):
    portal.nonce = "somebody else's"
    portal.spec["commands"] = ["touch ran"]
    agent.start()
    until(agent.gone)
    assert not (agent.work / "ran").exists()


def test_release_while_running_ends_everything(agent, portal, until):
    portal.spec["commands"] = ["setsid sleep 600 & echo armed; trap '' TERM; sleep 600"]
    agent.start()
    until(lambda: b"armed" in portal.log())
    portal.release()
    until(agent.gone)
    assert agent.processes() == []


def test_release_by_orders_ends_the_agent(agent, portal, until):
    agent.run("true")
    portal.order(release=True)
    until(agent.gone)


def test_other_nodes_only_say_hello_and_obey(make_agent, portal, until):
    token = f"hrtest{os.getpid()}-job-nodes-1"
    head, other = make_agent("head", token=token, nodes=2), make_agent("other", token=token, node=1, nodes=2)
    portal.ready = False
    portal.spec["commands"] = ["echo $HEADRACE_HOSTS $HEADRACE_NODES; sleep 600"]
    other.start()
    head.start()
    until(lambda: {body["node"] for body in portal.bodies("hello")} == {0, 1})
    portal.ready = True
    until(lambda: portal.log())
    assert portal.log() == b"one,two 2\n"
    head.kill("holder")  # ends the command, not the other node's agent
    assert head.finished()["why"] == "lost"
    assert other.pid("holder")
    assert other.pid("reporter")
    portal.release()
    until(lambda: head.gone() and other.gone())


def test_beats_tell_processes_processor_memory_and_files(agent, portal, until):
    portal.orders["watched"] = True
    portal.spec["commands"] = ["echo 12345 > result.txt; while [ ! -e STOP ]; do :; done"]
    agent.start()
    beat = until(lambda: next((beat for beat in portal.bodies("beat") if beat["cpu"] > 0.1 and beat["files"]), None))
    assert beat["processes"] >= 1
    assert beat["files"] == [{"path": "result.txt", "size": 6}]
    assert (beat["files_total"], beat["bytes_total"]) == (1, 6)
    assert 0 < beat["memory"] < beat["memory_total"]
    assert beat["disk_free"] > 0
    assert beat["disk_used"] >= 6
    (agent.work / "STOP").touch()
    agent.finished()


def test_wrong_secret_is_not_stormed(make_agent, portal, until):
    agent = make_agent(secret="wrong")
    agent.start()
    until(lambda: "401" in (agent.folder / "agent.log").read_text())
    assert portal.heard == []


def test_folder_that_can_not_be_made_is_told_and_an_error(make_agent, portal):
    agent = make_agent(folder="/proc/no/such")
    with pytest.raises(subprocess.CalledProcessError) as failure:
        agent.start()
    assert failure.value.returncode == 1
    assert "/proc/no" in portal.last("failed")["message"]


def test_log_goes_over_tls_with_a_ca_of_its_own(make_agent, portal, until, tmp_path):
    if not shutil.which("openssl"):
        pytest.skip("needs openssl")
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    portal.server.socket = context.wrap_socket(portal.server.socket, server_side=True)
    agent = make_agent(address=f"https://localhost:{portal.port}", ca=str(cert))
    assert agent.run("echo secure")["code"] == 0
    assert portal.log() == b"secure\n"
