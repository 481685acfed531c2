"""What the portal wants of this node, as last heard.

The one idea: times come on the portal's clock together with its "now", and are turned at once into times of the
monotonic clock, so that no clock that jumps on either side moves a deadline.
"""
import threading
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

RUN, FORCE = "run", "force stop"


class Orders:
    """Shared by the reporter's threads. `changed()` is called, outside the lock, after each news."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self.version = -1
        self.wish = RUN
        self.grace = 60.0
        self.watched = False
        self.release = False
        self.tails: List[str] = []
        self.bring: List[Dict[str, Any]] = []  # files for the home of a workstation
        self.walltime: Optional[float] = None
        self.paid: Optional[float] = None
        self._lock = threading.Lock()
        self._changed = changed

    def heard(self, orders: Dict[str, Any]) -> None:
        """Takes orders over unless newer ones came by another way."""
        at = time.monotonic()
        with self._lock:
            version = int(orders.get("version", 0))
            if version < self.version:
                return
            before = self._all()
            self.version = version
            self._take(orders, at)
            news = self._all() != before
        if news:
            self._changed()

    def _take(self, orders: Dict[str, Any], at: float) -> None:
        self.wish = str(orders.get("wish") or RUN)
        self.grace = float(orders.get("grace") or self.grace)
        self.watched = bool(orders.get("watched"))
        self.release = bool(orders.get("release"))
        self.tails = [str(path) for path in orders.get("tails") or []][:50]
        self.bring = [dict(file) for file in orders.get("bring") or []]
        portal_now = orders.get("now")
        self.walltime = _translated(orders.get("walltime_until"), portal_now, at, self.walltime)
        self.paid = _translated(orders.get("paid_until"), portal_now, at, self.paid)

    def _all(self) -> Tuple[Any, ...]:
        bring = tuple(str(file.get("id")) for file in self.bring)
        return (self.wish, self.grace, self.watched, self.release, tuple(self.tails), bring, self.walltime, self.paid)


def _translated(until: Optional[float], now: Optional[float], at: float, before: Optional[float]) -> Optional[float]:
    """The moment on our monotonic clock; the earlier one if it says the same but for the time on the way."""
    if until is None:
        return None
    moment = at + (float(until) - float(time.time() if now is None else now))
    if before is not None and 0 <= moment - before < 0.5:
        return before
    return moment
