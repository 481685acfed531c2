"""What would start a waiting job now, and would not be refused: an offer is tried before it is made.

One idea: the queue's own facts say what starts (scheduling.offers), the check of the input says what is refused. What was not
checked yet in that shape is asked for here, checked by the engine's next turn, and offered once it has passed.
"""

from __future__ import annotations

from datetime import datetime

from . import checking, fences, scheduling
from .models import Workload
from .shapes import HARDWARE, in_shape


def offers(work: Workload, now: datetime) -> list[scheduling.Offer]:
    """The smallest change first."""
    return [one for one in scheduling.offers(work, now) if _passes(work, one)]


def _passes(work: Workload, offer: scheduling.Offer) -> bool:
    changes = {name: value for name, value in offer.fields.items() if name in HARDWARE}
    if not changes or work.kind != Workload.Kind.JOB:
        return True
    why = fences.barred()
    if why is not None and why(in_shape(work.job, changes).workload):
        return False
    check = checking.offered(work.job, changes)
    return check is not None and not check.errors
