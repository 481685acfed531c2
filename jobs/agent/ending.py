"""Why and when a command is to end: wishes, walltime, money, grace. No process is touched here.

The one idea: the first cause is the reason that is told; everything later can only make the end come sooner.
"""
from typing import List, Optional

WISH, WALLTIME, UNPAID, LOST, OUTSIDE = "wish", "walltime", "unpaid", "lost", "outside"


class Ending:
    """Times are of the monotonic clock, in seconds."""

    def __init__(self, grace: float) -> None:
        self.grace = grace
        self.began: Optional[float] = None
        self.why: Optional[str] = None
        self.kill_at: Optional[float] = None
        self._asked = False
        self._walltime: Optional[float] = None
        self._paid: Optional[float] = None

    def stop(self, now: float, why: Optional[str], force: bool = False) -> None:
        """Begins the end, or hastens it."""
        if self.began is None:
            self.began, self.why, self.kill_at = now, why, now + self.grace
        if force:
            self.kill_at, self._asked = now, True

    def again(self, now: float, grace: float) -> None:
        """The command is over, but not all of its processes: they are asked, and get a grace of their own."""
        if self.began is None:
            self.began = now
        self.kill_at, self._asked = min(self.kill_at or now + grace, now + grace), False

    def deadlines(self, walltime: Optional[float], paid: Optional[float]) -> None:
        """Replaces the times at which it ends by itself; None: never."""
        self._walltime, self._paid = walltime, paid

    def check(self, now: float) -> None:
        """Begins the end if a deadline has passed."""
        if self._walltime is not None and now >= self._walltime:
            self.stop(now, WALLTIME)
        if self._paid is not None and now >= self._paid:
            self.stop(now, UNPAID)

    def ask_now(self) -> bool:
        """True once: the moment to ask the command to end."""
        ask = self.began is not None and not self._asked
        self._asked = self._asked or ask
        return ask

    def kill_due(self, now: float) -> bool:
        """Whether the time for asking is over."""
        return self.kill_at is not None and now >= self.kill_at

    def next(self) -> List[float]:
        """The times at which something is to be done."""
        if self.began is None:
            return [moment for moment in (self._walltime, self._paid) if moment is not None]
        return [self.kill_at] if self.kill_at is not None else []
