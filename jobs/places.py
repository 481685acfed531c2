"""Where stored bytes lie on this machine."""

from __future__ import annotations

from django.core.files.storage import default_storage


def path_of(key: str) -> str | None:
    """A path, if storage is a folder; None where it is a service."""
    try:
        return default_storage.path(key)
    except NotImplementedError:
        return None
