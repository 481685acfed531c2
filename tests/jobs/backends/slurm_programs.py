"""Programs called as those of Slurm that do as a test says, and note how they were called."""

from __future__ import annotations

import json
import os
from pathlib import Path

PROGRAM = """#!{python}
import json, os, sys, time
home = {home!r}
name = os.path.basename(sys.argv[0])
with open(os.path.join(home, "calls"), "a") as file:
    file.write(json.dumps([name, *sys.argv[1:]]) + "\\n")
path = os.path.join(home, name + ".json")
told = json.load(open(path)) if os.path.exists(path) else {{}}
if name == "sbatch" and "--version" not in sys.argv:
    script = sys.stdin.read()
    with open(os.path.join(home, "script"), "w") as file:
        file.write(script)
    if told.get("accepts", True):
        token = next(word.split("=", 1)[1] for word in sys.argv if word.startswith("--job-name="))
        with open(os.path.join(home, "jobs"), "a") as file:
            file.write("1|" + token + "|RUNNING|0|0|1|main|N/A|N/A|" + str(os.geteuid()) + "|" + token + "|None|\\n")
time.sleep(told.get("sleeps", 0))
if "--version" in sys.argv:
    told = dict(version=told.get("version", "slurm 22.05.8\\n"))
sys.stderr.write(told.get("complains", ""))
if name == "squeue" and "says" not in told and "--version" not in sys.argv:
    jobs = os.path.join(home, "jobs")
    sys.stdout.write("JOBID|NAME|...\\n" + (open(jobs).read() if os.path.exists(jobs) else ""))
if "--version" in sys.argv:
    sys.stdout.write(told.get("version", "slurm 22.05.8\\n"))
elif any("%T" in word for word in sys.argv):
    sys.stdout.write(told.get("states", ""))
else:
    sys.stdout.write(told.get("says", ""))
sys.exit(told.get("code", 0))
"""
TOKEN = "hrtest-job-aBcDeF-1"
NAMES = ("sbatch", "squeue", "sacct", "scancel", "sinfo", "scontrol")


def full(row: str, end: str = "N/A", uid: int | None = None, comment: str = "(null)") -> str:
    """A row of squeue with its columns before the reason: when it ended, whose it is, its comment."""
    cells = row.split("|", 8)
    return "|".join([*cells[:8], end, str(os.geteuid() if uid is None else uid), comment, *cells[8:]])


class Programs:
    """`folder` goes into the backend's option `path`. A job that sbatch takes runs at once."""

    def __init__(self, place: Path, python: str) -> None:
        self.folder = place / "programs"
        self.folder.mkdir()
        for name in NAMES:
            program = self.folder / name
            program.write_text(PROGRAM.format(python=python, home=str(self.folder)))
            program.chmod(0o755)
        self.tell("sacct", complains="Slurm accounting storage is disabled", code=1)

    def tell(self, name: str, **how: object) -> None:
        """From now on: `says` and `complains` what it prints, `code` its exit code, `sleeps` seconds before; nothing: behave."""
        (self.folder / f"{name}.json").write_text(json.dumps(how))

    def jobs(self, *rows: str) -> None:
        """What squeue shows of our user: token|STATE, or all columns without end, user and comment."""
        lines = [
            row if row.count("|") > 3 else "{}|{}|{}|0|0|1|main|N/A|None|".format(number, *row.split("|"))
            for number, row in enumerate(rows, 1)
        ]
        self.rows(*(full(line) for line in lines))

    def rows(self, *rows: str) -> None:
        """The same, with every column."""
        (self.folder / "jobs").write_text("".join(row + "\n" for row in rows))

    def accounts(self, *rows: str) -> None:
        """What sacct shows of our user: token|STATE|end."""
        lines = ["7|{}|{}|0:0|{}|{}|\n".format(*row.split("|")[:2], os.geteuid(), row.split("|")[2]) for row in rows]
        self.tell("sacct", says="".join(lines))

    @property
    def script(self) -> str:
        return (self.folder / "script").read_text()

    def calls(self, name: str) -> list[list[str]]:
        path = self.folder / "calls"
        lines = path.read_text().splitlines() if path.exists() else []
        return [words[1:] for words in map(json.loads, lines) if words[0] == name]


def look(slurm, token=TOKEN):
    return slurm.describe([token])[token]
