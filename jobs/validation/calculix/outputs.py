"""What a deck asks ccx to write: nothing at all, or nothing that ccx knows.

The one idea to know: a step without a request for output is computed and its result forgotten; ccx ends well all the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..base import Finding, warning
from .cards import Card, Deck

REQUESTS = ("NODEFILE", "NODEOUTPUT", "ELFILE", "ELEMENTOUTPUT", "CONTACTFILE", "CONTACTOUTPUT", "NODEPRINT", "ELPRINT", "CONTACTPRINT",
            "FACEPRINT", "SECTIONPRINT")  # fmt: skip
_SILENT = {"STATIC", "DYNAMIC", "HEATTRANSFER", "VISCO", "COUPLEDTEMPERATURE-DISPLACEMENT", "UNCOUPLEDTEMPERATURE-DISPLACEMENT",
           "MODALDYNAMIC", "STEADYSTATEDYNAMICS"}  # fmt: skip
_WRITERS = ("FREQUENCY", "BUCKLE", "COMPLEXFREQUENCY", "SENSITIVITY", "GREEN", "NOANALYSIS", "SUBSTRUCTUREGENERATE", "CRACKPROPAGATION",
            "ROBUSTDESIGN", "FEASIBLEDIRECTION", "HCF", "ELECTROMAGNETICS", "VIEWFACTOR", "MATRIXASSEMBLE", "CFD",
            "REFINEMESH")  # fmt: skip
_LABELS = {
    "NODEFILE": """U V NT RF RFL MAXU PNT PU PRF DEPF DEPT DTF CP CP3DF CT CT3D CT3DMI HCRI KEQ M3DF MACH MF POT PS PS3DF PSF PT PT3DF PTF SEN
    STR TS TS3DF TSF TT TT3DF TTF TURB TURB3DF V3DF VF TF MDIR COMB DTFR""",
    "ELFILE": """S E ENER PEEQ CEEQ ME PE ECD EMFB EMFE ERR HER HFL HFLF MAXE MAXS PHS SDV SF SMID SNEG SPOS SVF THE ZZS ZZSTR EMFBI
    NOE SNEW ERRMISES""",
    "NODEPRINT": "U V NT RF RFL PS PT PN PSF VF TF TS TSF TT TTF MF KEQ DEPF DEPT CT HCRI PTF MACH V3DF PS3DF TS3DF TURB POT STR",
    "ELPRINT": "S E ENER PEEQ CEEQ ME PE ELKE ELSE EBHE EMAS EVOL COORD HFL HFLF HER SDV SVF CENT SF THE ECD EMFB EMFE ZZS MAXS",
}
_SAME = {"NODEOUTPUT": "NODEFILE", "ELEMENTOUTPUT": "ELFILE"}


def check(deck: Deck) -> Iterator[Finding]:
    for card in deck.of(*_LABELS, *_SAME):
        yield from _unknown(card)
    if any("WRITE" in card.parameters for card in deck.of("RESTART")) or any(True for _ in deck.of(*_WRITERS)):
        return
    steps = [card for card in deck.cards if card.name in _SILENT]
    if steps and not any(_writes(card) for card in deck.of(*REQUESTS)):
        last = steps[-1]
        vain = next(deck.of(*REQUESTS), None)
        why = f"{vain.file} line {vain.line} (*{vain.name}) names nothing that ccx writes" if vain else "no step asks for output"
        at = vain or last
        yield warning(f"{deck.name}: {why}; ccx would compute *{last.name} and write no results.", file=at.file, line=at.line,
                      thing="*NODE FILE", remedy="Add *NODE FILE with U, and *EL FILE with S, to each step.")  # fmt: skip


def _writes(card: Card) -> bool:
    """It names something, is not switched off, and a print card has its set."""
    known = _known(card)
    named = [word for word in _words(card) if known is None or word in known]
    off = {card.parameters.get("FREQUENCY"), card.parameters.get("FREQUENCYF")} & {"0"}
    sets = {"NODEPRINT": "NSET", "ELPRINT": "ELSET"}.get(card.name)
    return bool(named) and not off and (sets is None or sets in card.parameters)


def _known(card: Card) -> set[str] | None:
    labels = _LABELS.get(_SAME.get(card.name, card.name))
    return set(labels.split()) if labels else None


def _words(card: Card) -> list[str]:
    return [word.upper() for _, text in card.data for word in text.split(",") if word]


def _unknown(card: Card) -> Iterator[Finding]:
    known = _known(card)
    word = next((word for word in _words(card) if known is not None and word not in known), None)
    if word is not None:
        line = next(line for line, text in card.data if word in text.upper().split(","))
        yield warning(f"{card.file} line {line}: ccx has no output {word} for *{card.name} and passes over it.", file=card.file, line=line,
                      thing=word, remedy="S holds the stresses (von Mises is made of them), E the strains, U the displacements.")  # fmt: skip
