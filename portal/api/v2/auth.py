"""Who calls: a token in the header, or a browser that is signed in. Scopes narrow what a token may do.

401: no or a bad token. 403: the token or the person lacks the right on something of one's own. 404: somebody else's.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from ninja.errors import HttpError
from ninja.security.base import AuthBase
from ninja.utils import check_csrf

from jobs.models import ApiToken, Scope

SAFE = {"GET", "HEAD", "OPTIONS"}


class TokenAuth(AuthBase):
    """`Authorization: Token TOKEN` (or Bearer); without a header the session of a signed-in browser."""

    openapi_type = "apiKey"
    openapi_in = "header"
    openapi_name = "Authorization"

    def __call__(self, request: HttpRequest) -> Any:
        kind, _, text = request.headers.get("Authorization", "").partition(" ")
        if kind.lower() in {"token", "bearer"} and text.strip():
            return self._by_token(request, text.strip())
        return self._by_session(request)

    def _by_token(self, request: HttpRequest, text: str) -> Any:
        token = ApiToken.find(text, address_of(request))
        if token is None:
            return None
        if token.scope == Scope.READ and request.method not in SAFE:
            raise HttpError(403, "This token may only read.")
        user = token.user
        if token.scope != Scope.ADMIN:
            user.is_staff = user.is_superuser = False  # in memory only: this token does not carry the admin's rights
        request.user = user
        return f"token-{token.pk}"

    def _by_session(self, request: HttpRequest) -> Any:
        if not request.user.is_authenticated:
            return None
        if request.method not in SAFE and check_csrf(request):
            raise HttpError(403, "The CSRF token is missing.")
        return f"user-{request.user.pk}"


def address_of(request: HttpRequest) -> str | None:
    """Where a request comes from; the proxy's word counts only where a proxy is set up."""
    if settings.SECURE_PROXY_SSL_HEADER and (forwarded := request.headers.get("X-Forwarded-For")):
        return forwarded.rpartition(",")[2].strip() or None
    return request.META.get("REMOTE_ADDR") or None


def admin_only(request: HttpRequest) -> None:
    if not request.user.is_staff:
        raise HttpError(403, "Only admins may do that.")
