"""The questions that a finished CalculiX job must answer, in the order in which a fault would show.

The one idea: each question gives a verdict or None; the first that gives one holds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from .base import Evidence, Label, Verdict
from .calculix_deck import Deck
from .calculix_results import Results, Row, factors, printed, rigid_modes
from .run import Run, bad
from .text import brief, shown, tail

STALLED = re.compile(r"(?i)cutbacks|smaller than minimum|max(?:\.|imum)? # of increments|too many iterations|no convergence|not converge")
BLOWN = re.compile(r"(?i)diverge")
FAR = 10.0  # displacements beyond so many model sizes cannot be
HOT = 1e7  # no temperature, in kelvin or degrees


@dataclass
class Checks:
    """Everything known of one ccx job; each question answers with a verdict or None."""

    run: Run
    job: str
    deck: Deck | None
    rows: list[Row]
    frd: Results
    facts: dict[str, Any]
    log: str

    @property
    def steps(self) -> int:
        return max(len(self.deck.steps) if self.deck else 0, self.rows[-1].step if self.rows else 0)

    @property
    def where(self) -> str:
        """The step that the run was in: "step 2 of 2, increment 1"."""
        step = self.rows[-1].step if self.rows else 1
        tail = f", increment {self.rows[-1].increment}" if self.rows else ""
        return f"step {step} of {max(self.steps, step)}{tail}"

    def last_row(self) -> list[Evidence]:
        return [Evidence(f"{self.job}.sta", self.rows[-1].line, self.rows[-1].text)] if self.rows else []

    def error(self) -> Verdict | None:
        errors = [Evidence(self.log, number, text) for number, text in self.facts.get("errors", [])]
        if not errors:
            return None
        told = next((one for one in errors if STALLED.search(one.text) or BLOWN.search(one.text)), None)
        if told is None:
            what = errors[0].text.removeprefix("*").strip()
            return bad(
                self.run,
                Label.INCOMPLETE,
                f"CalculiX stopped with an error: {what}",
                errors,
                "Correct the card that the message names; ccx may end with exit code 0 all the same.",
            )
        done = [row.step for row in self.rows if row.converged and self._full(row)]
        step = self.deck.step(self.rows[-1].step) if self.rows and self.deck else None
        at = f" It ended at {brief(self.rows[-1].time)} of {brief(step.period)}." if step else ""
        before = at + f" Only step {max(done)} has results." if done else at + " No step is complete."
        label = Label.DIVERGED if BLOWN.search(told.text) and not STALLED.search(told.text) else Label.NOT_CONVERGED
        reason = told.text.removeprefix("*ERROR").lstrip(": ")
        return bad(
            self.run,
            label,
            f"{self.where[:1].upper()}{self.where[1:]} did not converge ({shown(reason, 90)}).{before}",
            [told, *self.last_row()],
            "Smaller first increment, a lower minimum, smaller load; check contact, material and supports.",
            self.where,
        )

    def nan(self) -> Verdict | None:
        told = self.facts.get("nan")
        found = [Evidence(self.log, *told)] if told else []
        dat = printed(self.run.folder, f"{self.job}.dat")
        found += [one for one in (self.frd.not_a_number, dat.not_a_number) if one]
        if not found:
            return None
        return bad(
            self.run,
            Label.DIVERGED,
            f"The result is not a number (NaN) in {found[0].file}",
            found,
            "Check material data, supports and element shapes; start with a smaller increment.",
            self.where,
        )

    def short(self) -> Verdict | None:
        """Not at the end: no last words, or a step that is shorter than asked."""
        ended = bool(self.facts.get("finished")) if self.facts else self.frd.complete
        if not ended:
            seen = f"CalculiX ended early, in {self.where}: its last words are missing. {self.run.told}"
            return bad(self.run, Label.INCOMPLETE, seen, [*self.last_row(), *self.run.troubles])
        for row in self._ends():
            step = self.deck.step(row.step) if self.deck else None
            if step and not self._full(row):
                reason = (
                    f"Step {row.step} of {self.steps} ended at {brief(row.time)} of {brief(step.period)}: "
                    f"{'not all of it was computed' if row.converged else 'its last increment did not converge'}"
                )
                return bad(
                    self.run,
                    Label.INCOMPLETE if row.converged else Label.NOT_CONVERGED,
                    reason,
                    [Evidence(f"{self.job}.sta", row.line, row.text)],
                    "Allow more increments (INC=) or smaller ones.",
                )
        return None

    def idle(self) -> Verdict | None:
        """Steps of the deck that never began: ccx computes a step when it reads its *END STEP, and ends well without one."""
        began = max(self.facts.get("step", 0), self.rows[-1].step if self.rows else 0)
        asked = len(self.deck.steps) if self.deck else 0
        if not self.facts or began >= max(asked, 1) or (not began and self.frd.blocks):
            return None
        what = "no step was computed" if not began else f"only {_many(began, 'step')} of {asked} was computed"
        return bad(
            self.run,
            Label.INCOMPLETE,
            f'CalculiX says "Job finished", but {what}',
            [*self._finish(), *self.last_row()],
            "Close every *STEP with *END STEP, and look for a misplaced include.",
        )

    def unwritten(self) -> Verdict | None:
        frd, dat = f"{self.job}.frd", f"{self.job}.dat"
        if self.deck and self.deck.results and not self.run.filled(frd):
            return bad(
                self.run,
                Label.INCOMPLETE,
                f"CalculiX finished, but {frd} is {'empty' if frd in self.run.names else 'missing'}: no results were written",
                [Evidence(frd, None, "no results")],
                "Check disk space and the job's name.",
            )
        if self.deck and self.deck.prints and self.rows and dat in self.run.names and not self.run.filled(dat):
            return bad(
                self.run,
                Label.INCOMPLETE,
                f"CalculiX finished, but {dat} is empty, although the deck asks for printed results",
                [Evidence(dat, None, "0 bytes"), *self.last_row()],
                "The disk was full, or the printed set is empty: look at *NODE PRINT and *EL PRINT.",
            )
        for name, cut in ((frd, self.run.filled(frd) and not self.frd.complete), (dat, self._cut(dat))):
            if cut:
                return bad(
                    self.run,
                    Label.INCOMPLETE,
                    f"CalculiX finished, but {name} is cut off: its end is missing, so not all results were written",
                    [
                        Evidence(name, None, shown(tail(self.run.folder, name, 300).rsplit(b"\n", 1)[-1]) or "no closing line 9999"),
                        *self.last_row(),
                    ],
                    "The disk was full, or a limit of file sizes was reached: make room, and run it again.",
                )
        if self.deck and not self.deck.results and not self.run.filled(dat) and not self.frd.blocks and self.deck.steps:
            return bad(
                self.run,
                Label.INCOMPLETE,
                f"CalculiX finished, but the deck asks for no output: no results in {frd} or {dat}",
                [Evidence(f"{self.job}.inp", None, "no *NODE FILE, *EL FILE or *... PRINT")],
                "Add *NODE FILE and *EL FILE to the step.",
            )
        return None

    def _cut(self, name: str) -> bool:
        """A text in lines whose last line has no end."""
        return self.run.filled(name) and not tail(self.run.folder, name, 1).endswith(b"\n")

    def too_far(self) -> Verdict | None:
        dat = printed(self.run.folder, f"{self.job}.dat")
        best = max((self.frd, dat), key=lambda one: one.largest)
        kinds = self.deck.kinds if self.deck else set()
        if self.frd.hottest > HOT:
            return bad(
                self.run,
                Label.DIVERGED,
                f"Not to be trusted: a temperature of {self.frd.hottest:.3g}",
                [one for one in (self.frd.hot_at,) if one],
                "Hold the temperature somewhere (*BOUNDARY with degree of freedom 11, *FILM or *RADIATE), and check units.",
            )
        limit = FAR * (100 if "DYNAMIC" in kinds else 1) * (self.frd.size or 1e6)
        if best.largest <= limit:
            return None
        ratio = best.largest / (self.frd.size or 1.0)
        why = (
            "There is no *BOUNDARY in the deck."
            if self.deck and not self.deck.boundary
            else "Are supports missing (a rigid body), or units mixed?"
        )
        return bad(
            self.run,
            Label.DIVERGED,
            f"Not to be trusted: the largest displacement is {best.largest:.3g}, {ratio:.1g} times the size of the model. {why}",
            [one for one in (best.at,) if one],
            "Support the model against every rigid body motion (*BOUNDARY), and check loads, units and Young's modulus.",
        )

    def good(self) -> Verdict:
        negative = [(factor, told) for factor, told in factors(self.run.folder, f"{self.job}.dat") if factor < 0]
        evidence = [*self._finish(), *self.last_row(), *[told for _, told in negative[:3]]]
        if negative:
            reason = (
                f"Finished, but {len(negative)} buckling factors are negative (first {negative[0][0]:.4g}): these modes "
                f"belong to the load turned round (it pulls)."
            )
            return Verdict(Label.FINISHED, reason, tuple(evidence), "Turn the load's sign, or look at the positive factors only.")
        loose = rigid_modes(self.run.folder, f"{self.job}.dat")
        if loose:
            reason = (
                f"Finished, but {_many(len(loose), 'eigenmode')} of frequency zero or below: the body can move freely (rigid body modes)."
            )
            return Verdict(Label.FINISHED, reason, (*evidence, *loose[:2]), "Right for a free body; else a support (*BOUNDARY) is missing.")
        iterated = any(row.iterations > 1 for row in self.rows)
        increments = len({(row.step, row.increment) for row in self.rows if row.converged})
        far = self._far()
        if iterated:
            return Verdict(
                Label.CONVERGED,
                f"Converged: {_many(self.steps, 'step')} computed to the end in {_many(increments, 'increment')}.{far}",
                tuple(evidence),
            )
        return Verdict(
            Label.FINISHED, f"Finished: {_many(self.steps or 1, 'step')} without iterations, results written.{far}", tuple(evidence)
        )

    def _far(self) -> str:
        if not self.frd.size or self.frd.largest <= self.frd.size:
            return ""
        return f" The largest displacement ({self.frd.largest:.3g}) exceeds the model's size ({self.frd.size:.3g}): check loads and units."

    def _finish(self) -> list[Evidence]:
        return [Evidence(self.log, self.facts["finished"], "Job finished")] if self.facts.get("finished") else []

    def _ends(self) -> list[Row]:
        return list({row.step: row for row in self.rows}.values())

    def _full(self, row: Row) -> bool:
        step = self.deck.step(row.step) if self.deck else None
        return step is None or row.time >= step.period * (1 - 1e-3)


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
