"""`Idempotency-Key`: a request that comes twice, also at the same moment, is done once.

One idea: the key's row is written first in the transaction of the deed. Whoever comes second waits for that transaction,
meets the row and gets the first one's answer; if the deed is refused, nothing is kept and the key is free again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.utils import timezone
from ninja.errors import HttpError

from jobs.models import Once

KEPT = timedelta(days=7)
LONGEST = 255


def once(request: HttpRequest, action: str, deed: Callable[[], str]) -> str:
    """The public id that `deed` returned, now or when the key was first used. 422: the key was used for another body."""
    key = request.headers.get("Idempotency-Key", "")
    if not key:
        with transaction.atomic():
            return deed()
    if len(key) > LONGEST:
        raise HttpError(400, f"Idempotency-Key has at most {LONGEST} characters.")
    asked = {"user": request.user, "action": action, "key": _hash(key.encode("utf-8", "surrogateescape"))}
    body = _hash(request.body)
    try:
        return _first(asked, body, deed)
    except IntegrityError:
        known = Once.objects.filter(**asked).first()
        if known is None:
            raise
    if known.body != body:
        raise HttpError(422, "This Idempotency-Key was used with another body.")
    return known.target


def _first(asked: dict[str, object], body: str, deed: Callable[[], str]) -> str:
    Once.objects.filter(user=asked["user"], made__lt=timezone.now() - KEPT).delete()
    with transaction.atomic():
        row = Once.objects.create(**asked, body=body)
        row.target = deed()
        row.save(update_fields=["target"])
    return row.target


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
