"""The questions that finished GROMACS programs must answer: errors, blow-ups, missing steps, minimisation, files.

The one idea: each question gives a verdict or None; the first that gives one holds.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, replace
from typing import Any

from .base import Evidence, Label, Verdict
from .gromacs_log import GmxLog
from .gromacs_words import called, files_of, mdruns_of
from .run import Run, bad
from .text import brief, shown, words

BLOWN = re.compile(
    r"(?i)not finite|is nan|LINCS|can ?not be settled|particles? communicated|blow|moved (?:too|more|further)|"
    r"inconsistent shifts|too far|not well equilibrated|infinite|constraint error"
)
EM = ("steep", "cg", "l-bfgs")


@dataclass
class Checks:
    """All gmx programs of a job; the last mdrun is the one that is judged."""

    run: Run
    logs: list[GmxLog]
    mdruns: list[tuple[str, dict[str, Any]]]

    def judge(self) -> Verdict:
        if not self.mdruns:
            return self._fatal() or self._tools()
        verdict = (
            self._blown()
            or self._fatal()
            or self._cut()
            or self._idle()
            or self._short()
            or self._minimum()
            or self._unwritten()
            or self._good()
        )
        return self._with_notes(verdict)

    @property
    def one(self) -> dict[str, Any]:
        return self.mdruns[-1][1]

    @property
    def at(self) -> str:
        return f"step {self.one['step']}" if self.one["step"] is not None else "the start"

    @property
    def total(self) -> int | None:
        return self.one["nsteps"]

    @property
    def minimising(self) -> bool:
        return self.one["integrator"] in EM or bool(self.one["em"])

    def line(self, key: str) -> list[Evidence]:
        told = self.one[key]
        return [Evidence(self.one.get(f"{key}_in", self.mdruns[-1][0]), told[0], shown(str(told[1])))] if told else []

    def told(self, *kinds: str) -> list[tuple[str, Evidence]]:
        """Errors and warnings of all programs with what they point at, each once."""
        found: dict[str, Evidence] = {}
        for log in self.logs:
            for kind, number, text, file, line in log.told:
                if kind in kinds:
                    where = f"{file}{f' line {line}' if line else ''}: " if file else ""
                    found.setdefault(f"{where}{text}", Evidence(log.name, number, shown(f"{kind.upper()} {where}{text}", 300)))
        return list(found.items())

    def _blown(self) -> Verdict | None:
        fatal = [(text, at) for text, at in self.told("fatal") if BLOWN.search(text)]
        if self.one["nan"]:
            reason = f"GROMACS diverged: an energy is not a number (nan) at {self.at}"
        elif self.one["em"] and "not finite" in self.one["em"][1]:
            reason = "The minimisation broke off: the force on an atom is not finite (atoms overlap)"
        elif fatal:
            reason = f"GROMACS blew up at {self.at}: {shown(fatal[0][0], 160)}"
        elif self.one["hot"]:
            reason = f"GROMACS diverged: a temperature of {self.one['hot'][2]:.3g} K"
        else:
            return None
        evidence = [*self.line("nan"), *self.line("em"), *[at for _, at in fatal], *self.line("hot"), *self.line("row")]
        advice = "Minimise and equilibrate first, use a smaller dt or emstep, and look for atoms that lie on each other."
        return bad(self.run, Label.DIVERGED, reason, evidence, advice, self.at)

    def _fatal(self) -> Verdict | None:
        fatal, errors, warnings = self.told("fatal"), self.told("error"), self.told("warning")
        if not fatal and not errors:
            return None
        many = fatal and "Too many warnings" in fatal[0][0]
        causes = errors or (warnings if many else fatal)
        evidence = [at for _, at in [*causes, *fatal]]
        reason = shown((causes or fatal)[0][0], 260)
        return bad(
            self.run,
            Label.INCOMPLETE,
            f"GROMACS stopped: {reason}",
            [*evidence, *self.run.troubles],
            "Correct the file and line that the message names.",
        )

    def _cut(self) -> Verdict | None:
        if self.one["finished"]:
            return None
        of = f" of {self.total}" if self.total and self.total > 0 else ""
        return bad(
            self.run,
            Label.INCOMPLETE,
            f"mdrun ended early, at {self.at}{of}: its last words are missing. {self.run.told}",
            [*self.line("row"), *self.line("signal"), *self.run.troubles],
            "Go on from the last checkpoint (-cpi).",
            self.at,
        )

    def _idle(self) -> Verdict | None:
        if self.total != 0 or self.minimising or any("-rerun" in part.words for part in mdruns_of(self.run.parts)):
            return None
        warned = [(text, at) for text, at in self.told("warning") if re.search(r"(?i)unknown left-hand|nsteps?", text)]
        wanted = any(
            re.search(r"(?im)^\s*nsteps\s*=", words(self.run.folder, name, 1 << 20))
            for name in self.run.names
            if name.endswith(".mdp") and posixpath.basename(name) != "mdout.mdp"
        )
        if wanted and not warned:
            return None
        cause = f"; grompp warned: {shown(warned[0][0], 120)}" if warned else "; nsteps is not set, and its default is 0"
        return bad(
            self.run,
            Label.INCOMPLETE,
            f"0 MD steps were done{cause}{self._overridden()}",
            [*[at for _, at in warned], *self.line("steps_line"), *self.line("row")],
            "Correct the name in the .mdp (nsteps), and do not use -maxwarn to get rid of such a warning.",
        )

    def _overridden(self) -> str:
        asked = [part.words[part.words.index("-maxwarn") + 1] for part in self.run.parts if "-maxwarn" in part.words[:-1]]
        return f" (overridden by -maxwarn {asked[0]})" if asked else ""

    def _short(self) -> Verdict | None:
        """Ended by itself, but before the last step: a time limit or a signal."""
        if self.minimising or self.total is None or self.total < 0 or self.one["step"] is None:
            return None
        end = self.one["init"] + self.total if not self.one["continued"] else max(self.total, 0)
        if self.one["step"] >= end or (not self.one["signal"] and self.one["step"] >= self.total):
            return None
        why = shown(self.one["signal"][1], 120) if self.one["signal"] else "it ended before its last step"
        return bad(
            self.run,
            Label.INCOMPLETE,
            f"{self.one['step']} of {end} steps were done: {why}",
            [*self.line("signal"), *self.line("row")],
            "Go on from the checkpoint with -cpi; a longer walltime or -maxh gives it more time.",
            self.at,
        )

    def _minimum(self) -> Verdict | None:
        if not self.minimising:
            return None
        text = self.one["em"][1] if self.one["em"] else ""
        force = self.one["force"][2] if self.one["force"] else None
        limit = re.search(r"Fmax < ([\d.eE+-]+)", text)
        wanted = limit[1].rstrip(".") if limit else brief(self.one["emtol"])
        steps = re.search(r"in (\d+) steps", text)
        done = f" in {steps[1]} steps" if steps else ""
        now = f" (now {brief(force)})" if force is not None else ""
        evidence = [*self.line("em"), *self.line("force")]
        if "machine precision" in text:
            return bad(
                self.run,
                Label.NOT_CONVERGED,
                f"The minimisation stopped at machine precision{done}, but Fmax < {wanted} was not reached{now}",
                evidence,
                "Use double precision (gmx_d), another integrator, or a larger emtol if this is enough for the dynamics that follow.",
            )
        if "did not converge" in text or "maximum number of steps" in text or "have not converged" in text:
            return bad(
                self.run,
                Label.NOT_CONVERGED,
                f"The minimisation did not reach Fmax < {wanted}{now}{done}",
                evidence,
                "Raise nsteps, or look for atoms that are stuck.",
            )
        return None

    def _unwritten(self) -> Verdict | None:
        using = mdruns_of(self.run.parts)
        if not using or not self.one["written"] or "-noconfout" in using[-1].words or any("$" in word for word in using[-1].words):
            return None
        name = files_of(using[-1], "-c", ".gro", "confout.gro")[0]
        stem = name.rsplit(".", 1)[0]
        if any(self.run.filled(one) for one in self.run.names if one == name or one.startswith(f"{stem}.part")):
            return None
        return bad(
            self.run,
            Label.INCOMPLETE,
            f"mdrun finished, but its final structure {name} is {'empty' if name in self.run.names else 'missing'}",
            [Evidence(name, None, "no final structure")],
            "Check disk space and quota.",
        )

    def _good(self) -> Verdict:
        evidence = (*self.line("em"), *self.line("row"), *self.line("force"))
        if self.minimising:
            text = shown(self.one["em"][1], 120) if self.one["em"] else "The minimisation ended."
            label = Label.CONVERGED if self.one["em"] and "converged to Fmax" in self.one["em"][1] else Label.FINISHED
            return Verdict(label, text if text.endswith(".") else f"{text}.", evidence)
        steps = self.one["step"] if self.one["step"] is not None else self.total
        told = "A single point (0 steps) was computed, as asked." if not steps else f"All {steps} steps were done."
        last = Evidence(self.mdruns[-1][0], self.one["finished"], "Finished mdrun")
        return Verdict(Label.FINISHED, told, (*self.line("row"), *self.line("steps_line"), last))

    def _with_notes(self, verdict: Verdict) -> Verdict:
        """Adds what went wrong beside the result: a checkpoint that was not there, an earlier minimisation that failed."""
        if not verdict.good:
            return verdict
        notes = [f"-cpi {name} was not found: the run began at step 0 instead of going on." for name in self._lost_checkpoints()]
        rough = [run["em"] for _, run in self.mdruns[:-1] if run["em"] and ("did not" in run["em"][1] or "not converge" in run["em"][1])]
        notes += [f"An earlier minimisation did not meet its limit: {shown(rough[-1][1], 120)}"] if rough else []
        warned = self.told("warning") if self._overridden() else []
        notes += [f"grompp warned: {shown(warned[0][0], 160)}{self._overridden()}."] if warned else []
        advice = "Add the checkpoint to the inputs, if the run was to go on." if self._lost_checkpoints() else verdict.advice
        return replace(verdict, reason=" ".join([verdict.reason, *notes]), advice=advice)

    def _lost_checkpoints(self) -> list[str]:
        if self.one["continued"]:
            return []
        said = [
            (part, part.words[at + 1]) for part in mdruns_of(self.run.parts) for at, word in enumerate(part.words[:-1]) if word == "-cpi"
        ]
        named = re.search(r"-cpi (\S+)", called(self.run.folder, self.mdruns[-1][0])) if not said else None
        names = [part.place(name) for part, name in said] + ([named[1]] if named else [])
        return [name for name in names if name not in self.run.names and not name.startswith("-") and f"{name}.cpt" not in self.run.names]

    def _tools(self) -> Verdict:
        """No mdrun: grompp or an analysis tool."""
        wanted = mdruns_of(self.run.parts)
        if wanted or not self.run.ending.clean or self.run.troubles:
            reason = self.run.troubles[0].text if self.run.troubles and self.run.ending.clean else self.run.told
            return bad(
                self.run,
                Label.INCOMPLETE,
                f"{'mdrun left no output' if wanted else 'GROMACS did not come to its end'}: {reason}",
                self.run.troubles,
            )
        warned = [at for _, at in self.told("warning")]
        return Verdict(
            Label.FINISHED,
            "Finished: no error of the GROMACS tools.",
            tuple(warned[:3]) or (Evidence(self.logs[0].name, None, self.logs[0].program or "gmx"),),
        )
