"""Named blocks in a list, as patches stand in `boundary ( lid { ... } walls { ... } )`."""

from __future__ import annotations

from .dictionary import Dictionary, Reader, Token


def named_blocks(values: list[Token]) -> dict[str, Dictionary]:
    """The blocks `name { ... }` in a list, as in `boundary (...)`."""
    found: dict[str, Dictionary] = {}
    at, level = 0, 0
    while at < len(values):
        text = values[at].text
        if text == "{" and at and level == 1:
            end = _closing(values, at)
            block = Dictionary(values[at - 1].text)
            Reader(values[at + 1 : end], None).read(block, 0, values[at].line)
            found[values[at - 1].text] = block
            at = end
        elif not values[at].quoted:
            level += (text in "([") - (text in ")]")
        at += 1
    return found


def _closing(values: list[Token], at: int) -> int:
    level = 0
    for end in range(at, len(values)):
        level += (values[end].text == "{") - (values[end].text == "}")
        if level == 0:
            return end
    return len(values)
