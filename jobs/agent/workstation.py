"""A workstation's part of the reporter: its session reached, its home copied, and ended only when it can be saved.

The one idea: nothing of a session is ended before the portal has room for its home. All that is kept in mind can be
asked or measured again, so a reporter that comes new goes on in the middle of anything.
"""
import time
from typing import Any, Callable, Dict, Optional

from . import doors
from .bringing import Bringing
from .config import Config
from .copies import Copies, Failed, Interrupted, NoRoom
from .evidence import Evidence
from .orders import FORCE, RUN, Orders
from .relay import Relay
from .sessions import SERVICE
from .wire import Portal

SUSPEND = "suspend"
_LOOK = 0.02  # seconds between looks for the session's socket
_FIRST_PAUSE = 0.5  # seconds until a copy that came to nothing is made again
_AGAIN = 10.0  # seconds until a refusal is put to the portal once more
Wait = Callable[..., None]


class Workstation:
    """`over()`: the session has ended; `wait(ready, seconds)` is the reporter's."""

    def __init__(
        self, config: Config, spec: Dict[str, Any], portal: Portal, orders: Orders, over: Callable[[], bool], log: Callable[[str], None]
    ) -> None:
        session = spec["session"]
        self.relay = Relay(config, portal, log)
        self.evidence = Evidence(config, session, self.relay)
        self.bringing = Bringing(config, portal, orders, over, log)
        self.may_end = False  # the home can be saved: the session may be ended
        self._config, self._portal, self._orders, self._over = config, portal, orders, over
        self._kind = str(session.get("kind"))
        self._every = float(session.get("every") or 0)
        self._copies = Copies(config, portal, int(session.get("limit") or 0))
        self._due = time.monotonic() + self._every
        self._refused: Optional[str] = None
        self._again_at = 0.0
        self._said = ""
        self._log = log

    def orders_changed(self) -> None:
        """A wish that was refused and taken back may be uttered again at once."""
        if self._orders.wish == RUN:
            self._refused = None
        self.bringing.news.ring()

    def tell_ready(self) -> None:
        """A thread's life: says once that the session's service answers. Raises Released."""
        service = SERVICE.get(self._kind, self._kind)
        while not doors.answers(self._config, service):
            if self._over():
                return
            self._portal.check()
            time.sleep(_LOOK)
        self._portal.insist("ready", {"service": service})

    def attend(self, wait: Wait, end: Callable[[], None]) -> None:
        """While the session lives: copies in time; `end()` once it is to end and may."""
        while not self._over():
            if self._asked() and not self.may_end:
                self._prepare_end(end)
            elif self._every and not self._asked() and time.monotonic() >= self._due:
                self._copy_now()
            wait(self._something_to_do, self._seconds())

    def save(self, wait: Wait) -> Dict[str, int]:
        """The last copy, once nothing runs any more; tried until it is whole or given up. Raises Released."""
        self.bringing.finish()
        pause = _FIRST_PAUSE
        while not self._given_up():
            last = self._copies.last()
            if last and last["final"]:
                return {"files": last["files"], "bytes": last["bytes"], "skipped": last["skipped"], "failed": 0}
            try:
                self._copies.make(self._why(), True, self._unless_given_up)
                continue
            except Interrupted:
                break
            except NoRoom as error:
                self._say_unsaved(str(error))
                pause = _AGAIN
            except Failed as error:
                self._log("last copy: %s" % error)
            wait(self._given_up, pause)
            pause = min(2 * pause, _AGAIN)
        return {"files": 0, "bytes": 0, "skipped": 0, "failed": 0}

    def _prepare_end(self, end: Callable[[], None]) -> None:
        """Room first; without it the session goes on."""
        try:
            self._copies.room(self._why(), self._unless_over)
        except Interrupted:
            return
        except NoRoom as error:
            self._refused, self._again_at = self._orders.wish, time.monotonic() + _AGAIN
            self._say_unsaved(str(error))
            return
        if self._asked():
            self.may_end = True
            end()

    def _copy_now(self) -> None:
        self._due = time.monotonic() + self._every
        try:
            if self._copies.changed(self._unless_asked):
                self._copies.make("periodic", False, self._unless_asked)
        except Interrupted:
            pass
        except (NoRoom, Failed, OSError) as error:
            self._log("periodic copy: %s" % error)

    def _say_unsaved(self, message: str) -> None:
        if not self._over() or message != self._said:
            self._said = message
            self._portal.insist("unsaved", {"message": message})

    def _asked(self) -> bool:
        """Whether the session is to end and that was not refused just now."""
        wish = self._orders.wish
        if wish in (RUN, FORCE):
            return False
        return wish != self._refused or time.monotonic() >= self._again_at

    def _something_to_do(self) -> bool:
        return self._over() or (self._asked() and not self.may_end)

    def _seconds(self) -> float:
        now = time.monotonic()
        moments = [self._due] if self._every else []
        if self._refused:
            moments.append(self._again_at)
        return min([5.0] + [max(0.01, moment - now) for moment in moments])

    def _why(self) -> str:
        return "suspend" if self._orders.wish == SUSPEND else "stop"

    def _given_up(self) -> bool:
        return self._orders.wish == FORCE

    def _unless_given_up(self) -> None:
        self._portal.check()
        if self._given_up():
            raise Interrupted()

    def _unless_over(self) -> None:
        self._portal.check()
        if self._over() or self._orders.wish in (RUN, FORCE):
            raise Interrupted()

    def _unless_asked(self) -> None:
        """A periodic copy gives way to the session's end, which makes its own."""
        self._portal.check()
        if self._asked() or self._over():
            raise Interrupted()
