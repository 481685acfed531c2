"""Limits of steps and tolerances that a run of pw.x can't meet.

The one idea to know: pw.x ends by itself when it has converged, so a limit of one step only forbids it to; and no energy in double
precision differs by less than its last digit.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..base import Finding, warning
from .deck import Deck, Value

_FINEST = 1e-16  # of a tolerance, in Ry
_MOVES = {"relax", "vc-relax"}


def check(deck: Deck) -> Iterator[Finding]:
    calculation = (deck.string("control", "calculation") or "scf").lower()
    steps, must = deck.value("electrons", "electron_maxstep"), deck.value("electrons", "scf_must_converge")
    if steps and steps.number == 1 and calculation not in ("nscf", "bands") and not (must and "f" in must.text.lower()):
        yield _never(deck, steps, "one step can't converge, so pw.x stops after it", "Leave it out (100), or allow as many.")
    moves = deck.value("control", "nstep")
    if moves and moves.number is not None and calculation in _MOVES and moves.number <= 1:
        yield _never(
            deck, moves, f"{calculation} with nstep={moves.text} ends before it can converge", "Leave it out (50), or allow more steps."
        )
    for namelist, name in (("electrons", "conv_thr"), ("control", "etot_conv_thr"), ("control", "forc_conv_thr")):
        value = deck.value(namelist, name)
        if value and value.number is not None and value.number < _FINEST and not (name == "conv_thr" and value.number <= 0):
            yield _never(deck, value, f"the tolerance {name} = {value.text} can never be met", "Give for instance 1.0d-8.")
    heaviest = deck.value("electrons", "mixing_beta")
    if heaviest and heaviest.number is not None and heaviest.number > 1:
        yield _never(
            deck, heaviest, f"mixing_beta is {heaviest.text}, above 1: the iterations grow apart", "Give for instance 0.7, or 0.3."
        )


def _never(deck: Deck, value: Value, what: str, remedy: str) -> Finding:
    return warning(
        f"{deck.name} line {value.line}: {what}.", file=deck.name, line=value.line, thing=f"{value.name} {value.text}", remedy=remedy
    )
