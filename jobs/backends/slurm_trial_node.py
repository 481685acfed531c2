"""Runs on the node of a trial, behind slurm_node.py in the same text: whether a job's agent would live there.

The one idea: it says what it found by its exit code, for if a job can't be run there, nothing else gets back. Python 3.6.
"""

import http.client
import json
import os
import socket
import ssl
import tempfile
from urllib.parse import urlsplit

ROOM = 64 << 20  # bytes that an agent and a small job want at the least
TRIES = 2


def main(told):  # in the place of slurm_node's
    """The exit code, one of slurm_trial.EXITS."""
    try:
        own(told["folder"])
        with tempfile.TemporaryFile(dir=told["folder"]) as file:
            file.write(b"trial" * 1000)
            file.flush()
            os.fsync(file.fileno())
        room = os.statvfs(told["folder"])
    except OSError as error:
        return 78 if error.errno in (28, 122) else 71  # ENOSPC, EDQUOT
    if room.f_bavail * room.f_frsize < ROOM:
        return 78
    codes = []
    while len(codes) < TRIES and (not codes or codes[-1] == 74):
        codes.append(asked(told))
    return codes[-1]


def asked(told):
    """Whether our portal answers at its address: it refuses a report without a secret in words of its own."""
    address = urlsplit(told["config"]["portal"])
    try:
        connection = connected(address, told["ca"])
        path = address.path.rstrip("/") + "/nodes/" + told["token"] + "/0/hello"
        connection.request("POST", path, b"{}", {"Authorization": "Bearer none", "Headrace-Protocol": "1"})
        answer = connection.getresponse()
        said = json.loads(answer.read(65536).decode("utf-8"))
    except socket.gaierror:
        return 77
    except (ssl.SSLError, ssl.CertificateError):
        return 75
    except OSError:
        return 74
    except (ValueError, http.client.HTTPException):
        return 76
    return 0 if answer.status == 401 and isinstance(said, dict) and "cluster" in str(said.get("message")) else 76


def connected(address, ca):
    if address.scheme != "https":
        return http.client.HTTPConnection(address.hostname, address.port, timeout=20)
    trusts = ssl.create_default_context(cadata=ca or None)
    return http.client.HTTPSConnection(address.hostname, address.port, timeout=20, context=trusts)


def own(folder):
    """Of slurm_node.py, which stands before this text."""
    raise NotImplementedError
