"""The process that talks to the portal: from hello to done, then until released.

The one idea: it keeps nothing in mind that is not on disk or with the portal, so it may die at any line and the next
one goes on from the marks.
"""
import contextlib
import os
import shutil
import socket
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, Optional

from . import PROTOCOL, VERSION, marks, outputs, sessions, staging
from .config import Config
from .fetch import Failed, Stopped
from .health import Health
from .link import Link
from .logs import Logs
from .orders import FORCE, RUN, Orders
from .wire import FIRST_PAUSE, Portal, Released, Unreachable, longer

if TYPE_CHECKING:
    from .workstation import Workstation

BEAT_WATCHED, BEAT = 2.0, 10.0  # seconds


class Reporter:
    """One life of the reporter; run() returns when the portal released us."""

    def __init__(self, config: Config, channel: socket.socket, log: Callable[[str], None]) -> None:
        self._config, self._log = config, log
        self._orders = Orders(self._orders_changed)
        self._portal = Portal(config, self._orders.heard, log)
        self._link = Link(config, channel, log)
        self._logs: Optional[Logs] = None
        self._spec: Dict[str, Any] = {}
        self._workstation: Optional["Workstation"] = None

    def run(self) -> int:
        """The exit code: 0, everything here is over."""
        try:
            self._link.listen()
            self._hello()
            self._thread(self._poll_orders)
            self._thread(self._beats)
            if self._config.head:
                self._head()
            self._wait(lambda: False)
        except Released:
            pass
        except Exception as error:
            self._log("reporter: %r" % error)
            self._tell_failed(error)
            return 1
        self._portal.release()
        with contextlib.suppress(OSError):
            marks.write(self._config.folder, marks.RELEASED, {})
        self._link.release()
        return 0

    def _tell_failed(self, error: Exception) -> None:
        """Before the command began the portal may try another cluster; afterwards the next reporter tries again."""
        if not self._begun():
            with contextlib.suppress(Unreachable, Released):
                self._portal.tell("failed", {"message": "the agent can't go on: %s" % error})

    def _hello(self) -> None:
        answer = self._portal.insist("hello", self._introduction)
        self._spec = sessions.prepared(answer.body.get("spec") or {}, self._config)
        if self._spec:
            marks.save(self._config.folder, "spec.json", self._spec)

    def _introduction(self) -> Dict[str, Any]:
        config = self._config
        return {
            "nonce": _nonce(config.folder), "protocol": PROTOCOL, "agent": VERSION, "hostname": config.hostname,
            "cores": config.cores, "memory": config.memory or Health.memory_total(), "sandbox": config.sandbox,
            "disk_free": shutil.disk_usage(config.workdir).free, "clock": time.time(),
        }

    def _head(self) -> None:
        if not self._begun() and not (self._stage() and self._go()):
            self._last_word({"files": 0, "bytes": 0, "skipped": 0, "failed": 0})
            return
        self._wait(self._begun)
        self._follow()

    def _begun(self) -> bool:
        return marks.exists(self._config.folder, marks.STARTED) or self._exit() is not None

    def _exit(self) -> Optional[Dict[str, Any]]:
        return marks.read(self._config.folder, marks.EXIT)

    def _stage(self) -> bool:
        """Inputs in place and reported. False: stopped or failed, the command must not start."""
        try:
            total = staging.stage(self._config, self._spec, self._portal, self._stopping)
            if self._spec.get("session"):
                sessions.place(self._config, self._spec)
        except Failed as failed:
            self._portal.insist("staged", {"error": {"file": failed.file, "message": failed.message}})
            self._wait(lambda: False)
        except Stopped:
            return False
        self._portal.insist("staged", total)
        return True

    def _go(self) -> bool:
        """Asks until the portal hands the command to us. False: stopped before."""
        pause = FIRST_PAUSE
        while not self._stopping():
            asked = time.monotonic()
            answer = self._portal.insist("go", {"nonce": _nonce(self._config.folder)}, give_up=self._stopping)
            if answer.body.get("go"):
                self._link.start(answer.body.get("hosts") or [self._config.hostname])
                return True
            if time.monotonic() - asked < 1:  # a portal that does not hold the request
                self._wait(self._stopping, pause)
                pause = min(longer(pause), 2.0)
        return False

    def _follow(self) -> None:
        """From the running command to the last word."""
        self._logs = Logs(self._config, self._spec, self._portal, self._orders)
        sender = self._thread(self._logs.run)
        mark = marks.read(self._config.folder, marks.STARTED)
        if mark:
            self._portal.insist("started", {"pid": mark["pid"], "clock": mark["clock"]})
        self._attend()
        self._logs.finish()
        self._portal.insist("exit", self._exit())
        saved = self._save()
        while sender.is_alive():
            self._wait(lambda: not sender.is_alive(), 0.5)
        streams = [kept._asdict() for kept in self._logs.kept]
        self._last_word(dict(saved, streams=streams))

    def _attend(self) -> None:
        """Until the command has ended."""
        if not self._spec.get("session"):
            self._orders_changed()
            self._wait(self._over)
            return
        from .workstation import Workstation  # relay and copies: 20 ms that jobs do not need

        sys.setswitchinterval(0.001)  # seconds: a picture must not wait for a home that is being copied
        station = Workstation(self._config, self._spec, self._portal, self._orders, self._over, self._log)
        self._workstation = station
        self._thread(station.relay.run)
        self._thread(station.tell_ready)
        self._thread(station.bringing.run)
        self._orders_changed()
        station.attend(self._wait, self._orders_changed)

    def _over(self) -> bool:
        return self._exit() is not None

    def _save(self) -> Dict[str, int]:
        if self._workstation:
            return self._workstation.save(self._wait)
        return outputs.save(self._config, self._portal, self._given_up, self._log)

    def _last_word(self, word: Dict[str, Any]) -> None:
        word.setdefault("streams", [])
        self._portal.insist("done", word)

    def _stopping(self) -> bool:
        return self._orders.wish != RUN or self._orders.release

    def _given_up(self) -> bool:
        return self._orders.wish == FORCE

    def _wait(self, ready: Callable[[], bool], seconds: Optional[float] = None) -> None:
        """Until ready, at most so long. Raises Released."""
        until = None if seconds is None else time.monotonic() + seconds
        while not ready() and (until is None or time.monotonic() < until):
            self._portal.check()
            left = 5.0 if until is None else max(0.0, until - time.monotonic())
            self._link.news.wait(min(left, 5.0))

    def _orders_changed(self) -> None:
        orders = self._orders
        if orders.release:
            self._portal.release()
        self._link.deadlines(orders.walltime, orders.paid)
        if self._begun() and orders.wish != RUN and self._may_end():
            self._link.stop(orders.wish == FORCE, orders.grace)
        if self._logs:
            self._logs.wake()
        if self._workstation:
            self._workstation.orders_changed()
        self._link.news.ring()

    def _may_end(self) -> bool:
        """A session only once its home can be saved, or is given up."""
        if not self._spec.get("session") or self._orders.wish == FORCE:
            return True
        return self._workstation is not None and self._workstation.may_end

    def _poll_orders(self) -> None:
        pause = FIRST_PAUSE
        while True:
            asked = time.monotonic()
            try:
                self._portal.tell("orders", method="GET", have=self._orders.version)
                pause = FIRST_PAUSE
            except Unreachable:
                self._portal.wait(pause)
                pause = longer(pause)
                continue
            if time.monotonic() - asked < 0.05:
                time.sleep(0.05)  # a portal that answers at once without news

    def _beats(self) -> None:
        health = Health(self._config, self._link.holder)
        while True:
            last = time.monotonic()
            self._link.family = health.family() or self._link.family
            try:
                self._portal.tell("beat", self._beat(health))
            except (Unreachable, OSError) as error:
                self._log("beat: %s" % error)
            while time.monotonic() < last + (BEAT_WATCHED if self._orders.watched else BEAT):
                for _ in range(8):
                    self._portal.check()
                    time.sleep(BEAT_WATCHED / 8)
                self._link.family = health.family() or self._link.family
                if marks.taken_away(self._config.folder):
                    self._portal.release()

    def _beat(self, health: Health) -> Dict[str, Any]:
        body = health.sample()
        if self._workstation:
            body.update(self._workstation.evidence.sample(health.family()))
        return body

    def _thread(self, work: Callable[[], None]) -> threading.Thread:
        thread = threading.Thread(target=self._guarded, args=(work,), daemon=True)
        thread.start()
        return thread

    def _guarded(self, work: Callable[[], None]) -> None:
        """A thread that fails ends the whole reporter: the next one starts clean."""
        try:
            work()
        except Released:
            pass
        except BaseException as error:
            self._log("reporter: %r" % error)
            os._exit(1)
        finally:
            self._link.news.ring()


def _nonce(folder: str) -> str:
    """Made once by the holder, before any reporter."""
    with open(os.path.join(folder, "nonce")) as file:
        return file.read().strip()
