"""Lists of words that LAMMPS fixes: columns of the thermo output and of a dump, keywords that come with a value.

The one idea to know: a word that looks like one of the list is a typing mistake, and so is any other where the list is closed; else
it may be of a newer version and is only warned of, if at all.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from ..base import Finding, error, warning
from .script import Command, Script, is_known

_THERMO = frozenset(
    """step elapsed elaplong dt time cpu tpcpu spcpu cpuremain cpuuse part timeremain atoms temp press pe ke etotal enthalpy evdwl ecoul
    epair ebond eangle edihed eimp emol elong etail vol density lx ly lz xlo xhi ylo yhi zlo zhi xy xz yz xlat ylat zlat bonds angles
    dihedrals impropers pxx pyy pzz pxy pxz pyz fmax fnorm nbuild ndanger cella cellb cellc cellalpha cellbeta cellgamma econserve
    ecouple avecx avecy avecz bvecx bvecy bvecz cvecx cvecy cvecz""".split()
)
_DUMP = frozenset(
    """id mol type typelabel proc procp1 element mass x y z xs ys zs xu yu zu xsu ysu zsu ix iy iz vx vy vz fx fy fz q mux muy muz mu
    radius diameter omegax omegay omegaz angmomx angmomy angmomz tqx tqy tqz heatflow temperature""".split()
)
# Keywords with the number of values behind each; where another number may follow, the rest is not looked at.
_VELOCITY = dict.fromkeys(("dist", "sum", "mom", "rot", "temp", "bias", "loop", "rigid", "units"), 1)
_RUN = {"upto": 0, "start": 1, "stop": 1, "pre": 1, "post": 1, "every": -1}
_NEIGHBOR = dict.fromkeys(("delay", "every", "check", "once", "cluster", "page", "one", "binsize"), 1) | {
    "include": 1, "exclude": -1, "collection/type": -1, "collection/interval": -1,
}  # fmt: skip
_PAIR = dict.fromkeys(("shift", "mix", "table", "table/disp", "tabinner", "tabinner/disp", "tail", "compute"), 1) | {
    "pair": -1, "special": -1, "nofdotr": 0, "compute/tally": 1, "neigh/trim": 1,
}  # fmt: skip
_MODIFIES = {"neigh_modify": _NEIGHBOR, "pair_modify": _PAIR}


def check(script: Script) -> Iterator[Finding]:
    for command in script.commands:
        if command.name == "thermo_style" and command.word(0) == "custom":
            yield from _columns(command, command.words[1:], _THERMO, "thermo_style custom", closed=True)
        elif command.name == "dump" and command.word(2) == "custom":
            yield from _columns(command, command.words[5:], _DUMP, "dump custom")
        elif command.name == "velocity" and command.word(1) == "create":
            yield from _pairs(command, command.words[4:], _VELOCITY)
        elif command.name == "run":
            yield from _pairs(command, command.words[1:], _RUN)
        elif command.name in _MODIFIES:
            yield from _pairs(command, command.words, _MODIFIES[command.name])


def _columns(command: Command, words: tuple[str, ...], known: frozenset[str], what: str, closed: bool = False) -> Iterator[Finding]:
    """`closed`: no package of LAMMPS adds to the list."""
    for word in words:
        if not word.isalpha() or word in known:
            continue
        near = _nearest(word, known)
        make = error if near or closed else warning
        yield make(f"{command.where}: {what} knows no {word}.", file=command.file, line=command.line, thing=word,
                   remedy=f"Did you mean {near}?" if near else "Check its spelling.")  # fmt: skip


def _nearest(word: str, known: frozenset[str]) -> str | None:
    """Alike, the same in small letters, or a known word written out (temperature for temp)."""
    close = difflib.get_close_matches(word.lower(), sorted(known), 1, 0.7) if len(word) > 2 else []
    long = [name for name in known if len(name) > 3 and word.lower().startswith(name)]
    return word.lower() if word.lower() in known else max(long, key=len) if long else close[0] if close else None


def _pairs(command: Command, words: tuple[str, ...], known: dict[str, int]) -> Iterator[Finding]:
    at = 0
    while at < len(words) and is_known(words[at]):
        word = words[at]
        if word not in known:
            near = difflib.get_close_matches(word, known, 1, 0.6)
            if near:
                yield error(f"{command.where}: {command.name} knows no {word}.", file=command.file, line=command.line, thing=word,
                            remedy=f"Did you mean {near[0]}?")  # fmt: skip
            return
        if known[word] < 0:
            return
        at += 1 + known[word]
