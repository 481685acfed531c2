"""The tables of the README, from the rows of jobs/lifecycle.py: `python -m portal.readme` writes them anew.

One idea: a table stands between two comments, `<!-- table: NAME -->` and `<!-- end -->`; a test compares what is there
with what would be written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from jobs import lifecycle

README = Path(__file__).resolve().parent.parent / "README.md"
PLACE = re.compile(r"(<!-- table: (?P<name>[\w-]+) -->\n)(?P<table>.*?)(<!-- end -->)", re.DOTALL)


def tables() -> dict[str, str]:
    """Markdown by the name of its place."""
    kinds = {kind: statuses(table) for kind, table in lifecycle.TABLES.items()}
    return {**kinds, "endings": endings(), "suspensions": markdown(("reason", "in words"), lifecycle.SUSPENSIONS.items())}


def statuses(table: lifecycle.Lifecycle) -> str:
    rows = (
        (row.label, ", ".join(table[code].label for code in row.next), "yes" if row.holds else "", row.about) for row in table.rows.values()
    )
    return markdown(("status", "may be followed by", "holds hardware", "what it means"), rows)


def endings() -> str:
    rows = (
        (code, reason.outcome, reason.stage or ("the one it was in" if reason.outcome == lifecycle.Outcome.FAILED else ""), reason.sentence)
        for code, reason in lifecycle.ENDINGS.items()
    )
    return markdown(("reason", "outcome", "stage with the red X", "in words"), rows)


def markdown(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def filled(text: str) -> str:
    """`text` with each of its tables as it should be. KeyError for a place of an unknown name."""
    made = tables()
    return PLACE.sub(lambda place: place[1] + made[place["name"]] + place[4], text)


if __name__ == "__main__":
    README.write_text(filled(README.read_text(encoding="utf-8")), encoding="utf-8")
