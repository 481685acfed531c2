"""Who calls: a token in the header, or a browser that is signed in. Scopes narrow what a token may do.

401: no or a bad token. 403: the token or the person lacks the right on something of one's own. 404: somebody else's.
One idea: a token never carries more than its scope, so the user that a request gets is narrowed in memory, once, here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from ninja.errors import HttpError, Throttled
from ninja.security.base import AuthBase
from ninja.utils import check_csrf

from jobs.models import ApiToken, Scope
from jobs.models.roles import only_looks

from . import rate

SAFE = {"GET", "HEAD", "OPTIONS"}
READS_ONLY = "This token may only read."
LOOKS_ONLY = "Auditors see everything and change nothing."
View = Callable[..., HttpResponse]


class TokenAuth(AuthBase):
    """`Authorization: Token TOKEN` (or Bearer); without a header the session of a signed-in browser."""

    openapi_type = "apiKey"
    openapi_in = "header"
    openapi_name = "Authorization"
    openapi_description = "`Token` and a space before the token itself, which the account page or `manage.py token USER` makes."

    def __call__(self, request: HttpRequest) -> Any:
        who = self._by_token(request) if "Authorization" in request.headers else self._by_session(request)
        if who and request.method not in SAFE and only_looks(request.user):
            raise HttpError(403, LOOKS_ONLY)
        if who and (pause := rate.pause(who)):
            raise Throttled(wait=pause)
        return who

    def _by_token(self, request: HttpRequest) -> Any:
        token = token_in(request.headers["Authorization"], address_of(request))
        if token is None:
            return None
        if token.scope == Scope.READ and request.method not in SAFE:
            raise HttpError(403, READS_ONLY)
        request.user = narrowed(token)
        return f"token-{token.pk}"

    def _by_session(self, request: HttpRequest) -> Any:
        if not request.user.is_authenticated:
            return None
        if request.method not in SAFE and check_csrf(request):
            raise HttpError(403, "The CSRF token is missing.")
        return f"user-{request.user.pk}"


def token_in(header: str, address: str | None) -> ApiToken | None:
    """The living token that an Authorization header holds, its use noted."""
    kind, _, text = header.partition(" ")
    if kind.lower() not in {"token", "bearer"} or not text.strip():
        return None
    return ApiToken.find(text.strip(), address)


def narrowed(token: ApiToken) -> Any:
    """The token's user with no more rights than the token carries; in memory only, never to be saved."""
    user = token.user
    if token.scope != Scope.ADMIN:
        user.is_staff = user.is_superuser = False
    return user


def token_or_session(view: View) -> View:
    """For pages outside of the API that programs use too: a token instead of the sign-in and its CSRF token."""

    @csrf_exempt
    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **named: Any) -> HttpResponse:
        try:
            who = TokenAuth()(request)
        except HttpError as refused:
            return HttpResponse(refused.message, status=refused.status_code, content_type="text/plain")
        except Throttled as soon:
            return HttpResponse("Too many requests.", status=429, headers={"Retry-After": str(soon.wait)}, content_type="text/plain")
        if who:
            return view(request, *args, **named)
        if "Authorization" not in request.headers:
            return redirect_to_login(request.get_full_path())
        return HttpResponse("A valid token is needed.", status=401, headers={"WWW-Authenticate": "Token"}, content_type="text/plain")

    return wrapped


def address_of(request: HttpRequest) -> str | None:
    """Where a request comes from; the proxy's word counts only where a proxy is set up."""
    if settings.SECURE_PROXY_SSL_HEADER and (forwarded := request.headers.get("X-Forwarded-For")):
        return forwarded.rpartition(",")[2].strip() or None
    return request.META.get("REMOTE_ADDR") or None


def admin_only(request: HttpRequest) -> None:
    if not request.user.is_staff:
        raise HttpError(403, "Only admins may do that.")
