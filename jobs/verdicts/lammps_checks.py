"""The questions that a finished start of LAMMPS must answer: errors, lost atoms, missing steps, minimisation, files.

The one idea: each question gives a verdict or None; the first that gives one holds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from .base import Evidence, Label, Verdict
from .lammps_deck import Action, Deck
from .run import Run, bad
from .text import head, shown, tail

PROGRAM = re.compile(r"^(?:lmp|lammps)[\w.+-]*$", re.I)
BLOWN = re.compile(
    r"(?i)lost atoms|non-numeric|simulation unstable|is nan|out of range atoms|bond atoms? .*missing|atoms? .*missing on "
    r"proc|too far|bond too long|bad fene bond|neighbor list overflow|too many neighbor bins"
)
MEMORY = re.compile(r"(?i)failed to (?:re)?allocate|out of memory|bad_alloc|not enough memory")
REACHED = ("energy tolerance", "force tolerance", "forces are zero", "force tolerance per atom")
LIMITED = ("max iterations", "max force evaluations", "walltime limit reached")
MANY = 0.01  # part of the atoms that may be lost before the result is called diverged


def is_cut(run: Run, name: str) -> bool:
    """A text of LAMMPS whose last line has no end."""
    text = head(run.folder, name, 16).startswith((b"ITEM:", b"LAMMPS data"))
    return text and not tail(run.folder, name, 1).endswith(b"\n")


@dataclass
class Checks:
    """One start of LAMMPS set against its input."""

    run: Run
    one: dict[str, Any]
    log: str
    deck: Deck | None

    def judge(self) -> Verdict:
        return (
            self._error()
            or self._blown()
            or self._cut()
            or self._lost()
            or self._idle()
            or self._short()
            or self._minimum()
            or self._unwritten()
            or self._good()
        )

    @property
    def at(self) -> str:
        return f"step {self.one['step']}" if self.one["step"] is not None else "the start"

    def line(self, key: str) -> list[Evidence]:
        told = self.one[key]
        return [Evidence(self.log, told[0], told[1])] if told else []

    def _error(self) -> Verdict | None:
        if not self.one["errors"]:
            return None
        number, text = self.one["errors"][0]
        place = self.deck.line_of(self.one["command"]) if self.deck else None
        evidence = [Evidence(self.log, number, text), *self.line("row"), *([place] if place else [])]
        command = f" (last command: {shown(self.one['command'], 80)})" if self.one["command"] else ""
        told, label = text.removeprefix("ERROR").lstrip(": "), Label.INCOMPLETE
        if BLOWN.search(text):
            label, reason = Label.DIVERGED, f"LAMMPS blew up at {self.at}: {told}"
            advice = "Smaller timestep, a minimisation before the run, or look for atoms that overlap."
        elif MEMORY.search(text):
            reason = f"LAMMPS ran out of memory: {told}{command}"
            advice = "Choose a coretype with more memory, more nodes, or a smaller model."
        else:
            reason = f"LAMMPS stopped at {self.at}: {told}{command}"
            advice = "Correct that line of the input; a style that is unknown belongs to a package that this build lacks."
        return bad(self.run, label, reason, evidence, advice, self.at)

    def _blown(self) -> Verdict | None:
        one = self.one
        if one["nan"]:
            return bad(
                self.run,
                Label.DIVERGED,
                f"LAMMPS diverged: {one['nan'][2]} is not a number (nan)",
                self.line("nan"),
                "Smaller timestep, or a minimisation before the run.",
                self.at,
            )
        if one["hot"]:
            return bad(
                self.run,
                Label.DIVERGED,
                "LAMMPS diverged: temperature or energy that cannot be",
                self.line("hot"),
                "Smaller timestep, or a minimisation before the run.",
                self.at,
            )
        return None

    def _cut(self) -> Verdict | None:
        if self.one["wall"]:
            return None
        asked, at = self._asked(), len(self.one["loops"])
        if self.deck and self.deck.quits and at >= len(self.deck.actions):
            return None
        of = f" of {asked[at].steps}" if at < len(asked) and asked[at].steps else ""
        return bad(
            self.run,
            Label.INCOMPLETE,
            f"LAMMPS ended early, at {self.at}{of}: its last words (Total wall time) are missing. {self.run.told}",
            [*self.line("row"), *self.run.troubles],
            at=self.at,
        )

    def _lost(self) -> Verdict | None:
        first, last, told = self._atoms()
        if first is None or last is None or last >= first:
            return None
        counted = last == 0 or self.one["lost"] or (self.deck and self.deck.lost in ("ignore", "warn") and not self.deck.loses)
        if not counted or (first - last) / first < MANY:
            return None
        modify = [one for one in self.deck.lines if "thermo_modify" in one.text and "lost" in one.text] if self.deck else []
        what = "all atoms were lost" if last == 0 else f"{first - last} atoms were lost"
        return bad(
            self.run,
            Label.DIVERGED,
            f"{first} atoms at the start, {last} at the end: {what}",
            [*told, *modify],
            "Do not ignore lost atoms; use a smaller timestep or other boundaries.",
            self.at,
        )

    def _atoms(self) -> tuple[int | None, int | None, list[Evidence]]:
        loops, lost = self.one["loops"], self.one["lost"]
        last = loops[-1][1] if loops else None
        told = [Evidence(self.log, loops[-1][2], loops[-1][3])] if loops else []
        first = self.one["atoms"] if self.one["atoms"] is not None else (loops[0][1] if loops else None)
        if lost:
            return max(first or 0, lost[2]), min(last if last is not None else lost[3], lost[3]), [*told, *self.line("lost")]
        return first, last, told

    def _idle(self) -> Verdict | None:
        if self.one["loops"]:
            return None
        wrote = [at for name, at in self.deck.files if self.run.filled(self._place(name))] if self.deck else []
        if wrote:
            return Verdict(Label.FINISHED, "LAMMPS built its model and wrote it; the input asks for no run.", tuple(wrote))
        gone = list(self.deck.rest[:2]) if self.deck else []
        hint = " A line with run is commented out." if gone else ""
        return bad(
            self.run,
            Label.INCOMPLETE,
            f"Nothing was computed: no run or minimize was done (0 steps).{hint}",
            [Evidence(self.log, self.one["wall"], "Total wall time"), *gone],
            "Add a run or minimize command to the input.",
        )

    def _short(self) -> Verdict | None:
        """Fewer steps than asked for, or fewer runs."""
        asked, done = self._asked(), self.one["loops"]
        for action, loop in zip(asked, done, strict=False):
            if action.kind != "run" or not action.steps or loop[0] >= action.steps:
                continue
            if self.one["halt"]:
                return None
            limit = self.one["limit"] or (self.deck and self.deck.timeout)
            why = "the time limit of the input (timer timeout) was reached" if limit else "it ended before"
            place = [self.deck.timeout] if self.deck and self.deck.timeout else []
            return bad(
                self.run,
                Label.INCOMPLETE,
                f"{loop[0]} of {action.steps} steps were done: {why}",
                [Evidence(self.log, loop[2], loop[3]), action.at, *self.line("limit"), *place],
                "Go on from the last restart or data file, or give it more time.",
                self.at,
            )
        if len(done) < len(asked) and not self.one["halt"]:
            return bad(
                self.run,
                Label.INCOMPLETE,
                f"{len(done)} of {len(asked)} runs were done",
                [Evidence(self.log, done[-1][2], done[-1][3]), asked[len(done)].at],
                "Look what ended the input before that line.",
            )
        return None

    def _asked(self) -> list[Action]:
        """What was asked for: as echoed in the log (loops unrolled), else as the input says if it has no branches."""
        if self.one["echo"]:
            return [Action(kind, Evidence(self.log, number, text), steps) for kind, steps, number, text in self.one["echo"]]
        return self.deck.actions if self.deck and not self.deck.branches else []

    def _minimum(self) -> Verdict | None:
        minima = self.one["minima"]
        if not minima or minima[-1][3] < len(self.one["loops"]):
            return None  # dynamics after a minimisation: that it was rough does no harm
        number, text, criterion, _ = minima[-1]
        told = Evidence(self.log, number, text)
        action = next((one for one in reversed(self.deck.actions) if one.kind == "minimize"), None) if self.deck else None
        if criterion in REACHED:
            return None
        if criterion in LIMITED:
            return bad(
                self.run,
                Label.NOT_CONVERGED,
                f"The minimisation did not converge: it stopped at its limit ({criterion})",
                [told, *([action.at] if action else [])],
                "Allow more iterations and force evaluations, or begin with a better structure.",
            )
        if action and not action.etol and not action.ftol:
            return None
        return bad(
            self.run,
            Label.NOT_CONVERGED,
            f"The minimisation ended without reaching its tolerances ({criterion})",
            [told, *([action.at] if action else [])],
            "It may be as low as the arithmetic allows: see the last forces, or loosen the tolerances.",
        )

    def _unwritten(self) -> Verdict | None:
        for name, at in self.deck.files if self.deck and not self.deck.branches else []:
            if "$" not in name and not self.run.filled(self._place(name)) and self.run.command:
                return bad(
                    self.run,
                    Label.INCOMPLETE,
                    f"{name} should have been written, but is {'empty' if self._place(name) in self.run.names else 'missing'}",
                    [at],
                    "Check disk space and the name.",
                )
        for name, at in [*self.deck.files, *self.deck.dumps] if self.deck and not self.deck.branches else []:
            place = self._place(name)
            if self.run.filled(place) and is_cut(self.run, place):
                last = shown(tail(self.run.folder, place, 200).rsplit(b"\n", 1)[-1])
                return bad(
                    self.run,
                    Label.INCOMPLETE,
                    f"All steps were done, but {name} is cut off in the middle of a line: the disk may have been full",
                    [Evidence(place, None, last), at],
                    "Make room, write less often, and run it again.",
                )
        return None

    def _place(self, name: str) -> str:
        using = self.run.using(PROGRAM)
        return using[-1].place(name) if using else name

    def _good(self) -> Verdict:
        one = self.one
        evidence = [*self.line("halt"), *[Evidence(self.log, loop[2], loop[3]) for loop in one["loops"][-1:]]]
        last = one["minima"][-1] if one["minima"] else None
        if last and last[3] >= len(one["loops"]):
            label = Label.CONVERGED if last[2] in REACHED else Label.FINISHED
            return Verdict(
                label,
                f"The minimisation {'converged' if label is Label.CONVERGED else 'ended'} ({last[2]}).",
                (Evidence(self.log, last[0], last[1]), *evidence),
            )
        lost = f" {one['lost'][2] - one['lost'][3]} atoms were lost on the way." if one["lost"] else ""
        halted = " It was ended by fix halt, as the input asks." if one["halt"] else ""
        steps = sum(loop[0] for loop in one["loops"])
        return Verdict(Label.FINISHED, f"All {steps} steps were done with {one['loops'][-1][1]} atoms.{halted}{lost}", tuple(evidence))
