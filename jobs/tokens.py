"""The names of clusters, and their secrets.

Token: installation code, kind, public id, attempt. The secret is derived from the token and the portal's key, so a create
that is repeated after a crash hands out the same one; the database keeps only its hash.
"""

from __future__ import annotations

import hashlib
import hmac

from django.conf import settings

from .models import Installation, Workload


def token_of(workload: Workload) -> str:
    """The name of the cluster of its attempt as it is now."""
    return f"{Installation.code_of_this()}-{workload.kind}-{workload.public_id}-{workload.attempt}"


def secret_of(token: str) -> str:
    """What an agent proves itself by; 64 hexadecimal digits."""
    return hmac.new(settings.SECRET_KEY.encode(), b"cluster:" + token.encode(), hashlib.sha256).hexdigest()


def hash_of(secret: str) -> str:
    """SHA-256, in hexadecimal digits: all that the database keeps."""
    return hashlib.sha256(secret.encode()).hexdigest()
