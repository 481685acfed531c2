"""Reads an NWChem deck into directives and blocks.

The one idea to know: NWChem executes its input from top to bottom, task by task, so a mistake below the first task
costs that task's time. Words are compared without regard to case; `;` parts commands, `\\` continues a line.
"""

from __future__ import annotations

import contextlib
import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..base import Finding, Inputs, error
from ..paths import check_read
from ..plan import Step
from ..scan import Scanner
from ..text import MOST_INCLUDES, byte_order_mark, not_text, odd_blank, too_many_includes, zeros_behind
from ..tree import resolve

# Directives at the top that are closed by `end`, and those that take one line.
BLOCKS = frozenset(
    """geometry basis ecp so scf dft sodft mp2 semi ccsd tce tddft mcscf selci hessian freq vib property esp driver stepper
    string neb zts cosmo relativistic bq bsse constraints constrain dplot nwpw pspw band paw python qmmm prepare md
    analyze rism occup rt_tddft dimqm gw optimize rimp2 raman plumed ccca vscf rel cons tropt etrans nbo grids
    dntmc mm fcidump eels embed_esp smd fon intgrl vem wannier bonds ewald pspgen wavefunction_initializer
    velocity_initializer v_wavefunction_initializer wavefunction_expander simulation_cell formatted_psp""".split()
)
SINGLES = frozenset(
    """start restart title echo memory charge task set unset print noprint scratch_dir permanent_dir stop ignore include
    ecce_print util_sgroup driver ga_print_stats input_flags timing skip load_geometry rtdb time simulation_cell
    vectors xyz format statechk lines_input""".split()
)
_NESTED = re.compile(r"(zcoord|zmatrix|zmt|zmat|system|simulation_cell|brillouin_zone|car-parrinello|car_parrinello|steepest_descent|"
                     r"dplot|structure_factor|mapping_info|fragment|cosmo|bonds?_lists?|metadynamics|tamd|born|analysis|field|"
                     r"bonding|rotations|confine|interaction|qmmm|pspspin|reciprocal|monkhorst|"
                     r"lattice|lattice_vectors|excitation|visualization|grid|dipole|states|mo_print|vem|do_)$")  # fmt: skip
_PLAIN = {"geometry", "basis", "scf", "dft", "ecp", "mp2", "tce", "driver", "tddft"}  # none of them stands in another
_DEPTH = 8
_KEPT = 50_000  # rows of a table; what stands behind them is passed over up to the next directive
_NEXT = re.compile(rb"\n[ \t]*[A-Za-z]{3}")  # an element has two letters at most


@dataclass(frozen=True)
class Row:
    words: tuple[str, ...]
    file: str
    line: int

    @property
    def where(self) -> str:
        return f"{self.file} line {self.line}"

    @property
    def name(self) -> str:
        return self.words[0].lower()

    def after(self, word: str) -> str | None:
        """The word behind `word`."""
        lower = [each.lower() for each in self.words]
        at = lower.index(word) + 1 if word in lower else len(lower)
        return self.words[at] if at < len(self.words) else None


@dataclass
class Block:
    head: Row
    rows: list[Row] = field(default_factory=list)
    closed: bool = True
    meant: str = ""  # the block that a misspelt name probably stands for

    @property
    def name(self) -> str:
        return self.head.name


@dataclass
class Deck:
    name: str
    items: list[Block] = field(default_factory=list)  # in order; a single directive is a block without rows
    findings: list[Finding] = field(default_factory=list)
    complete: bool = True
    cut: bool = False  # reading ended before the deck did

    def of(self, *names: str) -> Iterator[Block]:
        return (block for block in self.items if block.name in names)


def read(inputs: Inputs, step: Step, name: str) -> Deck:
    deck = Deck(name)
    rows = list(_Reader(inputs, step, deck).rows(name, []))
    _group(rows, deck)
    return deck


