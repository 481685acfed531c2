"""What a job may be asked for with, as JSON. Unknown keys are ignored: clients send more than anybody needs."""

from __future__ import annotations

from typing import Annotated

from ninja import Schema
from pydantic import AfterValidator, AllowInfNan, Field

from portal.forms.names import LONGEST_SHOWN

from .shapes import EventName


def _no_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("It can't hold a NUL byte.")
    return text


Text = Annotated[str, AfterValidator(_no_nul)]
Code = Annotated[Text, Field(max_length=120)]
Number = Annotated[float, AllowInfNan(False)]
Whole = Annotated[int, Field(ge=-(1 << 53), le=1 << 53)]
Value = Annotated[Text, Field(max_length=10_000)] | bool | Whole | Number | None


class AnalysisIn(Schema):
    code: Code
    version: Code | None = None


class CoretypeIn(Schema):
    code: Code


class AlternativeIn(Schema):
    """`cores` in all; left out: as many as on the first hardware."""

    coreType: Code | CoretypeIn
    cores: int | None = Field(None, ge=1, le=10_000_000)
    nodes: int | None = Field(None, ge=1, le=100_000)


class HardwareIn(Schema):
    """`coresPerSlot` times `slots` cores in all; `walltime` in hours. `alternatives`: what it may have instead, in order."""

    coreType: Code | CoretypeIn | None = None
    coresPerSlot: int | None = Field(None, ge=1, le=10_000_000)
    cores: int | None = Field(None, ge=1, le=10_000_000)
    slots: int = Field(1, ge=1, le=100_000)
    nodes: int | None = Field(None, ge=1, le=100_000)
    walltime: Number | None = Field(None, gt=0, le=100_000)
    alternatives: list[AlternativeIn] = Field(default_factory=list, max_length=3)


class InputFileIn(Schema):
    """An archive is unpacked unless `decompress` is false; `name` is its path in the job folder if not its own."""

    id: Code
    decompress: bool = True
    name: Annotated[Text, Field(max_length=LONGEST_SHOWN)] | None = None


class JobAnalysisIn(Schema):
    analysis: AnalysisIn
    command: Text = Field(max_length=100_000)
    hardware: HardwareIn = HardwareIn()
    inputFiles: list[InputFileIn] = Field(default_factory=list, max_length=10_000)
    envVars: dict[str, Text] | None = Field(None, max_length=1000)
    pipefail: bool = True


class JobIn(Schema):
    """`isLowPriority` asks for economy: cheaper, and it may be interrupted; where that is not offered it changes nothing."""

    name: Text = Field(min_length=1, max_length=200)
    description: Text | None = Field(None, max_length=10_000)
    isLowPriority: bool | None = None
    billingPriorityValue: Code | None = None
    projectId: Code | None = None
    project_id: Code | None = None
    jobanalyses: list[JobAnalysisIn] = Field(min_length=1, max_length=1)


class JobPatch(Schema):
    name: Text | None = Field(None, min_length=1, max_length=200)
    description: Text | None = Field(None, max_length=10_000)
    projectId: Code | None = None
    isLowPriority: bool | None = None
    jobanalyses: list[JobAnalysisIn] | None = Field(None, min_length=1, max_length=1)


class StopIn(Schema):
    force: bool = False


class ShareIn(Schema):
    email: Text = Field(max_length=254)
    message: Text | None = Field(None, max_length=10_000)


class TagIn(Schema):
    name: Text = Field(min_length=1, max_length=80)


class FilePatch(Schema):
    name: Text | None = Field(None, min_length=1, max_length=LONGEST_SHOWN)
    typeId: int | None = Field(None, ge=1, le=12)


class AssignIn(Schema):
    projectId: Code


class TailAsked(Schema):
    lines: int = Field(100, ge=1, le=10_000)


class WebhookIn(Schema):
    """`url` starts with http:// or https:// and leads to a public address; `events` are what it is told."""

    url: Text = Field(min_length=1, max_length=2000)
    events: list[EventName] = Field(default=["status", "budget"], min_length=1, max_length=2)
    projectId: Code | None = None
    everything: bool = False


class WebhookPatch(Schema):
    url: Text | None = Field(None, min_length=1, max_length=2000)
    events: list[EventName] | None = Field(None, min_length=1, max_length=2)
    isActive: bool | None = None


class StationIn(Schema):
    """`kind` and `coreType` by their codes; `cores` of a node, all of them if left out. `start` false leaves a draft."""

    name: Text = Field(min_length=1, max_length=200)
    kind: Code
    coreType: Code
    cores: int | None = Field(None, ge=1, le=100_000)
    description: Text = Field("", max_length=10_000)
    projectId: Code | None = None
    start: bool = True


class KeepIn(Schema):
    hours: Number = Field(ge=0, le=100_000)


class StationShareIn(Schema):
    """`signedIn` false: whoever has the link, also without an account here."""

    hours: Number = Field(8, gt=0, le=24 * 31)
    signedIn: bool = True


class SendIn(Schema):
    """Ids of files: one's own, or outputs of a job that one may see."""

    files: list[Code] = Field(min_length=1, max_length=500)


class TakeIn(Schema):
    """Places in a copy, and a folder with all that is below it."""

    files: list[Annotated[int, Field(ge=0, le=1 << 31)]] = Field(default_factory=list, max_length=500)
    folder: Annotated[Text, Field(max_length=4200)] = ""
