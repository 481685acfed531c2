"""Directives, tasks and blocks of an NWChem deck: typing mistakes and forgotten ends."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from ..base import Finding, error, warning
from .deck import BLOCKS, SINGLES, Block, Deck, Row

_THEORIES = """scf dft sodft mp2 direct_mp2 rimp2 ccsd ccsd(t) ccsd+t(ccsd) mcscf selci tce semi tddft esp property md pspw band
    paw qmmm python shell rel cphf hessian freq frequencies neb zts dplot vscf ccca rt_tddft gw plumed mm oniom drdy
    uccsd uccsdt uccsdtq cisd cisdt mbpt2 mbpt3 mbpt4 lccd lccsd ccd prepare analysis bsse etrans stepper ecce_print string prop
    raman embed fcidump mp2_grad dntmc""".split()
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
_SYMBOLS = frozenset(
    """h he li be b c n o f ne na mg al si p s cl ar k ca sc ti v cr mn fe co ni cu zn ga ge as se br kr rb sr y zr nb mo tc ru rh
    pd ag cd in sn sb te i xe cs ba la ce pr nd pm sm eu gd tb dy ho er tm yb lu hf ta w re os ir pt au hg tl pb bi po at rn fr
    ra ac th pa u np pu am cm bk cf es fm md no lr bq x""".split()
)


def check(deck: Deck) -> Iterator[Finding]:
    for block in deck.items:
        if block.name not in BLOCKS | SINGLES:
            yield from _unknown(block.head)
        elif not block.closed and not deck.cut:
            yield _unclosed(block)
        elif block.name == "geometry":
            yield from _geometry(block)
        elif block.name in ("scf", "dft"):
            yield from _method(block)
        elif block.name == "basis":
            yield from _basis(block)
        if block.name == "task":
            yield from _theory(block.head)
    if deck.complete and not any(True for _ in deck.of("task")):
        yield warning(f"{deck.name} has no task: nothing would be computed.", file=deck.name, line=1, thing="task",
                      remedy="Add for instance task scf energy.")  # fmt: skip


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


def _geometry(block: Block) -> Iterator[Finding]:
    inner = {row.name for row in block.rows}
    atoms = [row for row in block.rows if len(row.words) >= 4 and _is_number(row.words[1])]
    if not atoms and not inner & {"load", "zmatrix", "zmat", "zmt", "system", "use", "unload"} and \
            not any(word.lower() in ("load", "bqbq") for word in block.head.words):  # fmt: skip
        yield error(f"{block.head.where}: the geometry has no atoms.", file=block.head.file, line=block.head.line, thing="geometry",
                    remedy="Add lines such as O 0 0 0.")  # fmt: skip
    yield from _places(atoms) if not inner & {"zmatrix", "zmat", "zmt", "zcoord"} else ()
    for row in atoms:
        letters = re.match(r"[a-z]*", row.name)
        symbol = letters.group() if letters else ""
        if symbol and symbol[:2] not in _SYMBOLS and symbol[:1] not in _SYMBOLS and not symbol.startswith("bq"):
            yield error(f"{row.where}: {row.words[0]} is no element.", file=row.file, line=row.line, thing=row.words[0],
                        remedy="Begin the tag with the symbol of an element.")  # fmt: skip


def _places(atoms: list[Row]) -> Iterator[Finding]:
    """Coordinates that are no numbers, and two atoms in one place."""
    seen: dict[tuple[float, ...], Row] = {}
    for row in atoms:
        wrong = next((word for word in row.words[1:4] if not _is_number(word)), None)
        if wrong:
            yield error(f"{row.where}: the coordinate {wrong} of {row.words[0]} is no number.", file=row.file, line=row.line, thing=wrong,
                        remedy="Write x, y and z behind the tag.")  # fmt: skip
            return
        place = tuple(float(re.sub("[dD]", "e", word)) for word in row.words[1:4])
        if place in seen:
            yield error(f"{row.where}: {row.words[0]} is where {seen[place].words[0]} of line {seen[place].line} is.", file=row.file,
                        line=row.line, thing=row.words[0], remedy="Correct the coordinates.")  # fmt: skip
            return
        seen[place] = row


_GRID = """coarse xcoarse medium fine xfine huge gausleg lebedev eumac treutler erf1 erf2 ssf becke old nodisk rm level cfock""".split()


def _is_number(word: str) -> bool:
    return bool(re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eEdD][-+]?\d+)?", word))


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
        elif row.name == "xc":
            yield from _functional(row)
        elif row.name == "grid" and block.name == "dft":
            for word in row.words[1:]:
                near = difflib.get_close_matches(word.lower(), _GRID, 1, 0.8) if word.isalpha() and word.lower() not in _GRID else []
                if near:
                    yield error(
                        f"{row.where}: grid knows no {word}.", file=row.file, line=row.line, thing=word, remedy=f"Did you mean {near[0]}?"
                    )


def _not_positive(word: str) -> bool:
    return _is_number(word) and float(re.sub("[dD]", "e", word)) <= 0


def _functional(row: Row) -> Iterator[Finding]:
    for word in row.words[1:]:
        if not _is_number(word) and word.lower() not in _FUNCTIONALS:
            near = difflib.get_close_matches(word.lower(), _FUNCTIONALS, 1, 0.8)
            if near:
                yield error(f"{row.where}: the functional {word} is not known.", file=row.file, line=row.line, thing=word,
                            remedy=f"Did you mean {near[0]}?")  # fmt: skip


def _basis(block: Block) -> Iterator[Finding]:
    for row in (block.head, *block.rows):
        name = row.after("library") or ""
        if name and not _BASES.match(name.lower()) and name.lower() not in _SYMBOLS and "file" not in [w.lower() for w in row.words]:
            yield warning(f"{row.where}: the basis set {name} is not one that is known here.", file=row.file, line=row.line, thing=name,
                          remedy="Check its name in the library of NWChem.")  # fmt: skip


def _theory(row: Row) -> Iterator[Finding]:
    words = [word.lower() for word in row.words[1:]]
    if not words:
        yield error(f"{row.where}: task without a theory.", file=row.file, line=row.line, thing="task", remedy="Write task scf energy.")
        return
    for word, known, what in ((words[0], _THEORIES, "theory"), (words[1] if len(words) > 1 else "", _OPERATIONS, "operation")):
        if word and word not in known and word not in _THEORIES and words[0] not in ("shell", "python"):
            near = difflib.get_close_matches(word, known, 1, 0.7)
            make = error if near else warning
            yield make(f"{row.where}: the {what} {word} is not known.", file=row.file, line=row.line, thing=word,
                       remedy=f"Did you mean {near[0]}?" if near else "Check its spelling.")  # fmt: skip
