"""Topology (.top) of GROMACS and what it includes.

The one idea to know: the force fields that GROMACS itself brings need not be uploaded. As soon as one is included, the
names that it defines are not known here, and only files are judged.
"""

from __future__ import annotations

import contextlib
import difflib
import posixpath
import re
from collections import Counter
from dataclasses import dataclass, field

from ..base import Finding, Inputs, error
from ..paths import check_read
from ..plan import Step
from ..scan import Scanner
from ..text import MOST_INCLUDES, byte_order_mark, head, not_text, odd_blank, too_many_includes, zeros_behind
from ..tree import is_windows
from . import library, order
from .parameters import Mdp

_DIRECTIVES = """defaults atomtypes bondtypes constrainttypes pairtypes angletypes dihedraltypes nonbond_params implicit_genborn_params
    implicit_surface_params cmaptypes moleculetype atoms virtual_sites1 virtual_sites2 virtual_sites3 virtual_sites4
    virtual_sitesn bonds exclusions pairs pairs_nb angles dihedrals constraints settles polarization water_polarization
    thole_polarization position_restraints angle_restraints angle_restraints_z distance_restraints orientation_restraints
    dihedral_restraints system molecules intermolecular_interactions cmap dummies1 dummies2 dummies3 dummies4 dummiesn
    virtual_sites""".split()
_DEPTH = 20
_PASSED = {*_DIRECTIVES} - {"defaults", "atomtypes", "moleculetype", "atoms", "system", "molecules"}  # nothing is read from them
_HEAD, _KEPT, _NAMED = 1_000, 500_000, 20_000  # lines of a table
_NEXT = re.compile(rb"\n[ \t]*[\[#]")


@dataclass
class Topology:
    name: str
    findings: list[Finding] = field(default_factory=list)
    complete: bool = True
    counted: bool = True  # every molecule is known with its atoms, those of the installation's library too
    brought: dict[str, int] = field(default_factory=dict)  # molecules of that library -> number of atoms
    molecule_types: dict[str, int] = field(default_factory=dict)  # name -> number of atoms
    atom_types: set[str] = field(default_factory=set)
    used_types: dict[str, tuple[str, int]] = field(default_factory=dict)  # type -> where it is used first
    molecules: list[tuple[str, int, str, int]] = field(default_factory=list)  # (name, count, file, line)
    directives: Counter[str] = field(default_factory=Counter)
    residues: set[str] = field(default_factory=set)
    places: dict[str, tuple[str, int]] = field(default_factory=dict)  # directive -> (file, line) where it stands first
    names: dict[str, list[str]] = field(default_factory=dict)  # molecule -> names of its first atoms

    def kind(self, name: str) -> str | None:
        """The molecule of this name; in other case too if there is one only."""
        everywhere = {**self.brought, **self.molecule_types}
        alike = [known for known in everywhere if known.lower() == name.lower()]
        return name if name in everywhere else alike[0] if len(alike) == 1 else None

    def atoms(self, name: str) -> int:
        kind = self.kind(name) or name
        return self.molecule_types.get(kind, self.brought.get(kind, 0))

    def lost(self) -> None:
        """Something was not read, so nothing can be called missing."""
        self.complete = self.counted = False


def read(inputs: Inputs, step: Step, name: str, mdp: Mdp | None) -> Topology:
    top = Topology(name)
    reader = _Reader(inputs, step, top, mdp)
    reader.file(name, [])
    reader.end()
    return top


