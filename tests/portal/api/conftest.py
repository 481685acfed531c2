"""A caller with a token, and jobs in every status as the pages' tests have them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.core.files.storage import storages
from django.test import Client

sys.path.insert(0, str(Path(__file__).parent.parent / "pages"))

import factories  # noqa: E402
import scenes  # noqa: E402

from jobs.models import ApiToken, Scope  # noqa: E402


@pytest.fixture(autouse=True)
def folders(settings, tmp_path):
    """Logs, uploads and storage of this test alone."""
    settings.LOGS_DIR, settings.UPLOADS_DIR, settings.FILES_DIR = (tmp_path / name for name in ("logs", "uploads", "files"))
    settings.STORAGES = {**settings.STORAGES, "default": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": str(tmp_path / "files")}}}
    storages._storages.clear()
    cache.clear()
    yield tmp_path
    storages._storages.clear()


class Caller:
    """A client of the API that signs in with a token, as programs do."""

    def __init__(self, text: str) -> None:
        self.text, self.browser = text, Client(raise_request_exception=False)

    def __call__(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """`headers` with underscores; a body that is no text or bytes goes as JSON."""
        known = {"Authorization": f"Token {self.text}", **{name.replace("_", "-"): value for name, value in headers.items()}}
        kind = known.pop("Content-Type", "application/json")
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        return self.browser.generic(method, f"/api/v2/{path}", data, kind, headers=known)

    def get(self, path: str, **headers: str) -> Any:
        return self("GET", path, **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        return self("POST", path, body, **headers)

    def upload(self, name: str, data: bytes, **fields: str) -> Any:
        from django.core.files.uploadedfile import SimpleUploadedFile

        form = {"file": SimpleUploadedFile(name, data), **fields}
        return self.browser.post("/api/v2/files/contents/", form, headers={"Authorization": f"Token {self.text}"})


@pytest.fixture
def calls():
    """Makes a caller for a user."""
    def make(user: Any, scope: str = Scope.RUN) -> Caller:
        return Caller(ApiToken.make(user, "test", scope)[1])

    return make


@pytest.fixture
def me(calls, owner, wing):
    return calls(owner)


@pytest.fixture
def kind(db):
    return factories.coretype(code="granite")


@pytest.fixture
def shell(db):
    return factories.software()


@pytest.fixture
def wanted(kind, shell):
    """The body of a small job; `wanted(command=..., hardware=...)` changes it."""
    def make(name: str = "beam", **analysis: Any) -> dict[str, Any]:
        one = {"analysis": {"code": "shell", "version": "1"}, "command": "true", "hardware": {"coreType": "granite", "coresPerSlot": 1, "walltime": 1}}
        return {"name": name, "jobanalyses": [{**one, **analysis}]}

    return make


@pytest.fixture
def jobs(owner, wing):
    return scenes.all_of_them(owner, wing)
