"""Sealed passes: what lets a browser in on the host name of applications, where nobody is signed in.

A ticket travels once, in an address, and is worth a minute; the cookie that it is exchanged for is worth a working day and
belongs to one workstation. Both name the session that they come from: signing out there ends them here. Both are
encrypted, since the one is seen in logs of proxies and the other by programs of the workstation's own pages.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import asdict, dataclass

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings

TICKET, COOKIE = 60, 12 * 3600
"""Seconds that each is good for."""


@dataclass(frozen=True)
class Pass:
    """Which session may use which workstation (its name)."""

    session: str
    name: str


def seal(given: Pass, purpose: str) -> str:
    return _box(purpose).encrypt(json.dumps(asdict(given)).encode()).decode()


def unseal(text: str, purpose: str, seconds: int) -> Pass | None:
    """None for what is not ours, for another purpose, or too old."""
    try:
        return Pass(**json.loads(_box(purpose).decrypt(text.encode(), ttl=seconds)))
    except (InvalidToken, ValueError, TypeError):
        return None


def _box(purpose: str) -> Fernet:
    key = hashlib.sha256(f"relay:{purpose}:{settings.SECRET_KEY}".encode()).digest()
    return Fernet(base64.urlsafe_b64encode(key))
