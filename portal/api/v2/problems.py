"""Every refusal looks the same: {field: [text, ...]}, with `detail` where no field is to blame. Never a page, never a trace."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.core.exceptions import ValidationError as FormError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.http.multipartparser import MultiPartParserError
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, Throttled, ValidationError

log = logging.getLogger(__name__)
View = Callable[..., HttpResponseBase]
WHERE = {"body", "query", "path", "form", "file", "header"}
OURS = {"payload", "paging", "asked"}
"""First and second part of a pydantic place that a client never wrote."""
CHECK = re.compile(r"[\w-]+\[.*\]|[A-Z]\w*In", re.DOTALL)
"""What pydantic calls one of several shapes that a value may have."""


def said(status: int, *texts: str, field: str = "detail", **headers: str) -> HttpResponse:
    return JsonResponse({field: list(texts)}, status=status, headers={name.replace("_", "-"): value for name, value in headers.items()})


def handle(api: NinjaAPI) -> None:
    """Teach `api` all of these answers."""
    for kind, answer in ANSWERS.items():
        api.add_exception_handler(kind, answer)


def plain(view: View) -> View:
    """Around every address: what no handler sees, such as NUL bytes and methods that are not there."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **named: Any) -> HttpResponseBase:
        if "\0" in request.path_info:
            return said(404, "Not found.")
        for name, values in request.GET.lists():
            if "\0" in name or any("\0" in value for value in values):
                return said(400, "It can't hold a NUL byte.", field=name.replace("\0", ""))
        answer = view(request, *args, **named)
        if answer.status_code == 405:
            return said(405, f"{request.method} is not possible here.", Allow=answer["Allow"])
        return answer

    return wrapped


def put_as_post(view: View) -> View:
    """For an address at which both mean the same; Django reads the files of a form from POST alone."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **named: Any) -> HttpResponseBase:
        if request.method == "PUT":
            request.method = request.META["REQUEST_METHOD"] = "POST"
        return view(request, *args, **named)

    return wrapped


def nowhere(request: HttpRequest, rest: str) -> HttpResponse:
    """Any other address below the API's."""
    return said(404, "There is no such address." if rest.endswith("/") else "There is no such address; every address ends with a slash.")


# --- private ----------------------------------------------------------------------------------------------------------
def _not_signed_in(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    return said(401, "A valid token is needed: Authorization: Token TOKEN.", WWW_Authenticate="Token")


def _not_found(request: HttpRequest, error: Http404) -> HttpResponse:
    return said(404, str(error) or "Not found.")


def _refused(request: HttpRequest, error: HttpError) -> HttpResponse:
    return said(error.status_code, error.message)


def _too_fast(request: HttpRequest, error: Throttled) -> HttpResponse:
    return said(429, "Too many requests.", Retry_After=str(int(error.wait or 1)))


def _malformed(request: HttpRequest, error: ValidationError) -> HttpResponse:
    found: dict[str, list[str]] = {}
    for one in error.errors:
        found.setdefault(_place(one["loc"]), []).append(one["msg"])
    return JsonResponse(found, status=400)


def _place(parts: Sequence[Any]) -> str:
    """The name of a field as the client wrote it."""
    names = [name for part in parts if not CHECK.fullmatch(name := str(part))]
    names = names[1:] if names and names[0] in WHERE else names
    return ".".join(names[1:] if names and names[0] in OURS else names) or "detail"


def _wrong_value(request: HttpRequest, error: FormError) -> HttpResponse:
    return JsonResponse(error.message_dict if hasattr(error, "error_dict") else {"detail": error.messages}, status=400)


def _suspicious(request: HttpRequest, error: Exception) -> HttpResponse:
    if isinstance(error, RequestDataTooBig):
        return said(413, "The body is too big, or has too many parts.")
    return said(400, "The request can't be read.")


def _broken(request: HttpRequest, error: Exception) -> HttpResponse:
    log.error("%s %s failed", request.method, request.path, exc_info=error)
    return said(500, "Something is wrong here, not with what you sent; the portal's log says what.")


ANSWERS: dict[type[Exception], Callable[..., HttpResponse]] = {
    AuthenticationError: _not_signed_in,
    Http404: _not_found,
    HttpError: _refused,
    Throttled: _too_fast,
    ValidationError: _malformed,
    FormError: _wrong_value,
    SuspiciousOperation: _suspicious,
    MultiPartParserError: _suspicious,
    RecursionError: _suspicious,
    Exception: _broken,
}