class _Reader:
    def __init__(self, inputs: Inputs, step: Step, top: Topology, mdp: Mdp | None) -> None:
        self.inputs, self.step, self.top = inputs, step, top
        self.defined = mdp.defines if mdp else set()
        self.unsure = mdp is None
        self.searched = bool(mdp and "-I" in mdp.text("include"))
        self.directive = ""
        self.molecule = ""
        self.branches: list[bool] = []
        self.opened: list[tuple[str, str, int]] = []  # (word, file, line) of each branch
        self.files = 0
        self.sure = False  # all atoms of the molecule at hand are known
        self.behind = False  # a [ moleculetype ] is above, whatever is defined
        self.doubts: list[bool] = []  # of each branch: whether another definition may change it

    def file(self, name: str, above: list[str]) -> None:
        if trouble := not_text(self.inputs, name):
            self.top.findings.append(trouble)
            self.top.lost()
            return
        if mark := _mark(self.inputs, name):
            self.top.findings.append(mark)
        with contextlib.suppress(OSError, KeyError, ValueError, EOFError), self.inputs.open(name) as stream:
            self._lines(Scanner(stream, name), name, above)

    def end(self) -> None:
        """Branches that nothing closed: whatever stands behind them may be passed over."""
        if self.opened and not any(finding.thing in ("binary", "size") for finding in self.top.findings):
            word, file, line = self.opened[-1]
            self.top.findings.append(error(f"{file} line {line}: this #{word} has no #endif; what follows belongs to it.", file=file,
                                           line=line, thing=f"#{word}", remedy="Add #endif where it ends."))  # fmt: skip
            self.top.lost()

    def _lines(self, scanner: Scanner, name: str, above: list[str]) -> None:
        pending, rows = "", 0
        while (raw := scanner.line()) is not None:
            text = pending + raw.decode("utf-8", "replace").lstrip("\ufeff" if scanner.number == 1 else "").split(";")[0].strip()
            if text.endswith("\\") and len(pending) < 65_536:
                pending = text[:-1] + " "
                continue
            pending, rows = "", rows + 1
            if text.startswith("#"):
                self._macro(text, name, scanner.number, above)
            elif text and all(self.branches):
                rows = 0 if text.startswith("[") else rows
                self._line(text, name, scanner.number)
            self._pass_over(scanner, rows)
        if scanner.cut:
            self.top.lost()
            self.top.findings += [zeros_behind(name, scanner.number)] if scanner.zeros else []

    def _pass_over(self, scanner: Scanner, rows: int) -> None:
        """Long tables: of those that nothing is read from all but the head, of atoms what is beyond a million or so."""
        if self.directive in _PASSED and rows > _HEAD:
            scanner.skip_to(_NEXT)
        elif rows > _KEPT and scanner.skip_to(_NEXT):
            self.top.lost()

    def _macro(self, text: str, name: str, number: int, above: list[str]) -> None:
        word, _, rest = text[1:].strip().partition(" ")
        rest = rest.strip()
        if word in ("ifdef", "ifndef"):
            doubtful = rest not in self.defined and (self.unsure or not self.top.complete)
            self.branches.append((rest in self.defined) == (word == "ifdef"))
            self.doubts.append(doubtful)
            self.sure &= not doubtful
            self.opened.append((word, name, number))
            if self.unsure:
                self.top.lost()
            self.top.counted &= not rest.startswith("_FF")  # a force field of the installation defines its name so
        elif word == "else" and self.branches:
            self.branches[-1] = not self.branches[-1]
        elif word == "endif" and self.branches:
            self.branches.pop()
            self.doubts.pop()
            self.opened.pop()
        elif word in ("endif", "else"):
            self.top.findings.append(error(f"{name} line {number}: #{word} without #ifdef.", file=name, line=number, thing=f"#{word}",
                                           remedy="Take it out, or add the #ifdef before it."))  # fmt: skip
        elif not all(self.branches):
            return
        elif word == "define":
            self.defined.add(rest.split()[0] if rest else "")
        elif word == "undef":
            self.defined.discard(rest)
        elif word.startswith("include"):
            self._include(rest or word[7:], name, number, above)

    def _include(self, rest: str, name: str, number: int, above: list[str]) -> None:
        path = rest.strip().strip("\"<>'")
        here = [*above, name]
        places = [
            posixpath.normpath(posixpath.join(posixpath.dirname(name), path)),
            posixpath.normpath(posixpath.join(self.step.cwd or "", path)),
        ]
        inside = next((place for place in places if place in self.step.tree.inputs), None)
        if inside in here:
            self.top.findings.append(error(f"{name} line {number} includes {path}, which includes itself: an endless loop.", file=name,
                                           line=number, thing=path, remedy="Take one of the #include lines out."))  # fmt: skip
        elif self.files > MOST_INCLUDES:
            self.top.findings += [too_many_includes(name, number)] if self.files < 2 * MOST_INCLUDES else []
            self.files = 2 * MOST_INCLUDES
        elif inside and len(here) < _DEPTH and inside not in self.step.tree.made:
            self.files += 1
            self.file(inside, here)
            return
        elif not (inside or self.step.conditional or self.unsure or self.searched or library.is_brought(path)):
            self._missing(path, places, name, number)
        self.behind |= library.defines_molecules(path) and not any(self.doubts)
        self._library(path, name, number, bool(inside) or self.searched)

    def _library(self, path: str, name: str, number: int, own: bool) -> None:
        """A file of the installation: what it defines is known, or else nothing is known any more."""
        found = None if own or any(self.doubts) or not library.is_brought(path) else library.molecules(path)
        if found is None:
            self.top.counted = False
        elif library.WATER in found and library.WATER in {**self.top.brought, **self.top.molecule_types}:
            self._wrong(name, number, path, f"{path} defines the molecule {library.WATER}, which was defined above already",
                        "Include one model of water only.")  # fmt: skip
        self.top.brought.update(found or {})
        self.top.complete = self.sure = False

    def _missing(self, path: str, places: list[str], name: str, number: int) -> None:
        if not is_windows(path) and any(self.step.tree.exists(place) is not False for place in places):
            return
        cwd = posixpath.dirname(name)
        found = check_read(self.step.tree, path, verb="includes", file=name, line=number, cwd=cwd,
                           missing="It is neither uploaded nor part of GROMACS: upload it, or correct the name.")  # fmt: skip
        self.top.findings += [found] if found else []

    def _line(self, text: str, name: str, number: int) -> None:
        if text.startswith("["):
            self._directive(text.strip("[] \t").lower(), name, number)
            return
        if not text.isascii() and self.directive != "system" and (blank := odd_blank(name, number, text)):
            self.top.findings.append(blank)
            self.top.lost()
        words = text.split()
        if self.directive == "moleculetype":
            self._molecule(words[0], name, number)
        elif self.directive == "atoms" and self.molecule:
            self._atom(words, name, number)
        elif self.directive == "atomtypes":
            self.top.atom_types.add(words[0])
        elif self.directive == "molecules" and len(words) > 1 and words[1].isdigit():
            self.top.molecules.append((words[0], int(words[1]), name, number))
        elif self.sure and (atom := order.beyond(self.directive, words, self.top.molecule_types[self.molecule])):
            self.sure = False  # one of them is enough
            count = self.top.molecule_types[self.molecule]
            self._wrong(name, number, atom, f"[ {self.directive} ] names the atom {atom}, but the molecule {self.molecule} has {count} "
                        f"atom{'s' * (count != 1)}", "Correct the number, or move the section to the molecule that it is for.")  # fmt: skip

    def _directive(self, directive: str, name: str, number: int) -> None:
        self.directive = directive
        certain = not self.unsure and not any(self.doubts)
        if directive not in _DIRECTIVES:
            near = difflib.get_close_matches(directive, _DIRECTIVES, 1, 0.6)
            self._wrong(name, number, directive, f"[ {directive} ] is no directive of GROMACS",
                        f"Did you mean [ {near[0]} ]?" if near else "Correct it.")  # fmt: skip
        elif certain and self.behind and order.too_late(directive):
            self._wrong(name, number, directive, f"invalid order: [ {directive} ] stands behind a [ moleculetype ]",
                        "Put it, or the #include of this file, above the first [ moleculetype ].")  # fmt: skip
        elif certain and self.top.complete and (needed := order.needed(directive, self.top.directives)):
            self._wrong(name, number, directive, f"invalid order: there is no [ {needed} ] above [ {directive} ]",
                        f"Put [ {needed} ] before it.")  # fmt: skip
        self.behind |= directive == "moleculetype" and certain
        self.sure &= directive not in ("intermolecular_interactions", "system", "molecules")
        self.top.directives[directive] += 1
        self.top.places.setdefault(directive, (name, number))

    def _molecule(self, molecule: str, name: str, number: int) -> None:
        if (molecule in self.top.molecule_types or (molecule == library.WATER and molecule in self.top.brought)) and not self.unsure:
            self._wrong(name, number, molecule, f"the molecule {molecule} is defined twice", "Keep one of the two.")
        self.molecule = molecule
        self.sure = not self.unsure and not any(self.doubts)
        self.top.molecule_types[molecule] = 0
        self.top.names[molecule] = []

    def _atom(self, words: list[str], name: str, number: int) -> None:
        self.top.molecule_types[self.molecule] += 1
        count = self.top.molecule_types[self.molecule]
        if self.sure and words[0].isdigit() and int(words[0]) != count:
            self.sure = False
            self._wrong(name, number, words[0], f"the atom {words[0]} should be {count}: atoms are numbered from 1 without a gap",
                        "Number them anew.")  # fmt: skip
        self.top.residues |= set(words[3:4])
        if count <= _NAMED:
            self.top.names[self.molecule] += words[4:5] or [""]
        if len(words) > 1:
            self.top.used_types.setdefault(words[1], (name, number))

    def _wrong(self, name: str, number: int, thing: str, what: str, remedy: str) -> None:
        self.top.findings.append(error(f"{name} line {number}: {what}.", file=name, line=number, thing=thing, remedy=remedy))


def _mark(inputs: Inputs, name: str) -> Finding | None:
    """A byte-order mark spoils the first line, which may be a remark."""
    found = byte_order_mark(inputs, name, "grompp does not know the first line then.", stops=True)
    return found if head(inputs, name, 4)[3:] in (b"#", b"[") else None
