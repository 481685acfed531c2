"""A thread's bell: rung by one thread, waited for by another.

The one idea: threading's own waits go by the wall clock in older Pythons, so a clock that is set back makes them sleep
for an hour; poll() on a pipe does not.
"""
import contextlib
import os
import select


class Bell:
    """Rung once or often, it wakes its waiter once."""

    def __init__(self) -> None:
        self._out, self._in = os.pipe()
        for fd in (self._out, self._in):
            os.set_blocking(fd, False)
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN)

    def ring(self) -> None:
        with contextlib.suppress(BlockingIOError):  # full: it is ringing all over
            os.write(self._in, b"!")

    def wait(self, seconds: float) -> None:
        """Until it rings, at most so long."""
        if self._poll.poll(max(0, int(seconds * 1000))):
            with contextlib.suppress(BlockingIOError):
                os.read(self._out, 65536)
