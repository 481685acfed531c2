"""A file of 5 GB up in one multipart request, up in chunks that resume, and down again: how fast, and what memory it takes.

Run: `uv run --group test python tests/bench/big_files.py [GiB, 5 unless given]`. A web process of its own; twice the size must
be free on the disk. Beside the speeds stands a copy of the file on the same disk with its SHA-256, as the bare limit.
"""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from tests.portal import served  # noqa: E402
from tests.portal.api.test_api_big import HEAD, TAIL, TOKEN, Watch  # noqa: E402

MIB, CHUNK = 1 << 20, 8 << 20
PIECE = bytes(range(256)) * (MIB // 256)


def main(gib: float) -> None:
    size = int(gib * (1 << 30)) // MIB * MIB
    wanted = hashlib.sha256()
    for piece in pieces(size):
        wanted.update(piece)
    with tempfile.TemporaryDirectory(prefix="headrace-bench-") as folder:
        portal = served.prepare(Path(folder))
        token = served._run(TOKEN, portal.environment).strip()
        print(f"{size / (1 << 30):.1f} GiB{'':22}{'MiB/s':>8}{'memory grew by':>18}")
        print(f"{'copy on this disk (bare)':30}{size / MIB / timed(lambda: copied(Path(folder) / 'copy', size)):8.0f}")
        with portal.served() as (port, process):
            line = http.client.HTTPConnection("127.0.0.1", port, timeout=1800)
            ask(line, "GET", "/api/v2/", token)
            for name, send in {"one multipart POST": multipart, "chunks of 8 MiB": chunks}.items():
                file = told(name, size, process.pid, lambda send=send: send(line, token, size))
                assert file["sha256"] == wanted.hexdigest(), name
                told(f"download after {name.split()[0]}", size, process.pid, lambda key=file["id"]: got(line, token, key, wanted.hexdigest()))
                ask(line, "DELETE", f"/api/v2/files/{file['id']}/", token)


def told(name: str, size: int, pid: int, act: Callable[[], Any]) -> Any:
    """What `act` gives, its speed and the most memory printed."""
    watch, before = Watch(pid), psutil.Process(pid).memory_info().rss
    watch.start()
    begun = time.perf_counter()
    answer = act()
    seconds = time.perf_counter() - begun
    watch.over.set()
    print(f"{name:30}{size / MIB / seconds:8.0f}{(watch.most - before) / MIB:14.0f} MiB", flush=True)
    return answer


def timed(act: Callable[[], object]) -> float:
    begun = time.perf_counter()
    act()
    return time.perf_counter() - begun


def pieces(size: int) -> Iterator[bytes]:
    """Bytes of which each MiB differs."""
    for number in range(size // MIB):
        yield number.to_bytes(8, "big") + PIECE[8:]


def copied(path: Path, size: int) -> None:
    digest = hashlib.sha256()
    with path.open("wb") as file:
        for piece in pieces(size):
            digest.update(piece)
            file.write(piece)
    path.unlink()


def ask(line: http.client.HTTPConnection, method: str, path: str, token: str, body: bytes | None = None, **headers: str) -> Any:
    line.request(method, path, body, {"Authorization": f"Token {token}", **{name.replace("_", "-"): value for name, value in headers.items()}})
    answer = line.getresponse()
    data = answer.read()
    assert answer.status < 400, (answer.status, data)
    return answer, data


def multipart(line: http.client.HTTPConnection, token: str, size: int) -> dict[str, Any]:
    line.putrequest("POST", "/api/v2/files/contents/")
    length = len(HEAD) + size + len(TAIL)
    for name, value in {"Authorization": f"Token {token}", "Content-Type": "multipart/form-data; boundary=xx", "Content-Length": str(length)}.items():
        line.putheader(name, value)
    line.endheaders()
    line.send(HEAD)
    for piece in pieces(size):
        line.send(piece)
    line.send(TAIL)
    answer = line.getresponse()
    return dict(json.loads(answer.read()))


def chunks(line: http.client.HTTPConnection, token: str, size: int) -> dict[str, Any]:
    named = f"relativePath {base64.b64encode(b'big.bin').decode()}"
    answer, _ = ask(line, "POST", "/uploads/", token, Tus_Resumable="1.0.0", Upload_Length=str(size), Upload_Metadata=named)
    place, source = answer.headers["Location"], pieces(size)
    for offset in range(0, size, CHUNK):
        data = take(source, min(CHUNK, size - offset))
        kind = {"Tus_Resumable": "1.0.0", "Upload_Offset": str(offset), "Content_Type": "application/offset+octet-stream"}
        answer, _ = ask(line, "PATCH", place, token, data, **kind)
    return dict(json.loads(ask(line, "GET", f"/api/v2/files/{answer.headers['Headrace-File']}/", token)[1]))


def take(source: Iterator[bytes], size: int) -> bytes:
    return b"".join(next(source) for _ in range(size // MIB))


def got(line: http.client.HTTPConnection, token: str, key: str, wanted: str) -> None:
    line.request("GET", f"/api/v2/files/{key}/contents/", headers={"Authorization": f"Token {token}"})
    answer, digest = line.getresponse(), hashlib.sha256()
    while piece := answer.read(MIB):
        digest.update(piece)
    assert digest.hexdigest() == wanted


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 5.0)
