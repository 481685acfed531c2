"""Verdicts: what a solver's own output says of a run's result, when it is over (`judge`) and while it runs (`follow`)."""

from .base import (
    GOOD,
    Alarm,
    Ending,
    Evidence,
    Files,
    Folder,
    Follower,
    Label,
    Progress,
    Series,
    Verdict,
    code_of,
    follow,
    judge,
    streams,
)
from .exit import Explanation, explain

__all__ = [
    "GOOD", "Alarm", "Ending", "Evidence", "Explanation", "Files", "Folder", "Follower", "Label", "Progress", "Series", "Verdict",
    "code_of", "explain", "follow", "judge", "streams",
]  # fmt: skip
