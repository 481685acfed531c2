"""What people note of a job: tags, and values of their own under names of their own."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest
from ninja import Body, Router, Status

from jobs.models import Job, Tag, Workload

from .found import changeable, visible
from .paging import whole
from .schemas import TagIn, Value
from .shapes import Page, TagOut, answers

router = Router(tags=["notes"])
MOST_TAGS, MOST_FIELDS = 100, 100


@router.get("/jobs/{job_id}/tags/", response=answers(Page[TagOut], 404), summary="The tags of a job")
def tags(request: HttpRequest, job_id: str) -> dict[str, Any]:
    return whole([_tag(row) for row in visible(request, job_id).job.tags.all()])


@router.post("/jobs/{job_id}/tags/", response=answers(TagOut, 403, 404, status=201), summary="Add a tag")
def add_tag(request: HttpRequest, job_id: str, payload: TagIn) -> Status:
    """A tag that the job has already is not added again."""
    work = changeable(request, job_id)
    name = payload.name.strip()
    if not name:
        raise ValidationError({"name": ["A tag needs a name."]})
    if work.job.tags.count() >= MOST_TAGS:
        raise ValidationError({"name": [f"A job has at most {MOST_TAGS} tags."]})
    row, _ = Tag.objects.get_or_create(job=work.job, normalized=Tag.normal(name), defaults={"name": name})
    return Status(201, _tag(row))


@router.delete("/jobs/{job_id}/tags/", response=answers(None, 403, 404, status=204), summary="Take a tag away, or all of them")
def remove_tags(request: HttpRequest, job_id: str, name: str | None = None) -> Status:
    rows = changeable(request, job_id).job.tags.all()
    if name is not None:
        rows = rows.filter(normalized=Tag.normal(name))
        if not rows.exists():
            raise Http404("The job has no such tag.")
    rows.delete()
    return Status(204, None)


@router.delete("/jobs/{job_id}/tags/{name}/", response=answers(None, 403, 404, status=204), summary="Take one tag away")
def remove_tag(request: HttpRequest, job_id: str, name: str) -> Status:
    return remove_tags(request, job_id, name)


def _tag(row: Tag) -> dict[str, str]:
    return {"name": row.name, "normalizedName": row.normalized}


Fields = dict[str, dict[str, Any]]


@router.get("/jobs/{job_id}/custom-fields/", response=answers(Fields, 404), summary="A job's own fields: name, and its value")
def fields(request: HttpRequest, job_id: str) -> Fields:
    return _fields(visible(request, job_id))


@router.post("/jobs/{job_id}/custom-fields/", response=answers(Fields, 403, 404), summary="Set fields; null takes one away")
def set_fields(request: HttpRequest, job_id: str, payload: Body[dict[str, Value]]) -> Fields:
    work = changeable(request, job_id)
    if any("\0" in name or not 0 < len(name) <= 120 for name in payload):
        raise ValidationError({"detail": ["The name of a field has 1 to 120 characters and no NUL byte."]})
    known = {name: value for name, value in {**work.job.custom_fields, **payload}.items() if value is not None}
    if len(known) > MOST_FIELDS:
        raise ValidationError({"detail": [f"A job has at most {MOST_FIELDS} fields."]})
    Job.objects.filter(pk=work.pk).update(custom_fields=known)
    work.job.custom_fields = known
    return _fields(work)


@router.get("/organizations/{org}/workspaces/{workspace}/custom-fields/", response=answers(dict[str, Any]), summary="None is prescribed")
def prescribed(request: HttpRequest, org: str, workspace: str) -> dict[str, Any]:
    return {"fields": [], "isEnabled": True}


def _fields(work: Workload) -> Fields:
    return {name: {"meta": {"type": _type(value)}, "value": value} for name, value in work.job.custom_fields.items()}


def _type(value: Any) -> str:
    return "text" if isinstance(value, str) else "select" if isinstance(value, bool) else "number"
