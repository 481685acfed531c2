"""Directives, tasks and blocks of an NWChem deck: typing mistakes and forgotten ends."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from ..base import Finding, error, warning
from .deck import BLOCKS, SINGLES, Block, Deck, Row
from .geometry import SYMBOLS, is_number

_THEORIES = """scf dft sodft mp2 direct_mp2 rimp2 ccsd ccsd(t) ccsd+t(ccsd) mcscf selci tce semi tddft esp property md pspw band
    paw qmmm python shell rel cphf hessian freq frequencies neb zts dplot vscf ccca rt_tddft gw plumed mm oniom drdy
    uccsd uccsdt uccsdtq cisd cisdt mbpt2 mbpt3 mbpt4 lccd lccsd ccd prepare analysis bsse etrans stepper ecce_print string prop
    raman embed fcidump mp2_grad dntmc xtb tbt""".split()
_OPERATIONS = """energy gradient optimize saddle hessian frequencies freq freqs property dynamics thermodynamics numerical
    ignore shell neb string zts vscf raman fukui steepest_descent car-parrinello psp_generator psp_formatter psp_analysis
    wavefunction_initializer v_wavefunction_initializer wavefunction_expander band_structure dos bq optim bsse conical
    born-oppenheimer tropt noautosym noautoz analytic rismmc lmg rttddft drdy polarizability""".split()
_SCF = """nopen rhf rohf uhf singlet doublet triplet quartet quintet sextet septet octet sym adapt tol2e thresh maxiter vectors
    noscf level nr diis direct semidirect print noprint profile cosmo ri-scf lock maxsub pcg bytes memory sad noconv adapt_off
    fon ri nodiis lshift""".split()
_FUNCTIONALS = """acm b3lyp beckehandh pbe0 becke97 becke97-1 becke97-2 becke97-3 becke97-d becke98 hcth hcth120 hcth147 hcth407
    hcth407p becke97gga1 mpw91 mpw1k xft97 cft97 ft97 op bop pbeop hfexch slater becke88 xperdew91 xpbe96 gill96 perdew81
    vwn_1 vwn_2 vwn_3 vwn_4 vwn_5 vwn_1_rpa perdew86 perdew91 cpbe96 pw91lda lyp bc95 bb1k m05 m05-2x m06 m06-l m06-2x
    m06-hf m08-hx m08-so m11 m11-l mn12-l pw6b95 pwb6k tpss tpssh hse03 xwpbe b3lyp5 revpbe pbesol blyp bp86 cam-b3lyp
    xcamb88 xcampbe96 rpbe revtpss scan r2scan xscan cscan bhlyp b2plyp wb97x wb97x-d3 wb97 x3lyp optx s12g s12h cam-s12g
    cam-s12h xpkzb99 cpkzb99 xtpss03 ctpss03 ssb-d dlyp becke86b mpwb1k mpw1b95 xm05 xm06 cm05 cm06 xm06-l cm06-l rohf gaussian hle16 bnl2007 local nonlocal
    srhfexch pbe96 xsogga mn15 mn15-l sogga sogga11 sogga11-x gam n12 vs98 xvs98 cvs98 ncap rscan hf dldf""".split()
_BASES = re.compile(r"(sto-|\d-\d+|def2|(d-|t-|q-)?aug-|jun-|jul-|cc-|pc|dz|tz|qz|sv|lanl|stuttgart|crenb|ahlrichs|demon|dgauss|ano|ugbs|midi|mini|"
                    r"sbkjc|hay|los|nasa|weigend|x2c|dyall|sapporo|roos|partridge|wtbs|gamess|sadlej|dunning|def|iglo|[a-z]?[dtq56]z|mcc|apr|m6|"
                    r"minao|universal|\w*polariz|\w*fitting|binning|cologne|bauschlicher|core|chipman|blaudeau|coemd|ccemd|ccj|cvtz|g3|"
                    r"mg3|modified|nlo|nmr|pv|qmmm|s3|s6|saug|seg|feller|huzinaga|glendening|jorge|lanthanide|sarc|sdd|sdb|koga|y\w+|\dzapa)")  # fmt: skip


# Families whose names are made by a rule: how one begins, and how the whole looks.
_FAMILIES = tuple(
    (re.compile(start), re.compile(whole))
    for start, whole in (
        (r"def2-", r"def2-((ma-|m)?(sv\(p\)|svp|tzvpp?|qzvpp?)d?|.*(fit|ecp|universal|jk|ri|/c|/j).*)"),
        (r"(\w+-)?cc-p", r"(\w+-)?cc-p(w?c)?v\(?[dtq5-9]\)?(\(?\+d\)?)?z(?![a-z]).*"),
        (r"sto-", r"sto-[2-6]g(?![a-z]).*|sto-\dg\w*s\b.*"),
        (r"[346]-\d\d", r"[346]-(21|22|31|311)\+{0,2}g.*"),
    )
)


def check(deck: Deck) -> Iterator[Finding]:
    yield from _remarks(deck)
    for block in deck.items:
        if block.name not in BLOCKS | SINGLES:
            yield from _unknown(block.head)
        elif not block.closed and not deck.cut:
            yield _unclosed(block)
        elif block.name in ("scf", "dft", "driver"):
            yield from _numbers(block)
            yield from _method(block) if block.name != "driver" else ()
        elif block.name == "basis":
            yield from _basis(block)
        if block.name == "task":
            yield from _theory(block.head)
    if deck.complete and not any(True for _ in deck.of("task")):
        yield warning(f"{deck.name} has no task: nothing would be computed.", file=deck.name, line=1, thing="task",
                      remedy="Add for instance task scf energy.")  # fmt: skip


def _remarks(deck: Deck) -> Iterator[Finding]:
    """Lines that are remarks in other programs. One is enough."""
    for block in deck.items:
        for row in (block.head, *(block.rows if block.name in ("geometry", "basis", "scf", "dft", "driver") else ())):
            if row.name.startswith("!") or (row is block.head and row.name.startswith(_REMARKS)):
                yield error(f"{row.where} begins with {row.words[0]}: NWChem takes only what stands behind # for a remark.", file=row.file,
                            line=row.line, thing=row.words[0], remedy="Write # before it.")  # fmt: skip
                return


def _numbers(block: Block) -> Iterator[Finding]:
    for row in block.rows:
        stops = _NUMBERS.get((block.name, row.name))
        if stops is not None and len(row.words) > 1 and not is_number(row.words[1]):
            effect = "" if stops else "; NWChem would go on with its default"
            yield (error if stops else warning)(f"{row.where}: {row.name} wants a number, not {row.words[1]}{effect}.", file=row.file,
                                                line=row.line, thing=row.words[1], remedy="Write a number.")  # fmt: skip


def _unknown(row: Row) -> Iterator[Finding]:
    if not row.name.replace("_", "").isalpha():
        return
    near = difflib.get_close_matches(row.name, BLOCKS | SINGLES, 1, 0.7)
    make = error if near else warning
    yield make(f"{row.where}: {row.words[0]} is no directive of NWChem" + ("." if near else " that is known here."), file=row.file,
               line=row.line, thing=row.words[0], remedy=f"Did you mean {near[0]}?" if near else "Check its spelling.")  # fmt: skip


def _unclosed(block: Block) -> Finding:
    return error(f"{block.head.where}: the block {block.name} is not closed by end.", file=block.head.file, line=block.head.line,
                 thing=block.name, remedy="Add end after it.")  # fmt: skip


_GRID = """coarse xcoarse medium fine xfine huge gausleg lebedev eumac treutler erf1 erf2 ssf becke old nodisk rm level cfock murknowles
    delley accuracy""".split()
# Words of a block that want a number, and whether NWChem stops where they get none; else it goes on with its default.
_NUMBERS = {
    ("scf", "maxiter"): True, ("scf", "thresh"): True, ("scf", "tol2e"): True, ("scf", "nopen"): True, ("driver", "maxiter"): True,
    ("dft", "iterations"): False, ("dft", "mult"): False,
}  # fmt: skip
_FINEST = 1e-14  # of a tolerance
_REMARKS = ("!", "//", "%", "--", "/*")  # of other programs


def _method(block: Block) -> Iterator[Finding]:
    for row in block.rows:
        if block.name == "scf" and row.name not in _SCF and len(row.name) > 3:
            near = difflib.get_close_matches(row.name, _SCF, 1, 0.8)
            if near:
                yield error(f"{row.where}: scf knows no {row.words[0]}.", file=row.file, line=row.line, thing=row.words[0],
                            remedy=f"Did you mean {near[0]}?")  # fmt: skip
        elif row.name in ("maxiter", "iterations", "thresh", "tol2e") and len(row.words) > 1 and _not_positive(row.words[1]):
            yield error(f"{row.where}: {row.name} {row.words[1]} can never be met.", file=row.file, line=row.line, thing=row.name,
                        remedy="Give a value above zero.")  # fmt: skip
        elif (one := _once(block, row)) or (row.name == "convergence" and (one := _unreachable(row))):
            yield one
        elif row.name == "xc":
            yield from _functional(row)
        elif row.name == "grid" and block.name == "dft":
            yield from _grid(row)


def _once(block: Block, row: Row) -> Finding | None:
    """A self-consistent field that may take one step: it can't know whether it has converged."""
    limit = {"dft": "iterations", "scf": "maxiter"}.get(block.name)
    if row.name != limit or row.words[1:2] != ("1",) or any(other.name in ("noscf", "vectors") for other in block.rows):
        return None
    return warning(f"{row.where}: {limit} 1 can never converge, the first step has nothing to compare with.", file=row.file, line=row.line,
                   thing=f"{limit} 1", remedy=f"Allow for instance {limit} 50; it ends when it has converged.")  # fmt: skip


