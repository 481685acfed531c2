"""The `memory` directive against the memory of a node."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..base import Finding, Request, error, warning
from ..plan import Step
from .deck import Deck, Row

_UNITS = {"real": 8, "double": 8, "integer": 8, "byte": 1, "b": 1, "kb": 1 << 10, "mb": 1 << 20, "mw": 8 << 20, "gb": 1 << 30,
          "kw": 8 << 10, "gw": 8 << 30, "tb": 1 << 40, "doubles": 8, "integers": 8, "bytes": 1}  # fmt: skip
_PARTS = ("stack", "heap", "global")
_LEAST, _SCANTY = 16 << 20, 40 << 20  # bytes of one process; water in the smallest basis wants 40 MB
_ENORMOUS = 1 << 40  # bytes of one process; more than any node is likely to have


def check(request: Request, step: Step, deck: Deck) -> Iterator[Finding]:
    for block in deck.of("memory"):
        yield from _directive(request, step, block.head)


def _directive(request: Request, step: Step, row: Row) -> Iterator[Finding]:
    asked, problem = _asked(row)
    at = {"file": row.file, "line": row.line, "thing": " ".join(row.words[1:])}
    if problem:
        yield error(f"{row.where}: {problem}.", remedy="Write for instance memory total 2000 mb.", **at)  # type: ignore[arg-type]
        return
    if "total" in (word.lower() for word in row.words) and 0 < asked < _SCANTY:
        make = error if asked < _LEAST else warning
        yield make(f"{row.where}: a memory of {asked >> 20} MB is too little; the smallest molecules want more than {_SCANTY >> 20} MB.",
                   remedy="Write for instance memory total 2000 mb.", **at)  # type: ignore[arg-type] # fmt: skip
        return
    ranks = (step.launcher.ranks if step.launcher else 1) or 1
    here = -(-ranks // request.nodes)
    total = asked * here
    shown = f"{asked / (1 << 30):.6g} GB per process" + (f", {here} processes on a node" if here > 1 else "")
    if request.memory and total > request.memory:
        yield error(f"{row.where} asks for {shown}; the node has {request.memory / (1 << 30):.6g} GB.",
                    remedy="Ask for less memory, start fewer ranks, or choose hardware with more memory.", **at)  # type: ignore[arg-type] # fmt: skip
    elif not request.memory and total > _ENORMOUS // 4:
        yield warning(f"{row.where} asks for {shown}, which is more than most nodes have.",
                      remedy="The number counts for each process.", **at)  # type: ignore[arg-type] # fmt: skip


def _asked(row: Row) -> tuple[int, str | None]:
    """(bytes of one process, what is wrong)."""
    words = [word.lower() for word in row.words[1:]]
    unit = next((_UNITS[word] for word in words if word in _UNITS), 8)
    for at, word in enumerate(words):
        before = words[at - 1] if at else ""
        if re.fullmatch(r"\d+", before) and word not in _UNITS and not word.isdigit() and \
                word not in (*_PARTS, "total", "verify", "noverify", "nohardfail", "hardfail"):  # fmt: skip
            return 0, f"{word} is no unit of memory"
        if re.fullmatch(r"-\d+|\d+\.\d+", word):
            return 0, f"the memory must be a whole number above zero, not {word}"
    numbers = {words[at]: _bytes(words, at + 1, unit) for at in range(len(words)) if words[at] in ("total", *_PARTS)}
    if not numbers and words and words[0].isdigit():
        numbers["total"] = _bytes(words, 0, unit)
    parts = sum(size for name, size in numbers.items() if name != "total")
    if numbers.get("total") and parts > numbers["total"]:
        return 0, f"stack, heap and global ({parts >> 20} MiB) are more than the total ({numbers['total'] >> 20} MiB)"
    return numbers.get("total") or parts, None


def _bytes(words: list[str], at: int, unit: int) -> int:
    if at >= len(words) or not words[at].isdigit():
        return 0
    own = _UNITS.get(words[at + 1], unit) if at + 1 < len(words) else unit
    return int(words[at]) * own
