"""A real Slurm in a folder: munged, slurmctld and a slurmd for every node, all on this machine, without systemd.

One idea: everything of it lies in one folder and listens on ports of its own, so that many may run side by side.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.waiting import alive, until

CONFIG = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={home}/run/munge.sock
CredType=cred/munge
StateSaveLocation={home}/save
SlurmdSpoolDir={home}/spool/%n
SlurmctldPidFile={home}/run/slurmctld.pid
SlurmdPidFile={home}/run/slurmd-%n.pid
SlurmctldLogFile={home}/log/slurmctld.log
SlurmdLogFile={home}/log/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=sched_interval=1,batch_sched_delay=0,bf_interval=1
EnforcePartLimits=ALL
ReturnToService=2
KillWait=3
MessageTimeout=20
MailProg=/bin/true
MpiDefault=none
SlurmdParameters=config_overrides
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
"""
WANTED = ("slurmctld", "slurmd", "munged", "sbatch")
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


def missing() -> str:
    """Why there can be no Slurm here; "" if there can."""
    if os.geteuid():
        return "Slurm's daemons need root"
    absent = [name for name in WANTED if not shutil.which(name, path=PATH)]
    return f"no {', '.join(absent)} on this machine" if absent else ""


@contextlib.contextmanager
def running(*cores: int) -> Iterator[Daemons]:
    """Daemons for a test, or a skip with the reason why there can be none."""
    if why := missing():
        pytest.skip(why)
    made = Daemons(cores)
    try:
        yield made
    finally:
        made.close()


class Daemons:
    """`cores` of the nodes n1, n2, ..."""

    def __init__(self, cores: tuple[int, ...] = (4, 2, 2)) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="headrace-slurm-"))
        self.home.chmod(0o755)
        self.nodes = [f"n{number}" for number in range(1, len(cores) + 1)]
        for name in ("save", "spool", "log", "run"):
            (self.home / name).mkdir()
        self.config = self.home / "slurm.conf"
        self.environment = {"PATH": PATH, "SLURM_CONF": str(self.config), "TZ": "UTC"}
        self._write(cores)
        self._make_key()
        self.start()

    def _write(self, cores: tuple[int, ...]) -> None:
        ports, host = free_ports(len(cores) + 1), socket.gethostname().split(".")[0]
        lines = CONFIG.format(host=host, home=self.home, port=ports[0])
        for name, count, port in zip(self.nodes, cores, ports[1:], strict=True):
            lines += f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={count} RealMemory=100000 State=UNKNOWN\n"
        self.config.write_text(lines)

    def _make_key(self) -> None:
        key = self.home / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)

    # --- daemons ------------------------------------------------------------------------------------------------------
    def start(self) -> None:
        self.start_munge()
        self.start_controller("-c")
        for node in self.nodes:
            self.start_node(node)
        until(lambda: self.ask("sinfo", "-h", "-N", "-p", "main", "-o", "%T").split() == ["idle"] * len(self.nodes))

    def start_munge(self) -> None:
        run = self.home / "run"
        self._daemon(
            "munged", "--force", f"--key-file={self.home}/munge.key", f"--socket={run}/munge.sock", f"--pid-file={run}/munged.pid",
            f"--log-file={self.home}/log/munged.log", f"--seed-file={run}/munged.seed",
        )  # fmt: skip

    def start_controller(self, *options: str) -> None:
        self._daemon("slurmctld", "-f", str(self.config), *options)

    def save(self, token: str) -> None:
        """Until the controller has written down what it knows of this job, steps too: it does so every few seconds."""
        begin = time.time()
        self.ask("scontrol", "update", f"JobId={self.numbers(token)[0]}", "AdminComment=seen")
        until(lambda: (self.home / "save" / "job_state").stat().st_mtime > begin)

    def start_node(self, node: str) -> None:
        self._daemon("slurmd", "-N", node, "-f", str(self.config))

    def end(self, daemon: str, number: int = signal.SIGTERM) -> None:
        """`daemon` as its pid file is called: munged, slurmctld, slurmd-n1, ..."""
        pid = self.pid(daemon)
        if pid:
            os.kill(pid, number)
            until(lambda: not alive(pid))
        (self.home / "run" / f"{daemon}.pid").unlink(missing_ok=True)

    def pid(self, daemon: str) -> int:
        try:
            return int((self.home / "run" / f"{daemon}.pid").read_text())
        except (OSError, ValueError):
            return 0

    def close(self) -> None:
        for number in self.running():
            self.ask("scancel", number)
        with contextlib.suppress(AssertionError):
            until(lambda: not self.running(), 15)
        for daemon in [*(f"slurmd-{node}" for node in self.nodes), "slurmctld", "munged"]:
            self.end(daemon, signal.SIGKILL)
        shutil.rmtree(self.home, ignore_errors=True)

    def _daemon(self, *words: str) -> None:
        nothing = subprocess.DEVNULL
        subprocess.run(words, env=self.environment, check=True, timeout=60, stdin=nothing, stdout=nothing, stderr=nothing)

    # --- asking -------------------------------------------------------------------------------------------------------
    def ask(self, *words: str) -> str:
        done = subprocess.run(words, env=self.environment, timeout=60, capture_output=True, text=True, check=False)
        return done.stdout

    def running(self) -> list[str]:
        """Numbers of the jobs that are not over."""
        return self.ask("squeue", "-h", "-o", "%A").split()

    def numbers(self, token: str) -> list[str]:
        return self.ask("squeue", "-h", "-t", "all", f"--name={token}", "-o", "%A").split()


def free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports
