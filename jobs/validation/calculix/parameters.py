"""Parameters of keyword cards: typing mistakes.

The one idea to know: ccx passes over a parameter that it does not know with a warning, so NLGEON is a linear step. Any word that
looks like a parameter of some card, and is one of none, is said; words of Abaqus that look like none are not.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from ..base import Finding, error
from .cards import Card, Deck

_KNOWN = frozenset(
    """ADJUST ALPHA AMPLITUDE BEGINSTEP BOTTOM BSTEP CAVITY CENTER COMPOSITE CONTACTELEMENTS CONSTANTS CONVERT COORDINATE CYCLIC CYCLICSYMMETRY
    CYCMPC DEADLOADS DEFINITION DEGREES DEPENDENCIES DIRECT DISTRIBUTING ELASTIC ELEMENTS ELSET EXPLICIT FEASIBLEDIRECTION FILE FILENAME FIXED
    FLUX FREQUENCY FREQUENCYF FRICTION GENERAL GENERATE GLOBAL GLOBALELSET HARDENING HARMONIC IMAGINARY INC INCF INPUT INTERACTION INTERNAL
    LASTITERATIONS LINEAR LINE LOADCASE LUMPED MASTER MATERIAL MASSFLOW MAXIMUM MINIMUM MODES MULTIPLE N NAME NBASEMOTION NEW NGRAPH NLGEOM
    NODALTHICKNESS NODES NOGENERATE NORMAL NSET NUMBER OBJECTIVE OFFSET OFFSET1 OFFSET2 OMEGA0 OP ORIENTATION OUTPUT OVERLAY OVERWRITE
    PARAMETERS PARTS PERTURBATION PHYSICAL POINTS POSITION PRESSURE PRETENSION READ REFNODE REGION RELAXED REMOVE REMOVEALL REPLACE RESET
    RHSINPUT ROTNODE SCALE SECTION SECTIONFORCES SHAPE SHOCKPOINT SIMPLEC SLAVE SMALLSLIDING SOLVER SPLIT SPOOL STANDARD START STATIONARY
    STEADYSTATE STEP STEPINC STORAGE SUBMODEL SURFACE SYSTEM TABLE TEMPERATURE THERMAL TIE TIME TIMEDELAY TIMEPOINTS TIMERESET TOL TOP
    TOTALS TOTALTIME TURBULENCEMODEL TWO TYPE UNITS USER USERAMPLITUDE VALUE VARIABLE VARIABLES VELOCITY VIEWFACTOR WRITE ZERO CAVITYSIZE
    COMPRESSIBLE COUPLED COUPLING CONSTRAINT CRACK CREEP DAMPING DENSITY DISTRIBUTION EIGENVALUES ENGINEERING ENVNODE EXTRAPOLATE FLOW
    GAS GENERALIZED INITIAL INSTANCE KINEMATIC LABEL LAW LAYER MPC NODEONLY NOINPUT PROPERTY RADIUS REDUCE SEGMENTS SEQUENCE SHIFT STATE
    ANSYS LENGTH LIQUID ISOTROPIC KIRCHHOFF HYBRID HYPER AXIAL BULK PERCENT COMPLEX REAL ECHO MODEL HISTORY CONTACT FIELD UNSYMM EXTRAPOLATION
    MECHANICAL MODAL DSA INTEGRATE RATE POISSON FORMULATION CONTROLS CATEGORY""".split()
)
_CARDS = ("STEP", "STATIC", "DYNAMIC", "HEATTRANSFER", "VISCO", "FREQUENCY", "BUCKLE", "BOUNDARY", "CLOAD", "DLOAD", "DFLUX", "CFLUX", "FILM",
          "RADIATE", "TEMPERATURE", "NODEFILE", "ELFILE", "NODEPRINT", "ELPRINT", "CONTACTFILE", "CONTACTPAIR", "TIE", "SURFACE", "ELEMENT",
          "NODE", "NSET", "ELSET", "SOLIDSECTION", "SHELLSECTION", "BEAMSECTION", "MATERIAL", "ELASTIC", "PLASTIC", "EXPANSION", "AMPLITUDE",
          "INITIALCONDITIONS", "RIGIDBODY", "TRANSFORM", "ORIENTATION", "COUPLEDTEMPERATURE-DISPLACEMENT",
          "UNCOUPLEDTEMPERATURE-DISPLACEMENT")  # fmt: skip


def check(deck: Deck) -> Iterator[Finding]:
    for card in deck.of(*_CARDS):
        yield from _card(card)


def _card(card: Card) -> Iterator[Finding]:
    if "INPUT" in card.parameters:  # a word of Abaqus; ccx has it for *INCLUDE and *SUBMODEL alone
        yield error(f"{card.file} line {card.line}: *{card.name} has no parameter INPUT in ccx; it would go on without that file's data.",
                    file=card.file, line=card.line, thing=card.parameters["INPUT"],
                    remedy=f"Put a line *INCLUDE, INPUT={card.parameters['INPUT']} behind the card.")  # fmt: skip
        return
    for word in card.parameters:
        near = difflib.get_close_matches(word, sorted(_KNOWN), 1, 0.8) if len(word) > 2 and word not in _KNOWN else []
        if near and not word.startswith(near[0]) and near[0] != word + "S":  # ccx compares beginnings
            yield error(f"{card.file} line {card.line}: *{card.name} has no parameter {word}; ccx would go on without it.", file=card.file,
                        line=card.line, thing=word, remedy=f"Did you mean {near[0]}?")  # fmt: skip
            return
