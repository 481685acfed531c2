"""Secrets that must be read again, such as the keys that sign webhooks: encrypted with a key derived from SECRET_KEY.

One idea: the database alone, or a backup of it, signs nothing. After SECRET_KEY has changed old ones open as long as it
stands in SECRET_KEY_FALLBACKS; then they are Unreadable, which is said, never signed with something else.
"""

from __future__ import annotations

import base64

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

PURPOSE = b"headrace sealed secrets"


class Unreadable(Exception):
    """It was sealed with another SECRET_KEY."""


def seal(text: str) -> str:
    """As text that a column takes."""
    return _box().encrypt(text.encode()).decode()


def opened(sealed: str) -> str:
    """Raises Unreadable."""
    try:
        return _box().decrypt(sealed.encode()).decode()
    except InvalidToken:
        raise Unreadable("SECRET_KEY is not the one that it was sealed with.") from None


def _box() -> MultiFernet:
    return MultiFernet([Fernet(_derived(key)) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)])


def _derived(key: str) -> bytes:
    """A Fernet key from the portal's own (HKDF, RFC 5869)."""
    made = HKDF(algorithm=SHA256(), length=32, salt=None, info=PURPOSE).derive(key.encode())
    return base64.urlsafe_b64encode(made)