class _Reader:
    def __init__(self, inputs: Inputs, step: Step, deck: Deck) -> None:
        self.inputs, self.step, self.deck = inputs, step, deck
        self.files = 0
        self.odd = False  # one such blank is told of

    def rows(self, name: str, above: list[str]) -> Iterator[Row]:
        if trouble := not_text(self.inputs, name):
            self.deck.findings.append(trouble)
            self.deck.complete = False
            return
        if mark := byte_order_mark(self.inputs, name, "NWChem does not know the first directive then.", stops=True):
            self.deck.findings.append(mark)
        with contextlib.suppress(OSError, KeyError, ValueError, EOFError), self.inputs.open(name) as stream:
            yield from self._rows(Scanner(stream, name), name, above)

    def _rows(self, scanner: Scanner, name: str, above: list[str]) -> Iterator[Row]:
        pending, start, python, table = "", 0, False, 0
        while (raw := scanner.line()) is not None:
            line = raw.decode("utf-8", "replace")
            text = line.lstrip("\ufeff" if scanner.number == 1 else "").split("#")[0].rstrip() if not python else line
            start = start or scanner.number
            if not text.isascii() and not self.odd and not python and (blank := odd_blank(name, scanner.number, text)):
                self.odd = True
                self.deck.findings.append(blank)
            if text.endswith("\\") and len(pending) < 65_536:
                pending += text[:-1] + " "
                continue
            for part in _parts(pending + text):
                words = tuple(_words(part))
                if words and words[0].lower() == "include":
                    yield from self._include(words, name, start, [*above, name])
                elif words:
                    low = words[0].lower()
                    python = low == "python" or (python and low != "end")
                    table = 0 if low in BLOCKS or low in SINGLES or low == "end" else table + 1
                    yield Row(words, name, start)
            pending, start = "", 0
            if table >= _KEPT and scanner.skip_to(_NEXT):
                self.deck.complete = False
        self.deck.complete &= not scanner.cut
        self.deck.cut |= scanner.cut
        self.deck.findings += [zeros_behind(name, scanner.number)] if scanner.zeros else []

    def _include(self, words: tuple[str, ...], name: str, line: int, here: list[str]) -> Iterator[Row]:
        path = words[1] if len(words) > 1 else ""
        inside = resolve(self.step.cwd or "", path) if self.step.cwd is not None else None
        at = {"file": name, "line": line}
        if inside in here:
            self.deck.findings.append(error(f"{name} line {line} includes {path}, which includes itself: an endless loop.",
                                            thing=path, remedy="Take one of the include lines out.", **at))  # type: ignore[arg-type] # fmt: skip
        elif self.files > MOST_INCLUDES:
            self.deck.findings += [too_many_includes(name, line)] if self.files < 2 * MOST_INCLUDES else []
            self.files = 2 * MOST_INCLUDES
        elif inside in self.step.tree.inputs and inside not in self.step.tree.made and len(here) < _DEPTH:
            self.files += 1
            yield from self.rows(str(inside), here)
            return
        elif not self.step.conditional:
            found = check_read(self.step.tree, path, verb="includes", file=name, line=line, cwd=self.step.cwd)
            self.deck.findings += [found] if found else []
        self.deck.complete = False


def _group(rows: list[Row], deck: Deck) -> None:
    at = 0
    while at < len(rows):
        block = Block(rows[at])
        deck.items.append(block)
        at += 1
        if block.name in BLOCKS and not _is_single(block.head):
            at = _fill(block, rows, at)
        elif block.name not in SINGLES and (meant := meant_block(block.name)):
            at = _swallow(block, rows, at, meant)


def meant_block(name: str) -> str | None:
    """The block whose name is probably misspelt so, if no other directive is nearer."""
    near = difflib.get_close_matches(name, BLOCKS | SINGLES, 1, 0.7)
    return near[0] if near and near[0] in BLOCKS and near[0] not in SINGLES else None


def _swallow(block: Block, rows: list[Row], at: int, meant: str) -> int:
    """The rows of a block whose name is misspelt: one finding is enough. Nothing is swallowed where no `end` closes it."""
    for end in range(at, len(rows)):
        if rows[end].name == "end":
            block.rows = rows[at:end]
            block.meant = meant
            return end + 1
        if rows[end].name in BLOCKS | SINGLES:
            break
    return at


def _is_single(row: Row) -> bool:
    """Directives that are blocks elsewhere, in one line: `vectors ...`, `set dft:...`, `driver` before a task."""
    return row.name in SINGLES and row.name not in ("driver", "simulation_cell")


def _fill(block: Block, rows: list[Row], at: int) -> int:
    """The rows up to the `end` of a block. A new top directive means that the `end` is missing."""
    level = 0
    while at < len(rows):
        row = rows[at]
        if row.name == "end":
            if level == 0:
                return at + 1
            level -= 1
        elif (
            row.name in ("task", "start", "restart")
            and len(row.words) > 1
            and block.name != "python"
            or block.name in _PLAIN
            and row.name in _PLAIN
            and row.name != block.name
        ):
            break
        elif _NESTED.match(row.name) and (row.name != "cosmo" or block.name != "cosmo") and _opens(block, row, rows, at):
            level += 1
        block.rows.append(row)
        at += 1
    block.closed = False
    return at


def _opens(block: Block, row: Row, rows: list[Row], at: int) -> bool:
    """Whether a word inside a block really opens a block of its own: there must be as many `end` before the next task."""
    rest = rows[at + 1 :]
    stop = next((n for n, other in enumerate(rest) if other.name in ("task", "start", "restart")), len(rest))
    ends = sum(other.name == "end" for other in rest[:stop])
    heads = sum(other.name in BLOCKS and other.name not in SINGLES for other in rest[:stop])
    return ends > heads + 1 or (block.name == "geometry" and row.name in ("zcoord", "zmatrix", "zmt", "zmat", "system") and ends > heads)


def _parts(text: str) -> list[str]:
    if '"' not in text:
        return text.split(";")
    return [part for part in re.findall(r'(?:"[^"]*"?|[^;"])+', text)]


def _words(text: str) -> list[str]:
    return [found.group(1) if found.group(1) is not None else found.group(2) for found in re.finditer(r'"([^"]*)"?|(\S+)', text)]
