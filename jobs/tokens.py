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
    return f"{Installation.code_of_this()}-{workload.kind}-{workload.public_id}-{workload.attempt}"


def secret_of(token: str) -> str:
    return hmac.new(settings.SECRET_KEY.encode(), b"cluster:" + token.encode(), hashlib.sha256).hexdigest()


def hash_of(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
