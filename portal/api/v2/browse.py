"""The OpenAPI document as a page: every address, what it takes and what it answers. Plain HTML of our own, no script."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from ninja import NinjaAPI

Document = dict[str, Any]
DEEP = 6
"""How far a description follows what it is made of."""


@dataclass(frozen=True)
class Field:
    name: str
    where: str
    kind: str
    needed: bool
    about: str


@dataclass(frozen=True)
class Entry:
    """One operation. `body` and `answer` are descriptions as indented text."""

    id: str
    method: str
    path: str
    summary: str
    about: str
    fields: list[Field] = field(default_factory=list)
    body: str = ""
    answers: list[tuple[str, str]] = field(default_factory=list)


@login_required
@require_safe
def browse(request: HttpRequest, api: NinjaAPI) -> HttpResponse:
    document = api.get_openapi_schema()
    groups: dict[str, list[Entry]] = {}
    for tag, entry in entries(document):
        groups.setdefault(tag, []).append(entry)
    return render(request, "account/tokens_api.html", {"groups": groups, "info": document["info"]})


def entries(document: Document) -> Iterator[tuple[str, Entry]]:
    """Every operation with its group, in the order of the document."""
    for path, operations in document["paths"].items():
        for method, one in operations.items():
            yield one.get("tags", ["other"])[0], _entry(document, path, method, one)


def _entry(document: Document, path: str, method: str, one: Document) -> Entry:
    body = next(iter(one.get("requestBody", {}).get("content", {}).values()), {}).get("schema")
    return Entry(
        id=one["operationId"],
        method=method.upper(),
        path=path,
        summary=one.get("summary", ""),
        about=one.get("description", ""),
        fields=[_field(document, parameter) for parameter in one.get("parameters", [])],
        body=_text(document, body) if body else "",
        answers=[(str(code), _answer(document, answer)) for code, answer in one["responses"].items() if int(code) < 400],
    )


def _field(document: Document, parameter: Document) -> Field:
    schema = parameter.get("schema", {})
    about = parameter.get("description") or schema.get("description", "")
    kind = str(_example(document, schema, 1))
    return Field(parameter["name"], parameter["in"], kind, parameter.get("required", False), about)


def _answer(document: Document, answer: Document) -> str:
    content = answer.get("content", {})
    if "application/json" not in content:
        return ", ".join(content) or "no body"
    return _text(document, content["application/json"]["schema"])


def _text(document: Document, schema: Document) -> str:
    return json.dumps(_example(document, schema), indent=2, ensure_ascii=False)


def _example(document: Document, schema: Document, depth: int = 0) -> Any:
    """What a schema describes: names with kinds, lists with one item."""
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    if depth > DEEP:
        return "…"
    if "anyOf" in schema:
        return _choice([_example(document, one, depth + 1) for one in schema["anyOf"]])
    if "enum" in schema or "const" in schema:
        return " | ".join(str(one) for one in schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "array":
        return [_example(document, schema.get("items", {}), depth + 1)]
    if schema.get("type") == "object" or "properties" in schema:
        return _object(document, schema, depth)
    return schema.get("type", "anything")


def _object(document: Document, schema: Document, depth: int) -> Any:
    found = {name: _example(document, one, depth + 1) for name, one in schema.get("properties", {}).items()}
    more = schema.get("additionalProperties")
    if isinstance(more, dict):
        found["…"] = _example(document, more, depth + 1)
    return found or "object"


def _choice(found: list[Any]) -> Any:
    """Kinds side by side; of an object or nothing only the object."""
    rich = [one for one in found if not isinstance(one, str)]
    return rich[0] if rich else " | ".join(found)
