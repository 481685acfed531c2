"""Programs called sbatch, squeue, sacct, scancel and sinfo that do as a test says, and note how they were called."""

from __future__ import annotations

import json
from pathlib import Path

PROGRAM = """#!{python}
import json, os, sys, time
home = {home!r}
name = os.path.basename(sys.argv[0])
with open(os.path.join(home, "calls"), "a") as file:
    file.write(json.dumps([name, *sys.argv[1:]]) + "\\n")
path = os.path.join(home, name + ".json")
told = json.load(open(path)) if os.path.exists(path) else {{}}
if name == "sbatch":
    script = sys.stdin.read()
    with open(os.path.join(home, "script"), "w") as file:
        file.write(script)
    if told.get("accepts", True):
        token = next(word.split("=", 1)[1] for word in sys.argv if word.startswith("--job-name="))
        with open(os.path.join(home, "jobs"), "a") as file:
            file.write("1|" + token + "|RUNNING|0|0|1|main|N/A|None|\\n")
time.sleep(told.get("sleeps", 0))
sys.stderr.write(told.get("complains", ""))
if name == "squeue" and "says" not in told:
    jobs = os.path.join(home, "jobs")
    sys.stdout.write("JOBID|NAME|...\\n" + (open(jobs).read() if os.path.exists(jobs) else ""))
sys.stdout.write(told.get("says", ""))
sys.exit(told.get("code", 0))
"""
NAMES = ("sbatch", "squeue", "sacct", "scancel", "sinfo")


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
        """What squeue shows: token|STATE, or all columns."""
        lines = [row if row.count("|") > 3 else "{}|{}|{}|0|0|1|main|N/A|None|".format(number, *row.split("|")) for number, row in enumerate(rows, 1)]
        (self.folder / "jobs").write_text("".join(line + "\n" for line in lines))

    @property
    def script(self) -> str:
        return (self.folder / "script").read_text()

    def calls(self, name: str) -> list[list[str]]:
        path = self.folder / "calls"
        lines = path.read_text().splitlines() if path.exists() else []
        return [words[1:] for words in map(json.loads, lines) if words[0] == name]
