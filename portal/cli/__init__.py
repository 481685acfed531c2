"""`headrace`: the command line client. It knows the public API and nothing else of Headrace: no Django, no model, no path.

Installed alone by `pip install ./portal/cli`, or beside the portal by the extra `client`; then `headrace`, or
`python -m portal.cli` in a source tree.
"""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """The console script."""
    from .app import headrace

    headrace()