def _unreachable(row: Row) -> Finding | None:
    """A tolerance below what double precision holds."""
    for what, word in zip(row.words[1:], row.words[2:], strict=False):
        if what.lower() in ("energy", "density", "gradient") and is_number(word) and float(re.sub("[dD]", "e", word)) < _FINEST:
            return warning(f"{row.where}: the tolerance {word} of the {what.lower()} can never be met.", file=row.file, line=row.line,
                           thing=f"convergence {what}", remedy="Give for instance energy 1e-8 density 1e-6.")  # fmt: skip
    return None


def _grid(row: Row) -> Iterator[Finding]:
    """An unknown word is passed over, and the grid stays as it was."""
    for word in row.words[1:]:
        if len(word) > 3 and word.isalpha() and word.lower() not in _GRID:
            near = difflib.get_close_matches(word.lower(), _GRID, 1, 0.6)
            make = error if difflib.get_close_matches(word.lower(), _GRID, 1, 0.8) else warning
            yield make(f"{row.where}: grid knows no {word}.", file=row.file, line=row.line, thing=word,
                       remedy=f"Did you mean {near[0]}?" if near else f"Choose of {', '.join(_GRID[:6])}.")  # fmt: skip


def _not_positive(word: str) -> bool:
    return is_number(word) and float(re.sub("[dD]", "e", word)) <= 0


