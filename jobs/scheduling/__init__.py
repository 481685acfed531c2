"""Who starts next, why a job waits, when it will start, and what would start it now.

`deciding` is pure and `loading` feeds it; `fair` is the order of the line; `explaining`, `expecting` (with `forecast`) and
`offers` tell people. Only what is named here is for others.
"""

from __future__ import annotations

from .deciding import TELL, Decision, Line, Waiting, decide
from .expecting import expected_start
from .explaining import Gate, Occupancy, gates, occupancy
from .loading import lines_of, waiting_line
from .offers import Offer, offers

__all__ = [
    "TELL", "Decision", "Gate", "Line", "Occupancy", "Offer", "Waiting", "decide", "expected_start", "gates",
    "lines_of", "occupancy", "offers", "waiting_line",
]  # fmt: skip
