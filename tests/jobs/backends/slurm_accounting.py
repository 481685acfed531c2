"""Accounting for a Slurm in a folder: a MariaDB and a slurmdbd of its own, and a Slurm that forgets its jobs soon."""

from __future__ import annotations

import shutil
import signal
import subprocess

from slurm_daemons import PATH, Daemons, free_ports

from tests.waiting import until

WANTED = ("slurmdbd", "mariadbd", "mariadb-install-db", "mariadb", "sacctmgr")
FORGETS = """
MinJobAge=2
PreemptType=preempt/partition_prio
PreemptMode=CANCEL
PartitionName=cheap Nodes=ALL PriorityTier=1 MaxTime=INFINITE State=UP
PartitionName=urgent Nodes=ALL PriorityTier=10 MaxTime=INFINITE State=UP
"""
STORAGE = """
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=localhost
AccountingStoragePort={port}
AccountingStoragePass={home}/run/munge.sock
"""
DBD = """
AuthType=auth/munge
AuthInfo=socket={home}/run/munge.sock
DbdHost=localhost
DbdPort={port}
SlurmUser=root
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=root
StorageLoc=slurm
LogFile={home}/log/slurmdbd.log
PidFile={home}/run/slurmdbd.pid
"""


def missing() -> str:
    """Why there can be no accounting here; "" if there can."""
    absent = [name for name in WANTED if not shutil.which(name, path=PATH)]
    return f"no {', '.join(absent)} on this machine" if absent else ""


class Forgetful(Daemons):
    """Jobs are forgotten within seconds of their end; `accounts`: accounting remembers them."""

    def __init__(self, accounts: bool, cores: tuple[int, ...] = (2, 2)) -> None:
        self.accounts, self._database = accounts, None
        super().__init__(cores)

    def _write(self, cores: tuple[int, ...]) -> None:
        super()._write(cores)
        text = self.config.read_text() + FORGETS
        if self.accounts:
            self.port = free_ports(1)[0]
            text = text.replace("AccountingStorageType=accounting_storage/none", STORAGE.format(home=self.home, port=self.port))
        self.config.write_text(text)

    def start_munge(self) -> None:
        super().start_munge()
        if self.accounts and self._database is None:
            self._start_accounting()

    def _start_accounting(self) -> None:
        home, socket = self.home, self.home / "run" / "maria.sock"
        made = ["mariadb-install-db", "--no-defaults", f"--datadir={home}/maria", "--auth-root-authentication-method=normal", "--user=root"]
        subprocess.run(made, env=self.environment, check=True, capture_output=True, timeout=120)
        words = ["mariadbd", "--no-defaults", "--user=root", f"--datadir={home}/maria", f"--socket={socket}", "--skip-networking"]
        self._database = subprocess.Popen(words, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(lambda: not subprocess.run(["mariadb", f"--socket={socket}", "-e", "select 1"], env=self.environment, capture_output=True).returncode)
        config = home / "slurmdbd.conf"
        config.write_text(DBD.format(home=home, port=self.port))
        config.chmod(0o600)
        daemon = self.environment | {"MYSQL_UNIX_PORT": str(socket)}
        subprocess.run(["slurmdbd"], env=daemon, check=True, timeout=60, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(lambda: "test" in self.ask("sacctmgr", "-i", "add", "cluster", "test") + self.ask("sacctmgr", "-n", "list", "cluster", "format=cluster"))

    def close(self) -> None:
        if self.accounts:
            self.end("slurmdbd", signal.SIGKILL)
        if self._database:
            self._database.kill()
            self._database.wait()
        super().close()
