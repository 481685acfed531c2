"""What a job may be asked for with, as JSON. Unknown keys are ignored: clients send more than anybody needs."""

from __future__ import annotations

from typing import Any

from ninja import Schema
from pydantic import Field


class AnalysisIn(Schema):
    code: str = Field(max_length=40)
    version: str | None = Field(None, max_length=120)


class HardwareIn(Schema):
    """`coresPerSlot` times `slots` cores in all; `walltime` in hours."""

    coreType: str | dict[str, Any] | None = None
    coresPerSlot: int | None = Field(None, ge=1, le=10_000_000)
    cores: int | None = Field(None, ge=1, le=10_000_000)
    slots: int = Field(1, ge=1, le=100_000)
    nodes: int | None = Field(None, ge=1, le=100_000)
    walltime: float | None = Field(None, gt=0, le=100_000, allow_inf_nan=False)


class InputFileIn(Schema):
    id: str = Field(max_length=40)
    decompress: bool = True
    name: str | None = Field(None, max_length=1024)


class JobAnalysisIn(Schema):
    analysis: AnalysisIn
    command: str = Field(max_length=100_000)
    hardware: HardwareIn = HardwareIn()
    inputFiles: list[InputFileIn] = Field(default_factory=list, max_length=10_000)
    envVars: dict[str, str] | None = None
    pipefail: bool = True


class JobIn(Schema):
    name: str = Field(min_length=1, max_length=200)
    description: str | None = Field(None, max_length=10_000)
    projectId: str | None = Field(None, max_length=40)
    project_id: str | None = Field(None, max_length=40)
    jobanalyses: list[JobAnalysisIn] = Field(min_length=1, max_length=1)


class JobPatch(Schema):
    name: str | None = Field(None, min_length=1, max_length=200)
    projectId: str | None = Field(None, max_length=40)


class StopIn(Schema):
    force: bool = False
