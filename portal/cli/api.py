"""The API as Python calls: signs in, tries again what may be tried again, follows pages, turns refusals into one line."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from typing import Any

import click
import httpx

from .config import Config

TRIES = 6
"""How often a request is sent that meets no answer, a busy portal (503) or a full bucket (429)."""
OURS = 125
"""Exit code for what failed here and not in the job."""


class Refused(click.ClickException):
    """The portal's answer, for people."""

    exit_code = OURS

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class Api:
    def __init__(self, config: Config) -> None:
        self.config = config
        signed = {"Authorization": f"Token {config.token}"}
        self.http = httpx.Client(base_url=config.url, headers=signed, timeout=httpx.Timeout(60, connect=15), follow_redirects=True)

    def get(self, path: str, **query: Any) -> Any:
        return self.ask("GET", f"/api/v2/{path}", params=query).json()

    def post(self, path: str, body: Any = None, once: bool = False) -> Any:
        """With `once` it is done once however often it has to be sent."""
        headers = {"Idempotency-Key": str(uuid.uuid4())} if once else {}
        answer = self.ask("POST", f"/api/v2/{path}", again=once, json=body, headers=headers)
        return answer.json() if answer.content else None

    def all(self, path: str, **query: Any) -> Iterator[dict[str, Any]]:
        """Every result of a list, page after page."""
        page = self.get(path, **query)
        while True:
            yield from page["results"]
            if not page["next"]:
                return
            page = self.ask("GET", httpx.URL(page["next"]).raw_path.decode()).json()

    def ask(self, method: str, path: str, again: bool | None = None, good: tuple[int, ...] = (), **options: Any) -> httpx.Response:
        """The answer to a request. Raises Refused; `good` are statuses above 399 that the caller looks at."""
        again = method in {"GET", "HEAD"} if again is None else again
        for number in range(TRIES):
            last = number == TRIES - 1
            try:
                answer = self.http.request(method, path, **options)
            except httpx.TransportError as error:
                if last or not (again or isinstance(error, httpx.ConnectError)):
                    raise Refused(0, f"{self.config.url} can't be reached: {error or type(error).__name__}") from error
                time.sleep(0.5 * 2**number)
                continue
            if answer.status_code in {429, 503} and not last:
                time.sleep(min(60.0, float(answer.headers.get("Retry-After") or 2**number)))
                continue
            return self._judged(answer, good)
        raise AssertionError

    def _judged(self, answer: httpx.Response, good: tuple[int, ...]) -> httpx.Response:
        if answer.status_code < 400 or answer.status_code in good:
            return answer
        raise Refused(answer.status_code, reason(answer))


def reason(answer: httpx.Response) -> str:
    try:
        told = answer.json()
    except ValueError:
        return answer.text[:300] or f"The portal answered {answer.status_code}."
    if not isinstance(told, dict):
        return str(told)[:300]
    return "\n".join(f"{text}" if field == "detail" else f"{field}: {text}" for field, texts in told.items() for text in texts)
