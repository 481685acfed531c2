"""One call: signed, to the judged address only, no redirect, one deadline; and TLS by name though the address is pinned."""

from __future__ import annotations

import contextlib
import datetime
import socket
import ssl
import threading

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from jobs.webhooks import addresses, calling, signing


def post(url, **more):
    return calling.post(url, b'{"a": 1}', {"webhook-id": "msg_1"}, **more)


def leading(monkeypatch, *answers):
    """A name server that answers the next of `answers` at each look-up."""
    left, asked, real = list(answers), [], socket.getaddrinfo

    def found(host, port, *args, **kwargs):
        if host[0].isdigit():  # an address already: nobody is asked
            return real(host, port, *args, **kwargs)
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in left.pop(0)]

    monkeypatch.setattr(addresses.socket, "getaddrinfo", found)
    return asked


def test_it_arrives(receiver):
    answer = post(receiver.url)
    assert (answer.code, answer.error, answer.good) == (204, "", True)
    headers, body = receiver.got[0]
    assert body == b'{"a": 1}'
    assert headers["host"] == f"127.0.0.1:{receiver.port}"
    assert headers["content-type"] == "application/json"
    assert headers["webhook-id"] == "msg_1"


def test_nothing_is_sent_to_an_address_inside(receiver, settings):
    settings.WEBHOOK_NETWORKS = []
    answer = post(receiver.url)
    assert answer.code is None
    assert "only public ones" in answer.error
    assert receiver.got == []


def test_a_name_is_looked_up_once_and_the_judged_address_is_the_one_called(receiver, monkeypatch):
    asked = leading(monkeypatch, ["127.0.0.1"], ["10.9.9.9"])
    assert post(f"http://hook.example:{receiver.port}/x").good
    assert asked == ["hook.example"]
    assert receiver.got[0][0]["host"] == f"hook.example:{receiver.port}"
    refused = post(f"http://hook.example:{receiver.port}/x")
    assert refused.code is None
    assert len(receiver.got) == 1


def test_the_next_address_is_tried_where_one_takes_no_connection(receiver, monkeypatch, settings):
    settings.WEBHOOK_NETWORKS = ["127.0.0.0/8"]
    leading(monkeypatch, ["127.9.9.9", "127.0.0.1"])
    assert post(f"http://hook.example:{receiver.port}/").good


def test_a_redirect_is_not_followed(receiver):
    receiver.code, receiver.more = 302, {"Location": receiver.url}
    answer = post(receiver.url)
    assert (answer.code, answer.good) == (302, False)
    assert "not followed" in answer.error
    assert len(receiver.got) == 1


def test_no_proxy_of_the_environment_is_asked(receiver, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert post(receiver.url).good


def test_who_does_not_answer_is_left(receiver):
    receiver.held.clear()
    answer = post(receiver.url, seconds=0.3)
    assert (answer.code, answer.error) == (None, "It did not answer within 0.3 s.")


def test_who_answers_byte_by_byte_is_left_too(settings):
    settings.WEBHOOK_NETWORKS = ["127.0.0.1"]
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        def drip():
            line, _ = server.accept()
            with line:
                try:
                    while not over.wait(0.05):
                        line.sendall(b"H")
                except OSError:
                    pass

        thread = threading.Thread(target=drip, daemon=True)
        thread.start()
        answer = post(f"http://127.0.0.1:{server.getsockname()[1]}/", seconds=0.4)
        over.set()
        thread.join(10)
    assert answer.code is None
    assert answer.error == "It did not answer within 0.4 s."


@pytest.mark.parametrize("reply", [b"", b"SSH-2.0-x\r\n", b"HTTP/1.1 200 OK\r\nX: " + b"y" * 200_000])
def test_what_is_no_http_is_said(settings, reply):
    settings.WEBHOOK_NETWORKS = ["127.0.0.1"]
    with socket.create_server(("127.0.0.1", 0)) as server:
        def answer():
            line, _ = server.accept()
            with line:
                line.recv(4096)
                with contextlib.suppress(OSError):
                    line.sendall(reply)

        threading.Thread(target=answer, daemon=True).start()
        found = post(f"http://127.0.0.1:{server.getsockname()[1]}/", seconds=5)
    assert found.code is None
    assert found.error in ("What it answered is no HTTP.", "The connection broke.")


def test_nobody_there(settings):
    settings.WEBHOOK_NETWORKS = ["127.0.0.1"]
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    assert post(f"http://127.0.0.1:{port}/").error == "It takes no connection."


def test_a_name_that_leads_nowhere(monkeypatch):
    def nowhere(*args, **kwargs):
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    monkeypatch.setattr(addresses.socket, "getaddrinfo", nowhere)
    assert post("https://nothing.example/").error == "Its name leads nowhere."


# --- TLS --------------------------------------------------------------------------------------------------------------
@pytest.fixture
def certificate(tmp_path):
    """For hook.example; (certificate with key, certificate alone)"""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "hook.example")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1)).not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("hook.example")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True).sign(key, hashes.SHA256())
    )  # fmt: skip
    alone, both = tmp_path / "alone.pem", tmp_path / "both.pem"
    alone.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    secret = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    both.write_bytes(secret + alone.read_bytes())
    return both, alone


def test_the_certificate_is_that_of_the_name(receiver, certificate, monkeypatch):
    both, alone = certificate
    served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    served.load_cert_chain(both)
    receiver.server.socket = served.wrap_socket(receiver.server.socket, server_side=True)
    leading(monkeypatch, *[["127.0.0.1"]] * 3)
    assert post(f"https://hook.example:{receiver.port}/").error == "Its certificate is not one to trust."
    trust = ssl.create_default_context(cafile=str(alone))
    monkeypatch.setattr(calling, "_trust", lambda: trust)
    assert post(f"https://hook.example:{receiver.port}/").good
    assert post(f"https://other.example:{receiver.port}/").error == "Its certificate is not one to trust."


# --- signing ----------------------------------------------------------------------------------------------------------
def test_the_example_that_is_shown_verifies_what_is_sent(hook, monkeypatch):
    known: dict = {}
    exec(signing.EXAMPLE, known)
    now, body = 1_800_000_000, b'{"type": "test"}'
    monkeypatch.setattr(known["time"], "time", lambda: now + 10.0)
    headers = signing.headers(hook.key, "msg_1", now, body)
    genuine = known["is_genuine"]
    assert genuine(hook.text, headers, body)
    assert not genuine(hook.text, headers, body + b" ")
    assert not genuine(hook.text, {**headers, "webhook-id": "msg_2"}, body)
    assert not genuine(hook.text, {**headers, "webhook-timestamp": str(now + 1)}, body)
    assert not genuine("whsec_" + "A" * 43 + "=", headers, body)
    monkeypatch.setattr(known["time"], "time", lambda: now + 1000.0)
    assert not genuine(hook.text, headers, body), "an old one"


def test_the_signature_is_that_of_the_specification():
    """The example of Standard Webhooks."""
    import base64

    key = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    headers = signing.headers(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
