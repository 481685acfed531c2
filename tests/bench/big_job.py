"""One job of 4,000 cores on 125 simulated nodes through all stages, and what its beats cost.

Run: `uv run --group test python tests/bench/big_job.py`. The nodes' reports go through the gateway, as agents send them.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "bench")]
NODES, CORES = 125, 32


def wide_job() -> Any:
    """A draft over all NODES, and money for it."""
    import factories

    owner = factories.user()
    project = factories.project(owner)
    factories.budget(project, 10**9)
    kind = factories.coretype(cores=CORES, max_nodes=NODES)
    return factories.job(owner, project=project, coretype=kind, nodes=NODES, cores=CORES).workload


def main() -> None:
    import lifecycle

    lifecycle.set_up()
    import playing
    from django.db import connection, reset_queries

    from jobs import gateway, logs

    work, clock = wide_job(), playing.Clock()
    begin = time.perf_counter()
    work.submit(work.owner, clock())
    playing.turn_all(clock)
    work.refresh_from_db()
    boot = time.perf_counter()
    agents = playing.boot(work, clock)
    booted = time.perf_counter()
    playing.turn_all(clock)
    connection.force_debug_cursor = True
    reset_queries()
    beats = time.perf_counter()
    for agent in agents:
        directory = logs.attempt_dir(agent.public_id, agent.attempt)
        logs.append_beat(directory, agent.node, {"cpu": 31.5, "memory": 1 << 34, "memory_total": 1 << 36, "disk_used": 1 << 30})
        gateway.orders(agent, clock())
    beaten = time.perf_counter()
    queries = len(connection.queries)
    playing.finish(agents[0], clock)
    playing.turn_all(clock)
    work.refresh_from_db()
    end = time.perf_counter()
    print(f"{NODES} nodes, {NODES * CORES:,} cores on {connection.vendor}: {work.row.label}")
    print(f"{'submit to the last stage before boot':44}{boot - begin:8.3f} s")
    print(f"{'125 hellos, staging, go, started':44}{booted - boot:8.3f} s  ({(booted - boot) / NODES * 1000:.1f} ms a node)")
    share = (beaten - beats) / 10
    print(f"{'one round of 125 beats':44}{beaten - beats:8.3f} s  ({queries} queries; every 10 s: {share:.1%} of a core)")
    print(f"{'exit to Completed':44}{end - beaten:8.3f} s")


if __name__ == "__main__":
    os.environ.setdefault("HEADRACE_WORKER_THREADS", "1")
    main()
