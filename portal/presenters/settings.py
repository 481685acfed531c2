"""The Settings tab: everything that was asked for."""

from __future__ import annotations

from portal import words

from .facts import Facts
from .text import hardware, plural, who
from .values import Row


def asked(facts: Facts) -> list[Row]:
    """What was asked for, in the words of the form."""
    work, job = facts.work, facts.job
    region = work.coretype.region
    rows = [
        Row("Name", work.name),
        Row("Id", work.public_id, mono=True),
        Row("Software", str(job.software)),
        Row("Hardware", hardware(work), f"{words.size(work.coretype.memory)} a node, region {region}"),
        *_choices(facts),
        Row(
            "Price",
            f"{words.price(work.coretype.hourly(work.nodes, work.cores))} an hour",
            f"{words.price(work.price)} a core-hour at today's price",
        ),
        Row("Walltime", words.duration(work.walltime)),
        Row("Project", str(work.project) if work.project else "none"),
        Row("Owner", who(work.owner)),
        Row("A pipeline fails when any part fails", "yes" if job.pipefail else "no"),
    ]
    if job.stop_when_diverging:
        rows.append(Row("Stops when the result diverges", "yes"))
    if work.submitted:
        rows.append(Row("Submitted", at=work.submitted))
    if work.latest_start:
        rows.append(Row("Latest start", at=work.latest_start))
    rows.append(Row("Inputs", plural(len(facts.inputs), "file"), words.size(facts.input_bytes)))
    return rows


def _choices(facts: Facts) -> list[Row]:
    """In order, with the one that it took."""
    taken = facts.work.choice if facts.cluster else None
    return [
        Row(f"Choice {at + 1}", str(one), "taken by this attempt" if at == taken else f"{words.price(one.coretype.price)} a core-hour")
        for at, one in enumerate(facts.choices)
    ]