def _functional(row: Row) -> Iterator[Finding]:
    for word in row.words[1:]:
        if not is_number(word) and word.lower() not in _FUNCTIONALS:
            near = difflib.get_close_matches(word.lower(), _FUNCTIONALS, 1, 0.8)
            if near:
                yield error(f"{row.where}: the functional {word} is not known.", file=row.file, line=row.line, thing=word,
                            remedy=f"Did you mean {near[0]}?")  # fmt: skip


def _basis(block: Block) -> Iterator[Finding]:
    for row in (block.head, *block.rows):
        name = row.after("library") or ""
        if name and not _is_basis(name.lower()) and name.lower() not in SYMBOLS and "file" not in [w.lower() for w in row.words]:
            yield warning(f"{row.where}: the basis set {name} is not one that is known here.", file=row.file, line=row.line, thing=name,
                          remedy="Check its name in the library of NWChem.")  # fmt: skip


def _is_basis(name: str) -> bool:
    family = next((whole for start, whole in _FAMILIES if start.match(name)), None)
    return bool(family.fullmatch(name) if family else _BASES.match(name))


def _theory(row: Row) -> Iterator[Finding]:
    words = [word.lower() for word in row.words[1:]]
    if not words:
        yield error(f"{row.where}: task without a theory.", file=row.file, line=row.line, thing="task", remedy="Write task scf energy.")
        return
    for word, known, what in ((words[0], _THEORIES, "theory"), (words[1] if len(words) > 1 else "", _OPERATIONS, "operation")):
        if word and word not in known and word not in _THEORIES and words[0] not in ("shell", "python"):
            near = difflib.get_close_matches(word, known, 1, 0.7)
            other = _misplaced(word)
            make = error if near or other else warning
            yield make(f"{row.where}: the {what} {word} is not known.", file=row.file, line=row.line, thing=word,
                       remedy=other or (f"Did you mean {near[0]}?" if near else "Check its spelling."))  # fmt: skip


def _misplaced(word: str) -> str:
    """What to do about a word of a task that belongs elsewhere."""
    if word in _FUNCTIONALS:
        return f"{word} is a functional: write task dft, and xc {word} in the dft block."
    if word in _OPERATIONS and word not in _THEORIES:
        return f"Put the theory before it: task scf {word}."
    return f"{word} is a basis: name it in the basis block." if re.match(r"(6-31|cc-p|def2-|sto-\dg)", word) else ""
