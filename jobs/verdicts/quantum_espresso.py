"""The verdict on Quantum ESPRESSO runs (pw.x and its companions).

The one idea: "JOB DONE." is also printed after "convergence NOT achieved"; the electrons' and the ions' cycle each say in a
sentence whether they met their threshold, and these sentences decide.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from typing import Any

from .base import Ending, Evidence, Files, Follower, Label, Verdict
from .live import Live, Log, parse
from .quantum_espresso_deck import force_limit, value_of
from .quantum_espresso_log import QeLog
from .run import Run, alone, bad, tempered, unseen
from .sources import logs, parts
from .text import brief, shown, words

PROGRAM = re.compile(r"^(?:pw|ph|cp|neb|pp|dos|bands|projwfc|epsilon|dynmat|q2r|matdyn|turbo_\w+|hp|ld1|pw2wannier90|average|xspectra)\.x$")
SIGNATURE = re.compile(rb"^ +Program \S+ +v\.?\d|Quantum ESPRESSO suite", re.M)
SILENT = ("LD1",)  # prints no last words
MAIN = ("PWSCF", "CP", "PHONON", "NEB")
MEMORY = re.compile(r"(?i)cannot allocate|allocation|out of memory|insufficient memory")
EXITS = {2: "the electrons did not converge", 3: "the ions did not converge"}


def judge(folder: Files, ending: Ending, command: str, log: str | None) -> Verdict:
    run = Run(folder, ending, command, log)
    found: list[tuple[str, dict[str, Any]]] = []
    ranks = 1
    for name in logs(folder, run.script, log, lambda start: bool(SIGNATURE.search(start))):
        read = parse(QeLog(), folder, name)
        found += [(name, one) for one in read.runs]
        ranks = max(ranks, read.ranks)
    starts = [
        Evidence(name, one["line"], f"Program {one['program']} starts")
        for name, one in found
        if one["program"] in MAIN and name == found[0][0]
    ]
    copies = alone(run, run.using(PROGRAM), "Quantum ESPRESSO", starts, "This mpirun does not fit the MPI that pw.x was built with.")
    if copies and ranks == 1:
        return copies
    found = _once(found)
    if not found:
        return _crashed(run) or unseen(run, "Quantum ESPRESSO", [name for part in run.using(PROGRAM) for name in part.output])
    main = [pair for pair in found if pair[1]["program"] in MAIN] or found
    broken = [pair for pair in found if pair[1]["errors"] or (not pair[1]["done"] and pair[1]["program"] not in SILENT)]
    chosen = (broken or [pair for pair in main if pair[1]["missed"]] or main[-1:])[0]
    return tempered(run, _Seen(run, *chosen).judge(), PROGRAM)


def follow(folder: Files | None, command: str) -> Follower:
    force = force_limit(folder, command) if folder is not None else 0.0

    def choose(stream: str) -> Log | None:
        return QeLog(force=force)

    return Live(choose)


def streams(folder: Files | None, command: str) -> dict[str, str]:
    using = [part for part in parts(command) if any(PROGRAM.match(posixpath.basename(word)) for word in part.words)]
    return {posixpath.basename(name): part.place(name) for part in using for name in part.output}


def _once(found: list[tuple[str, dict[str, Any]]]) -> list[tuple[str, dict[str, Any]]]:
    """Each run once, though `tee` may have written it into two files."""
    seen: dict[tuple[Any, ...], tuple[str, dict[str, Any]]] = {}
    for name, one in found:
        energy = one["energy"][1] if one["energy"] else ""
        key = (one["program"], one["input"], energy, one["scf"], bool(one["done"]), str(one["errors"][:1]))
        seen.setdefault(key, (name, one))
    return list(seen.values())


def _crashed(run: Run) -> Verdict | None:
    """No output, but a CRASH file."""
    names = [name for name in run.names if posixpath.basename(name) == "CRASH" and run.filled(name)]
    if not names or run.ending.clean:
        return None
    said = [line.strip() for line in words(run.folder, names[0], 64 << 10).splitlines() if line.strip() and "%%%" not in line]
    return bad(
        run,
        Label.INCOMPLETE,
        f"Quantum ESPRESSO stopped: {shown(' '.join(said[-2:]))}",
        [Evidence(names[0], None, shown(line)) for line in said[-3:]],
    )


@dataclass
class _Seen:
    """One program run of Quantum ESPRESSO."""

    run: Run
    log: str
    one: dict[str, Any]

    def judge(self) -> Verdict:
        return (
            self._error()
            or self._nan()
            or self._missed()
            or self._let_pass()
            or self._bands()
            or self._cut()
            or self._ended()
            or self._empty()
            or self._unwritten()
            or self._good()
        )

    @property
    def name(self) -> str:
        return self.one["program"] or "the program"

    def line(self, *keys: str) -> list[Evidence]:
        return [Evidence(self.log, *self.one[key][:2]) for key in keys if self.one[key]]

    @property
    def ionic(self) -> bool:
        return "Geometry" in self.one["kind"] or "Damped" in self.one["kind"] or bool(self.one["ions"])

    @property
    def dynamic(self) -> bool:
        return "Molecular Dynamics" in self.one["kind"] or "Langevin" in self.one["kind"]

    def _error(self) -> Verdict | None:
        if not self.one["errors"]:
            return None
        evidence = [Evidence(self.log, number, text) for number, text in self.one["errors"][:3]]
        evidence += self.line("hint")
        hint = f" ({self.one['hint'][1]})" if self.one["hint"] else ""
        text = shown(self.one["errors"][0][1], 240) + hint
        if MEMORY.search(text):
            return bad(
                self.run,
                Label.INCOMPLETE,
                f"{self.name} ran out of memory: {text}",
                evidence,
                "More memory, more nodes, or fewer ranks on a node.",
            )
        if re.search(r"(?i)not converged|not achieved|too many bands are not converged", text):
            return bad(
                self.run,
                Label.NOT_CONVERGED,
                f"{self.name} stopped: {text}",
                [*evidence, *self.line("accuracy")],
                "Smaller mixing_beta, more bands or another diagonalization.",
            )
        return bad(self.run, Label.INCOMPLETE, f"{self.name} stopped: {text}", evidence, "Correct the line that the message names.")

    def _nan(self) -> Verdict | None:
        if not self.one["nan"]:
            return None
        return bad(
            self.run,
            Label.DIVERGED,
            f"{self.name} diverged: the energy is not a number (nan)",
            self.line("nan"),
            "Check the structure (atoms too close), the pseudopotentials and mixing_beta.",
        )

    def _missed(self) -> Verdict | None:
        if not self.one["missed"]:
            return None
        wanted = (
            f" (wanted {self.one['threshold']:.1e} Ry, reached {brief(self.one['accuracy'][2])})"
            if self.one["threshold"] and self.one["accuracy"]
            else ""
        )
        said = self.one["missed"][1].removesuffix(": stopping")
        return bad(
            self.run,
            Label.NOT_CONVERGED,
            f"{self.name}: {said}{wanted}",
            self.line("missed", "accuracy"),
            "Raise electron_maxstep, lower mixing_beta, or check smearing and structure.",
        )

    def _let_pass(self) -> Verdict | None:
        """scf_must_converge = .false. makes pw.x say "achieved" whatever was reached."""
        reached, wanted = self.one["accuracy"], self.one["threshold"]
        if not reached or not wanted or reached[2] <= wanted or not re.match(r"(?i)\.?f", value_of(self._deck(), "scf_must_converge")):
            return None
        reason = f"{self.name}: the electrons did not converge (wanted {wanted:.1e} Ry, reached {brief(reached[2])})"
        reason += "; the deck lets that pass (scf_must_converge)"
        return bad(
            self.run, Label.NOT_CONVERGED, reason, self.line("accuracy", "scf_line"), "Raise electron_maxstep, or lower mixing_beta."
        )

    def _bands(self) -> Verdict | None:
        """Of a band structure each eigenvalue counts; in a self-consistent cycle the next iteration repairs it."""
        if not self.one["bands"] or not self.one["eigen"] or self.one["scf"]:
            return None
        return bad(
            self.run,
            Label.NOT_CONVERGED,
            f"{self.name}: eigenvalues are not converged at {self.one['eigen']} places",
            self.line("bands"),
            "More diago_david_ndim, a smaller diago_thr_init, or another diagonalization.",
        )

    def _cut(self) -> Verdict | None:
        if self.one["done"]:
            return None
        told = self.run.told
        where = f" after {self.one['scf']} scf cycles" if self.one["scf"] else ""
        return bad(
            self.run,
            Label.INCOMPLETE,
            f"{self.name} ended early{where}: its last words (JOB DONE) are missing. {told}",
            [*self.line("accuracy", "energy", "ended"), *self.run.troubles],
        )

    def _ended(self) -> Verdict | None:
        """Came to its end because a limit was reached."""
        ended = self.one["ended"]
        if not ended:
            return None
        if "maximum number of steps" in ended[1]:
            if self.dynamic or (not self.ionic and self.one["program"] == "CP"):
                return None
            return bad(
                self.run,
                Label.NOT_CONVERGED,
                f"The ions did not converge: {ended[1]}",
                self.line("ended", "energy"),
                "Raise nstep, or go on with restart_mode='restart'.",
            )
        if "failed" in ended[1]:
            return bad(
                self.run,
                Label.NOT_CONVERGED,
                f"The relaxation did not converge: {ended[1]}",
                self.line("ended", "energy"),
                "Tighter conv_thr, or another start structure.",
            )
        return bad(
            self.run,
            Label.INCOMPLETE,
            f"{self.name} was ended before its end: {ended[1]}",
            self.line("ended", "accuracy"),
            "Go on with restart_mode='restart' and more time (max_seconds).",
        )

    def _empty(self) -> Verdict | None:
        if self.name != "PWSCF" or self.one["scf"] or self.one["bands"] or self.one["energy"] or self.one["ions"]:
            return None
        return bad(
            self.run,
            Label.INCOMPLETE,
            "PWSCF came to its end without an energy: nothing was computed",
            [Evidence(self.log, self.one["done"], "JOB DONE.")],
            "Was it a dry run, or an EXIT file left in the folder?",
        )

    def _unwritten(self) -> Verdict | None:
        """The data file that pw.x leaves must not be empty (a full disk)."""
        prefix = value_of(self._deck(), "prefix") or "pwscf"
        found = [name for name in self.run.names if name.endswith(f"{prefix}.save/data-file-schema.xml")]
        if self.name != "PWSCF" or not found or any(self.run.folder.size(name) for name in found):
            return None
        return bad(self.run, Label.INCOMPLETE, f"{found[0]} is empty: the disk may be full", [Evidence(found[0], None, "empty")])

    def _good(self) -> Verdict:
        one = self.one
        notes = " Restart disabled: needed files were not found, so it ran from scratch at full cost." if one["restart"] else ""
        advice = "Add the earlier job's outdir to the inputs, or ask for restart_mode='from_scratch'." if one["restart"] else ""
        if one["eigen"]:
            notes += f" In {one['eigen']} places eigenvalues were not converged."
        done = Evidence(self.log, one["done"], "JOB DONE.")
        evidence = (*self.line("ions", "scf_line", "accuracy", "restart", "bands"), done)
        if one["ions"]:
            return Verdict(Label.CONVERGED, f"The structure converged ({one['ions'][1]}).{notes}", evidence, advice)
        if self.dynamic:
            return Verdict(
                Label.FINISHED,
                f"All steps of the dynamics were done ({one['scf']} scf cycles, each converged).{notes}",
                (*self.line("ended"), *evidence),
                advice,
            )
        if one["scf"] and one["program"] in ("PWSCF", "PHONON", "NEB", "CP"):
            return Verdict(Label.CONVERGED, f"{self.name}: {one['scf_line'][1]}.{notes}", evidence, advice)
        return Verdict(Label.FINISHED, f"{self.name} came to its end; it has nothing to converge.{notes}", evidence, advice)

    def _deck(self) -> str:
        name = self.one["input"]
        found = [one for one in self.run.names if name and (one == name or one.endswith(f"/{name}"))]
        return words(self.run.folder, found[0], 1 << 20) if found else ""
