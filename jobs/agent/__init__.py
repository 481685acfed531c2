"""The program that runs on every node of a cluster: standard library only, Python 3.6 and up, shipped as one zipapp.

The one idea: two processes. The holder owns the command and never touches the network; the reporter talks to the portal
and may die at any time, because all that it needs to go on is on disk or can be asked again.
"""
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

PROTOCOL = 1
VERSION = "0.1.0"


def build(target: "Path") -> "Path":
    """Writes the zipapp and returns its path. The same sources and Python give the same bytes."""
    from . import packing  # not needed on a node

    return packing.build(target)
