"""What this portal did to clusters, as empty files: that it let one go, that it wanted one's end.

The one idea: a mark is touched before the call that it tells of, so it is there whatever became of the call.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from .local_folders import make

KEPT = 7 * 86400.0
"""Seconds; Slurm itself forgets earlier."""
_SWEPT = ".swept"


class Marks:
    """One kind of marks: a folder of ours. OSError where it can't be written."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, token: str) -> None:
        make(self._folder, 0o700)
        (self._folder / token).touch()
        self._forget_old()

    def has(self, token: str) -> bool:
        return (self._folder / token).exists()

    def drop(self, token: str) -> None:
        (self._folder / token).unlink(missing_ok=True)

    def _forget_old(self) -> None:
        """Once an hour."""
        swept = self._folder / _SWEPT
        if swept.exists() and time.time() - swept.stat().st_mtime < 3600:
            return
        swept.touch()
        for entry in os.scandir(self._folder):
            with suppress(FileNotFoundError):
                if time.time() - entry.stat().st_mtime > KEPT:
                    os.unlink(entry.path)
