"""GROMACS: inputs of grompp and mdrun.

The one idea to know: grompp makes the run file that mdrun reads, so each step is judged with what the steps before it
have made; and grompp counts warnings: an unknown parameter ends it unless -maxwarn allows for one.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..base import Finding, Request, error, warning
from ..elsewhere import HOMES
from ..launched import into_missing
from ..paths import check_read, check_written, spot
from ..plan import Plan, Step
from ..solvers import SOLVERS
from ..tree import resolve
from . import coordinates, counts, defined, groups, library, parameters, topology, trajectory, words

_WRITTEN = ("-deffnm", "-o", "-x", "-cpo", "-e", "-g", "-c", "-po", "-pp", "-px", "-pf", "-od", "-oi", "-dhdl")
_PROGRAM = SOLVERS[3].programs
_COORDINATES = (".gro", ".g96", ".pdb", ".brk", ".ent", ".esp", ".tpr")
_ENDS: dict[str, tuple[str, ...]] = {"-f": (".mdp",), "-c": _COORDINATES, "-r": _COORDINATES, "-p": (".top",), "-n": (".ndx",),
                                     "-t": (".trr", ".cpt", ".tng"), "-s": (".tpr",), "-cpi": (".cpt",), "-e": (".edr",)}  # fmt: skip
# tool -> options that must be files, with the default that is taken where the option is absent ("" for none)
_READS: dict[str, dict[str, str]] = {
    "grompp": {"-f": "grompp.mdp", "-c": "conf.gro", "-p": "topol.top", "-n": "", "-r": "", "-t": "", "-e": ""},
    "mdrun": {"-s": "topol.tpr", "-rerun": "", "-table": "", "-ei": ""},
    "pdb2gmx": {"-f": "eiwit.pdb"}, "editconf": {"-f": "conf.gro", "-n": ""}, "solvate": {"-cp": "", "-p": ""},
    "genion": {"-s": "topol.tpr", "-n": "", "-p": ""}, "make_ndx": {"-f": "", "-n": ""}, "genrestr": {"-f": "conf.gro"},
    "trjconv": {"-f": "traj.xtc", "-s": "", "-n": ""}, "energy": {"-f": "ener.edr"}, "rms": {"-f": "", "-s": "", "-n": ""},
    "rdf": {"-f": "", "-s": "", "-n": ""}, "convert-tpr": {"-s": "topol.tpr"}, "insert-molecules": {"-f": "", "-ci": ""},
    "msd": {"-f": "", "-s": "", "-n": ""}, "gyrate": {"-f": "", "-s": ""}, "check": {"-f": ""}, "dump": {"-s": "", "-f": ""},
}  # fmt: skip


@dataclass(frozen=True)
class Call:
    """One call of a tool of GROMACS."""

    step: Step
    tool: str

    def option(self, name: str) -> str | None:
        value = self.step.option(name)
        return None if value is None or re.match(r"-[a-z]", value) else value

    def has(self, name: str) -> bool:
        return name in self.step.argv


def check(request: Request, plan: Plan) -> Iterator[Finding]:
    yield from words.old_names(request, plan)
    done: set[str] = set()
    runs = trajectory.Runs()
    for step in plan.steps:
        if not re.fullmatch(_PROGRAM, step.program) or None in step.argv or "-h" in step.argv:
            continue
        call = Call(step, _tool(step))
        stray = words.stray(step, call.tool) if call.tool in _READS else None
        yield from [stray] if stray else []
        if not step.conditional and not stray:
            yield from _files(call)
        yield from _elsewhere(call)
        if call.tool == "pdb2gmx":
            yield from _force_field(call)
        if call.tool == "mdrun":
            yield from _mdrun(request, call)
            runs.run(step)
        elif call.tool == "grompp":
            yield from _grompp(request, call, done)
            name = _name(call, "-f", "grompp.mdp")
            runs.prepare(step, parameters.read(request.inputs, name) if name else None)
        else:
            yield from runs.read(step, call.tool)


def _tool(step: Step) -> str:
    found = re.match(r"(grompp|mdrun)", step.program)
    if found:
        return found.group(1)
    return next((word for word in step.argv[1:] if word and not word.startswith("-")), "")


def _files(call: Call) -> Iterator[Finding]:
    for option, default in _READS.get(call.tool, {}).items():
        given = call.option(option) or (default if not call.has(option) or default else "")
        if call.tool == "mdrun" and option == "-s" and not call.has("-s") and call.option("-deffnm"):
            given = f"{call.option('-deffnm')}.tpr"
        if not given or call.has("-multidir") or (option == "-f" and call.tool != "grompp" and not call.has("-f")):
            continue
        if found := _missing(call, given, option):
            yield found


def _missing(call: Call, path: str, option: str) -> Finding | None:
    step = call.step
    ends = _ENDS.get(option, ()) if call.tool in ("grompp", "mdrun", "genion") else _COORDINATES + (".xtc", ".trr", ".edr")
    if step.cwd is not None and any(step.tree.exists(resolve(step.cwd, path + end) or "?") is not False for end in ("", *ends)):
        return None
    full = path if posixpath.splitext(path)[1] or not ends else path + ends[0]
    missing = f"Upload it, or make it by an earlier step ({'gmx grompp' if full.endswith('.tpr') else 'pdb2gmx, editconf...'})."
    return check_read(step.tree, full, verb=f"runs gmx {call.tool}: it reads", file=step.file, line=step.line, cwd=step.cwd,
                      missing=missing)  # fmt: skip


def _elsewhere(call: Call) -> Iterator[Finding]:
    """Results into a folder of another machine; GROMACS makes no folders."""
    reads = _READS.get(call.tool, {})
    for option in _WRITTEN:
        path = (call.option(option) or "") if option not in reads else ""
        if path.startswith(HOMES):
            yield error(f"{spot(call.step.file, call.step.line)} writes to {path} ({option}), a folder of another machine; it does not exist here.",
                        file=call.step.file, line=call.step.line, thing=path,
                        remedy=f"Write into the job folder: {option} {posixpath.basename(path)}.")  # fmt: skip
        elif option != "-o" and path and (found := check_written(path, verb="writes to", file=call.step.file, line=call.step.line,
                                                                 cwd=call.step.cwd)):  # fmt: skip
            yield found
        elif not call.step.conditional:
            yield from into_missing(call.step, path)


def _force_field(call: Call) -> Iterator[Finding]:
    name, step = call.option("-ff") or "select", call.step
    folder = resolve(step.cwd, f"{name}.ff") if step.cwd is not None else None
    if name == "select" or library.is_brought(f"{name}.ff/forcefield.itp") or folder is None or step.tree.exists(folder) is not False:
        return
    near = step.tree.nearest_folder(folder)
    yield error(f"{spot(step.file, step.line)} wants the force field {name}, which is neither uploaded nor part of GROMACS.",
                file=step.file, line=step.line, thing=name,
                remedy=f"There is {near}." if near else f"Upload the folder {name}.ff.")  # fmt: skip


def _mdrun(request: Request, call: Call) -> Iterator[Finding]:
    step = call.step
    at = {"file": step.file, "line": step.line}
    where = spot(step.file, step.line)
    restart = call.option("-cpi") or ("state.cpt" if call.has("-cpi") else None)
    if restart and not step.conditional and check_read(step.tree, restart, verb="reads", file=None, line=None, cwd=step.cwd) \
            and check_read(step.tree, restart + ".cpt", verb="reads", file=None, line=None, cwd=step.cwd):  # fmt: skip
        yield warning(f"{where} continues from {restart} (-cpi), which is not among the uploaded files: mdrun would begin anew "
                      "without a word.", thing=restart, remedy="Add it from the results of the earlier job.", **at)  # type: ignore[arg-type] # fmt: skip
    ranks = step.launcher.ranks if step.launcher else None
    is_mpi = "mpi" in step.program
    if ranks and ranks > 1 and not is_mpi:
        yield warning(f"{where} starts {ranks} copies of {step.program} by {step.launcher.name if step.launcher else 'mpirun'}: "  # type: ignore[union-attr]
                      "without MPI in it each runs the whole job.", thing=step.program,
                      remedy=f"Use gmx_mpi, or gmx mdrun -ntmpi {ranks} without mpirun.", **at)  # type: ignore[arg-type] # fmt: skip
    threads = call.option("-ntmpi") or ""
    yield from words.grid(step, int(threads) if threads.isdigit() and int(threads) else ranks if is_mpi else None)
    yield from _threads(request, call, ranks or 1, is_mpi)


def _threads(request: Request, call: Call, ranks: int, is_mpi: bool) -> Iterator[Finding]:
    step = call.step
    at = {"file": step.file, "line": step.line}
    where = spot(step.file, step.line)
    number = {name: int(call.option(name) or 0) for name in ("-nt", "-ntmpi", "-ntomp") if (call.option(name) or "").isdigit()}
    if is_mpi and number.get("-ntmpi"):
        yield error(f"{where}: {step.program} uses MPI and takes no -ntmpi.", thing="-ntmpi",
                    remedy=f"Start the ranks by mpirun -np {number['-ntmpi']}.", **at)  # type: ignore[arg-type] # fmt: skip
        return
    total = max(number.get("-nt", 0), (number.get("-ntmpi") or 1) * (number.get("-ntomp") or 1)) * ranks
    if total > request.cores >= ranks and number:
        options = " ".join(f"{name} {value}" for name, value in number.items())
        yield warning(f"{where} starts {total} threads ({options}), but there are {request.cores} cores.", thing=options,
                      remedy="Ranks times threads should not be more than the cores.", **at)  # type: ignore[arg-type] # fmt: skip


def _grompp(request: Request, call: Call, done: set[str]) -> Iterator[Finding]:
    names = {option: _name(call, option, default) for option, default in (("-f", "grompp.mdp"), ("-p", "topol.top"),
                                                                          ("-c", "conf.gro"))}  # fmt: skip
    given = call.option("-maxwarn")
    if given and not given.isdigit() and "$" not in given:
        yield error(f"{spot(call.step.file, call.step.line)}: -maxwarn wants a number, not {given}.", file=call.step.file,
                    line=call.step.line, thing="-maxwarn", remedy="Write -maxwarn 1, or leave it out.")  # fmt: skip
    key = repr(sorted(names.items()))
    if key in done:
        return
    done.add(key)
    allowed = int(call.option("-maxwarn") or 0) if (call.option("-maxwarn") or "0").isdigit() else 99
    mdp = parameters.read(request.inputs, names["-f"]) if names["-f"] else None
    top = topology.read(request.inputs, call.step, names["-p"], mdp) if names["-p"] else None
    gro = coordinates.read(request.inputs, names["-c"]) if names["-c"] else None
    if mdp:
        yield from parameters.marked(request.inputs, mdp, allowed)
        yield from parameters.check(mdp, request.version, allowed, double="_d" in call.step.program)
    if top:
        yield from defined.check(top)
    if gro:
        yield from gro.findings
    if mdp:
        yield from groups.check(request.inputs, mdp, _name(call, "-n", "") if call.option("-n") else None, bool(call.option("-n")), top)
    if mdp and gro:
        yield from coordinates.check_box(gro, mdp)
    if top and gro:
        yield from counts.check(top, gro, allowed)
    if top and mdp and not call.has("-r") and not re.match(r"[45]\.|201[0-7]", request.version.strip()):
        yield from _restrained(call, top)


def _restrained(call: Call, top: topology.Topology) -> Iterator[Finding]:
    """As of GROMACS 2018 the positions to hold must be given."""
    if place := top.places.get("position_restraints"):
        file, line = place
        gro = call.option("-c") or "conf.gro"
        yield error(f"{spot(call.step.file, call.step.line)} runs gmx grompp without -r, but {file} line {line} restrains positions "
                    "([ position_restraints ] is active).", file=call.step.file, line=call.step.line, thing="-r",
                    remedy=f"Add -r {gro}, or take the define (POSRES) out of the parameters.")  # fmt: skip


def _name(call: Call, option: str, default: str) -> str | None:
    """The input that an option names, if it is one that no step has made."""
    given = call.option(option) or default
    step = call.step
    for end in ("", *_ENDS.get(option, ())):
        name = resolve(step.cwd, given + end) if step.cwd is not None else None
        if name in step.tree.inputs and name not in step.tree.made:
            return name
    return None
