"""Files that a form without JavaScript brought, for My files and for a new job alike."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from jobs.models import StoredFile
from portal import spooling, storing, words
from portal.forms.names import given_path


def keep(request: HttpRequest, sent: Any) -> StoredFile:
    """One file, stored. Raises ValidationError with words that name it."""
    if sent.size > settings.UPLOAD_CHUNK:
        most = words.size(settings.UPLOAD_CHUNK)
        raise ValidationError(f"{sent.told} is larger than {most}; with JavaScript files of any size can be uploaded.")
    try:
        return spooling.keep(request.user, given_path(sent.given), sent)
    except ValidationError as error:
        raise ValidationError(f"{sent.told[:80]}: {error.messages[0]}") from error
    except storing.NoRoom as full:
        raise ValidationError(f"{sent.told}: {full}") from full
