"""Who starts next, why a job waits, when it will start, and what would start it now.

`deciding` (with `gates`, `limits` and `line`) is pure and `loading` feeds it; `fair` is the order of the line; `explaining`, `ahead`,
`expecting` (with `forecast`) and `offers` tell people. Only what is named here is for others.
"""

from __future__ import annotations

from .ahead import Ahead, Holder, Other, ahead
from .deciding import Decision, Refusal, decide
from .expecting import expected_start
from .explaining import Gate, Occupancy, gates, holding, occupancy
from .limits import Limits
from .limits import load as limits_now
from .line import TELL, Line, Waiting
from .loading import kinds_of, lines_of, note_tried, waiting_line
from .offers import Offer, offers

__all__ = [
    "TELL", "Ahead", "Decision", "Gate", "Holder", "Limits", "Line", "Occupancy", "Offer", "Other", "Refusal", "Waiting", "ahead", "decide",
    "expected_start", "gates", "holding", "kinds_of", "limits_now", "lines_of", "note_tried", "occupancy", "offers", "waiting_line",
]  # fmt: skip
