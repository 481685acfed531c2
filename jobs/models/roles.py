"""Who may look at everything, and who may change it: admins both, auditors only the first.

One idea: auditors are the people of a Django group of that name; whatever is not given to them by name is refused.
"""

from __future__ import annotations

from typing import Any

AUDITORS = "auditors"


def is_admin(user: Any) -> bool:
    return bool(user.is_active and (user.is_staff or user.is_superuser))


def is_auditor(user: Any) -> bool:
    """Asked for once a request: the answer is kept on the user."""
    if not hasattr(user, "_is_auditor"):
        user._is_auditor = bool(user.is_authenticated and user.groups.filter(name=AUDITORS).exists())
    return bool(user._is_auditor)


def only_looks(user: Any) -> bool:
    """Whether it is somebody who sees everything and changes nothing, and so makes nothing either."""
    return is_auditor(user) and not is_admin(user)


def sees_all(user: Any) -> bool:
    return is_admin(user) or is_auditor(user)
