"""Words of an MPI launcher that it can't follow: options misspelt, hosts that are not of this job, nothing to start.

The one idea to know: mpirun takes the first word that is no option for the program, so a misspelt option shows in what would be
started; and the portal sets the hosts, so any other name in the command or a host file is that of another machine.
"""

from __future__ import annotations

import ast
import difflib
import re
import sys
from collections.abc import Iterator

from . import programs
from .base import Finding, Request, error, warning
from .launch import MPI, Launcher
from .paths import spot
from .plan import Step
from .text import read_small

_OPTIONS = """--oversubscribe --bind-to --map-by --rank-by --hostfile --host --machinefile --report-bindings --allow-run-as-root
    --display-map --tag-output --timestamp-output --use-hwthread-cpus --nooversubscribe --output-filename --npernode --mca --wdir
    --prefix --merge-stderr-to-stdout --timeout --verbose --quiet --ntasks --cpus-per-task --ntasks-per-node --nodes --exclusive""".split()
_LOCAL = re.compile(r"localhost|127\.|::1|\$|\d+$")
_ALONE = {"numpy", "scipy", "matplotlib", "pandas", "sympy", "numba", "tqdm", "yaml", "h5py", "PIL", "seaborn", "sklearn"}
_RANKED = re.compile(r"mpi|pmi|slurm_|rank|headrace", re.I)


def check(request: Request, step: Step) -> Iterator[Finding]:
    launcher = step.launcher
    if not launcher or (step.words[0] or "").rsplit("/", 1)[-1] not in MPI or None in step.words:
        return
    where, at = spot(step.file, step.line), {"file": step.file, "line": step.line}
    program = step.argv[0] if step.argv else None
    yield from _misspelt(step)
    if program is None and not launcher.files:
        yield error(f"{where} starts {launcher.name} without a program.", thing=launcher.name, remedy=f"Write {launcher.name} -np N ./PROGRAM.",
                    **at)  # type: ignore[arg-type] # fmt: skip
    elif program and program.isdigit():
        before = step.words[max(0, list(step.words).index(program) - 1)] or ""
        yield error(f"{where}: {launcher.name} would start a program named {program}, as it knows no {before}.", thing=before,
                    remedy=f"Write -np {program}.", **at)  # type: ignore[arg-type] # fmt: skip
    yield from _hosts(request, step, launcher)
    for unit in launcher.placing:
        found = re.search(r"(?i)\bpe=(\d+)", unit)
        if found and launcher.ranks and launcher.ranks * int(found[1]) > request.cores:
            yield warning(f"{where} wants {found[1]} cores for each of {launcher.ranks} ranks, but the hardware has {request.cores}.",
                          thing=unit, remedy="Ranks times cores should not be more than the cores.", **at)  # type: ignore[arg-type] # fmt: skip
    yield from _serial(request, step, launcher)


def _misspelt(step: Step) -> Iterator[Finding]:
    """Long options of the launcher itself."""
    for word in step.words[1 : len(step.words) - len(step.argv)]:
        option = (word or "").partition("=")[0]
        if not option.startswith("--") or option in _OPTIONS or len(option) < 8:
            continue
        near = difflib.get_close_matches(option, _OPTIONS, 1, 0.88)
        if near and sorted(near[0]) != sorted(option) + ["s"] and abs(len(near[0]) - len(option)) < 3:
            yield error(f"{spot(step.file, step.line)}: {step.words[0]} knows no option {option}.", file=step.file, line=step.line,
                        thing=option, remedy=f"Did you mean {near[0]}?")  # fmt: skip


def _hosts(request: Request, step: Step, launcher: Launcher) -> Iterator[Finding]:
    where, at = spot(step.file, step.line), {"file": step.file, "line": step.line}
    words = list(step.words)
    named = [
        words[n + 1] or ""
        for n, word in enumerate(words[:-1])
        if word in ("--host", "-host", "-H", "--hosts", "-hosts", "-w", "--nodelist")
    ]
    foreign = next((host for word in named for host in word.split(",") if host and not _LOCAL.match(host)), None)
    if foreign:
        yield warning(f"{where} wants the host {foreign}; the hosts of a job are known only when it starts.", thing=foreign,
                      remedy="Leave the option out: the portal sets the hosts.", **at)  # type: ignore[arg-type] # fmt: skip
    name = step.path(launcher.host_file)
    content = read_small(request.inputs, name, 64 << 10) if name in step.tree.inputs and name not in step.tree.made else None
    rows = [row.split("#")[0].split() for row in (content or "").split("\n")]
    rows = [row for row in rows if row]
    other = next((row[0].split(":")[0] for row in rows if not _LOCAL.match(row[0])), None)
    if other:
        yield warning(f"{name} names the host {other}; the hosts of a job are known only when it starts.", file=name, thing=other,
                      remedy="Leave the host file out: the portal sets the hosts.")  # fmt: skip
        return
    slots = sum(int(found[1]) if (found := re.search(r"(?:slots=|:)(\d+)", " ".join(row))) else 1 for row in rows)
    if rows and launcher.ranks and slots < launcher.ranks and not launcher.oversubscribe:
        yield warning(f"{name} has {slots} slot{'s' * (slots != 1)}, but the command starts {launcher.ranks} ranks.", file=name, thing=str(slots),
                      remedy="Leave the host file out, or raise its slots.")  # fmt: skip


def _serial(request: Request, step: Step, launcher: Launcher) -> Iterator[Finding]:
    """Several copies of a Python script that knows nothing of MPI: each does the whole work and writes the same files."""
    word = programs.script(step) if step.program.startswith("python") else None
    name = step.path(word) if word else None
    if not name or name not in step.tree.inputs or name in step.tree.made or (launcher.ranks or 0) < 2:
        return
    content = read_small(request.inputs, name, 64 << 10)
    if not content or _RANKED.search(content):
        return
    try:
        modules = {module.split(".")[0] for node in ast.walk(ast.parse(content)) for module in _imported(node)}
    except (SyntaxError, ValueError, RecursionError):
        return
    if modules <= _ALONE | sys.stdlib_module_names:
        yield warning(f"{spot(step.file, step.line)} starts {launcher.ranks} copies of {name}, which does not use MPI: each does the whole work.",
                      file=step.file, line=step.line, thing=name, remedy=f"Write python3 {name} without {launcher.name}.")  # fmt: skip


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or "?"] if isinstance(node, ast.ImportFrom) else []
