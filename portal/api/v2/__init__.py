"""The public API, version 2: the addresses and names that existing clients of this kind of portal speak, told truthfully.

Their statuses come in the order that those clients rely on; what really happened (outcome, exit code, stage, reason,
verdict) stands beside them in extra keys. One file a noun.
"""

from .app import api, urls

__all__ = ["api", "urls"]
