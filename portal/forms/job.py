"""The form of a new job, and its inputs.

One idea: inputs are rows of their own (input=KEY, path-KEY, unpack-KEY, the key being the stored file's public id), so that
the form works without JavaScript and keeps every row with its own message.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Prefetch
from django.http import QueryDict

from jobs import detecting, stored
from jobs.models import Coretype, Installed, Job, Project, SoftwareVersion, StoredFile, Upload

from . import choices, names, walltime, within

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".gz", ".bz2", ".xz")
LONGEST_COMMAND = 100_000


class VersionChoice(forms.ModelChoiceField):
    def label_from_instance(self, obj: Any) -> str:
        return detecting.label(obj)


class JobForm(forms.Form):
    """Everything but the inputs. `user` decides which projects are offered."""

    name = forms.CharField(max_length=200, error_messages={"required": "Give the job a name."})
    software = VersionChoice(SoftwareVersion.objects.none(), empty_label=None, error_messages={"required": "Choose a software."})
    command = forms.CharField(
        widget=forms.Textarea, max_length=LONGEST_COMMAND, strip=False, error_messages={"required": "Say what is to be run."}
    )
    environment = forms.CharField(widget=forms.Textarea, max_length=LONGEST_COMMAND, required=False, strip=False)
    pipefail = forms.BooleanField(required=False)
    economy = forms.BooleanField(required=False)
    stop_when_diverging = forms.BooleanField(required=False)
    coretype = forms.ModelChoiceField(Coretype.objects.none(), error_messages={"required": "Choose the hardware."})
    nodes = forms.IntegerField(min_value=1, error_messages={"min_value": "At least 1 node.", "invalid": "A whole number of nodes."})
    cores = forms.IntegerField(
        min_value=1, required=False, error_messages={"min_value": "At least 1 core.", "invalid": "A whole number of cores."}
    )
    walltime = forms.CharField(max_length=60, error_messages={"required": f"How long may it run at most? {walltime.HINT}"})
    project = forms.ModelChoiceField(Project.objects.none(), required=False, empty_label=None)
    key = forms.CharField(max_length=80, required=False, widget=forms.HiddenInput)

    def __init__(self, user: Any, data: QueryDict | None = None, **options: Any) -> None:
        super().__init__(data, **options)
        self.user = user
        there = Installed.objects.filter(coretype__in=Coretype.objects.offered_to(user)).select_related("coretype")
        versions = SoftwareVersion.objects.filter(software__active=True).select_related("software")
        versions = versions.prefetch_related(Prefetch("installed", there))
        self.fields["software"].queryset = versions.order_by("software__order", "software__name", "order", "pk")  # type: ignore[attr-defined]
        self.fields["coretype"].queryset = Coretype.objects.offered_to(user).select_related("region")  # type: ignore[attr-defined]
        self.fields.update(choices.fields(self.fields["coretype"].queryset))  # type: ignore[attr-defined]
        projects = Project.objects.filter(active=True, memberships__user=user)
        self.fields["project"].queryset = projects  # type: ignore[attr-defined]
        self.fields["project"].required = projects.exists()
        self.fields["project"].error_messages["required"] = "Choose the project that pays."

    @property
    def versions(self) -> list[tuple[SoftwareVersion, str]]:
        """Every version on offer, with what the hardware has of it."""
        return [(version, detecting.label(version)) for version in self.fields["software"].queryset]  # type: ignore[attr-defined]

    @property
    def others(self) -> list[choices.Row]:
        """Hardware that it may have instead."""
        return choices.rows(self)

    @property
    def has_others(self) -> bool:
        return any(row.filled for row in self.others)

    def clean_name(self) -> str:
        return names.clean_title(self.cleaned_data["name"])

    def clean_command(self) -> str:
        text = self.cleaned_data["command"].replace("\r\n", "\n").replace("\r", "\n").strip("\n")
        if not text.strip():
            raise ValidationError("Say what is to be run.")
        return text

    def clean_environment(self) -> dict[str, str]:
        return names.clean_environment(self.cleaned_data["environment"] or "")

    def clean_walltime(self) -> int:
        return walltime.parse(self.cleaned_data["walltime"])

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        kind: Coretype | None = data.get("coretype")
        if kind is not None:
            if data.get("cores") is None and "cores" not in self.errors:
                data["cores"] = kind.cores
            for name, message in within.beyond(kind, nodes=data.get("nodes"), cores=data.get("cores"), walltime=data.get("walltime")):
                self.add_error(name, message)
            if data.get("economy") and kind.economy_price is None:
                self.add_error("economy", f"{kind} is not offered as economy; leave it off, or choose another coretype.")
            version = data.get("software")
            if version is not None and (why := kind.refuses(self.user, version.software)):
                self.add_error("coretype", why)
            for name, message in list(choices.faults(self.user, data)):
                self.add_error(name, message)
            data["choices"] = choices.accepted(data)
        return data


@dataclass
class InputRow:
    """One input of the form, with the message that stands beside it."""

    key: str
    file: StoredFile
    path: str
    unpack: bool = False
    error: str = ""

    @property
    def archive(self) -> bool:
        return self.file.name.lower().endswith(ARCHIVES)


def fresh(file: StoredFile) -> InputRow:
    """A row for a file that was just uploaded or picked."""
    return InputRow(file.public_id, file, file.name)


def rows_of(job: Job) -> list[InputRow]:
    """The inputs of a draft as rows."""
    seen: dict[str, int] = {}
    rows = []
    for use in job.inputs.select_related("file"):
        count = seen[use.file.public_id] = seen.get(use.file.public_id, 0) + 1
        key = use.file.public_id if count == 1 else f"{use.file.public_id}.{count}"
        rows.append(InputRow(key, use.file, use.name, use.unpack))
    return rows


def read_inputs(data: QueryDict, user: Any, allowed: Iterable[StoredFile] = ()) -> list[InputRow]:
    """The rows of a post, each checked, with the uploads that just arrived.

    Files of others are left out, unless `allowed` (those of a clone) names them.
    """
    keys = list(dict.fromkeys(data.getlist("input")))
    files = {file.public_id: file for file in stored.files_of(user).filter(public_id__in=[key.split(".")[0] for key in keys])}
    files.update({file.public_id: file for file in allowed})
    rows = [
        InputRow(key, file, data.get(f"path-{key}", file.name), f"unpack-{key}" in data)
        for key in keys
        if (file := files.get(key.split(".")[0]))
    ]
    arrived = Upload.objects.filter(owner=user, public_id__in=data.getlist("uploaded"), file__isnull=False).select_related("file")
    rows += [fresh(upload.file) for upload in arrived if upload.file and upload.file.public_id not in keys]
    check_inputs(rows)
    return rows


def check_inputs(rows: Sequence[InputRow]) -> None:
    """Set the error of each row that cannot be as it is."""
    taken: dict[str, str] = {}
    for row in rows:
        row.error = ""
        try:
            row.path = names.clean_path(row.path)
        except ValidationError as error:
            row.error = error.messages[0]
            continue
        row.error = _clash(row.path, taken)
        taken.setdefault(row.path, "file")
        for at, letter in enumerate(row.path):
            if letter == "/":
                taken.setdefault(row.path[:at], "folder")


def new_key() -> str:
    """The hidden key that makes a double submit one job."""
    return secrets.token_urlsafe(16)


def _clash(path: str, taken: dict[str, str]) -> str:
    if taken.get(path) == "file":
        return "Another input has this name already."
    if taken.get(path) == "folder":
        return "Another input needs a folder of this name."
    heads = [path[:at] for at, letter in enumerate(path) if letter == "/"]
    blocked = next((head for head in heads if taken.get(head) == "file"), "")
    return f"\u201c{blocked}\u201d is a file here, so it can't be a folder." if blocked else ""
