"""Parallel runs: ranks against decomposeParDict and processor folders.

The one idea to know: three numbers must agree: the ranks of mpirun, the parts that decomposePar makes (or the folders
that were uploaded), and the product of the factors of a simple or hierarchical split.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from ..base import Finding, Request, error, warning
from ..paths import spot
from ..plan import Step
from .case import Case
from .dictionary import Dictionary, Entry

_FILE = "system/decomposeParDict"
_METHODS = ["simple", "hierarchical", "scotch", "ptscotch", "metis", "kahip", "manual", "multiLevel", "structured", "random",
            "none", "noDecomposition", "clouds", "parMetis", "zoltan", "multiRegion", "parallelScotch", "geom"]  # fmt: skip
_MAKES_PARTS = ("decomposePar", "redistributePar")


def check(request: Request, case: Case) -> Iterator[Finding]:
    parts = _parts(case)
    split = [step for step in case.steps if step.program == "decomposePar"]
    yield from _dictionary(case) if split or any(_parallel(step) for step in case.steps) else ()
    for step in split:
        yield from _split(case, step)
    for step in case.steps:
        if not step.conditional:
            yield from _step(request, case, step, parts, split)


def _parallel(step: Step) -> bool:
    return "-parallel" in step.argv or (bool(step.words) and step.words[0] == "runParallel")


def _step(request: Request, case: Case, step: Step, parts: int | None, split: list[Step]) -> Iterator[Finding]:
    ranks = step.launcher.ranks if step.launcher else None
    where = spot(step.file, step.line)
    at = {"file": step.file, "line": step.line, "thing": step.program}
    if not _parallel(step):
        if ranks and ranks > 1:
            yield error(f"{where} starts {ranks} ranks of {step.program} without -parallel: each would run the whole case.",
                        remedy="Add -parallel, or leave mpirun out.", **at)  # type: ignore[arg-type] # fmt: skip
        return
    if step.words and step.words[0] == "runParallel":
        ranks = parts if step.program != "redistributePar" else None
        if parts and parts > request.cores:
            yield warning(f"{case.path(_FILE)} makes {parts} parts, but the hardware has {request.cores} cores.",
                          file=case.path(_FILE), thing="numberOfSubdomains", remedy="Make as many parts as cores.")  # fmt: skip
    elif step.launcher is None:
        yield warning(f"{where} runs {step.program} with -parallel but without mpirun.",
                      remedy=f"Start it by mpirun -np {parts or request.cores}.", **at)  # type: ignore[arg-type] # fmt: skip
        return
    if step.program not in _MAKES_PARTS:
        yield from _agree(case, step, ranks, parts, split)


def _agree(case: Case, step: Step, ranks: int | None, parts: int | None, split: list[Step]) -> Iterator[Finding]:
    where = spot(step.file, step.line)
    at = {"file": step.file, "line": step.line, "thing": step.program}
    there = _folders(case)
    makes = any(_before(case, other, step) for other in case.steps if other.program in _MAKES_PARTS)
    if makes:
        if ranks and parts and ranks != parts and not case.ran("redistributePar"):
            yield error(f"{case.path(_FILE)} makes {parts} parts (numberOfSubdomains), but the command starts {ranks} ranks.",
                        file=case.path(_FILE), line=_line(case), thing="numberOfSubdomains",
                        remedy=f"Set numberOfSubdomains to {ranks}, or start {parts} ranks.", fix=f"ranks:{parts}")  # fmt: skip
    elif there and ranks and there != ranks:
        yield error(f"{where} starts {ranks} ranks, but there are {there} processor folders.",
                    remedy=f"Start {there} ranks, or split the case again by decomposePar.", fix=f"ranks:{there}", **at)  # type: ignore[arg-type] # fmt: skip
    elif not there and not step.tree.anything and not _made_by_script(case, step):
        yield error(f"{where} runs {step.program} in parallel, but there are no processor folders and no decomposePar step "
                    "before it.", remedy="Run decomposePar before it.", **at)  # type: ignore[arg-type] # fmt: skip


def _before(case: Case, other: Step, step: Step) -> bool:
    return case.steps.index(other) < case.steps.index(step)


def _made_by_script(case: Case, step: Step) -> bool:
    """Something copied or unpacked processor folders."""
    return any(re.match(rf"{re.escape(case.path('processor'))}s?\d", name) for name in step.tree.made)


def _folders(case: Case) -> int:
    single = [name for name in case.folders() if re.fullmatch(r"processor\d+", name)]
    packed = [re.fullmatch(r"processors(\d+)(_.*)?", name) for name in case.folders()]
    return len(single) or next((int(found.group(1)) for found in packed if found), 0)


def _split(case: Case, step: Step) -> Iterator[Finding]:
    options = step.words
    if "-decomposeParDict" in options or "-allRegions" in options or "-region" in options or step.conditional:
        return
    path = case.path(_FILE)
    if not case.may_have(_FILE, step):
        near = step.tree.nearest(path)
        yield error(f"{spot(step.file, step.line)} runs decomposePar, but there is no {path}.", file=step.file, line=step.line,
                    thing=path, remedy=f"There is {near}." if near else "Upload it.")  # fmt: skip
    if _folders(case) and not {"-force", "-fields", "-dict", "-latestTime", "-time"} & set(options) and not _removes(case):
        yield error(f"{spot(step.file, step.line)} runs decomposePar, but there are {_folders(case)} processor folders already.",
                    file=step.file, line=step.line, thing="processor0", remedy="Add -force, or leave them out.")  # fmt: skip


def _removes(case: Case) -> bool:
    return any(step.tree.anything for step in case.steps)


def _dictionary(case: Case) -> Iterator[Finding]:
    parsed = case.dictionary(_FILE)
    if parsed is None:
        return
    path, parts, method = case.path(_FILE), _parts(case), _word(parsed, "method")
    if parts is not None and parts < 1:
        yield error(f"{path}: numberOfSubdomains is {parts}.", file=path, line=_line(case), thing="numberOfSubdomains",
                    remedy="Give at least 1.")  # fmt: skip
    if method and method not in _METHODS:
        near = difflib.get_close_matches(method, _METHODS, 1, 0.7)
        if near:
            yield error(f"{path}: the method {method} is not known.", file=path, thing=method, remedy=f"Did you mean {near[0]}?")
    if method in ("simple", "hierarchical") and parts:
        yield from _factors(path, parsed, str(method), parts)
    data = _coefficients(parsed, "manual").get("dataFile") if method == "manual" and _coefficients(parsed, "manual") else None
    if data and data.word and not case.may_have(f"constant/{data.word.strip(chr(34))}") and not case.may_have(data.word):
        yield error(f"{path} line {data.line} reads {data.word}, which is not among the uploaded files.", file=path,
                    line=data.line, thing=data.word, remedy="Upload it.")  # fmt: skip


def _factors(path: str, parsed: Dictionary, method: str, parts: int) -> Iterator[Finding]:
    entry = _coefficients(parsed, method).get("n") or parsed.get("n")
    if entry is None and not parsed.open and not parsed.problems:
        yield error(f"{path}: the method {method} has no n (parts in x, y and z).", file=path, line=_at(parsed, "method"), thing="n",
                    remedy=f"Add {method}Coeffs {{ n (2 1 1); }}.")  # fmt: skip
    numbers = [token.text for token in entry.values if token.text.isdigit()] if entry else []
    if entry is None or len(numbers) != 3:
        return
    product = int(numbers[0]) * int(numbers[1]) * int(numbers[2])
    if product != parts:
        yield error(f"{path} line {entry.line}: n ({' '.join(numbers)}) gives {product} parts, but numberOfSubdomains is {parts}.",
                    file=path, line=entry.line, thing="n", remedy=f"Choose three factors whose product is {parts}.")  # fmt: skip


def _coefficients(parsed: Dictionary, method: str) -> Dictionary:
    return parsed.sub(f"{method}Coeffs") or parsed.sub("coeffs") or Dictionary()


def _parts(case: Case) -> int | None:
    entry = _entry(case)
    return int(entry.number) if entry and entry.number is not None else None


def _line(case: Case) -> int | None:
    entry = _entry(case)
    return entry.line if entry else None


def _entry(case: Case) -> Entry | None:
    parsed = case.dictionary(_FILE)
    return parsed.get("numberOfSubdomains") if parsed else None


def _at(parsed: Dictionary, key: str) -> int | None:
    entry = parsed.get(key)
    return entry.line if entry else None


def _word(parsed: Dictionary, key: str) -> str | None:
    entry = parsed.get(key)
    return entry.word if entry else None
