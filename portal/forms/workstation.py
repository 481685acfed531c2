"""The form of a new workstation: what kind, on which hardware, who pays."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db import transaction
from django.http import QueryDict

from jobs.models import Coretype, Project, Workload, Workstation, WorkstationKind

from . import names


class WorkstationForm(forms.Form):
    """Says in words what is wrong; `user` decides what is on offer."""

    kind = forms.ModelChoiceField(WorkstationKind.objects.none(), error_messages={"required": "Choose what kind it shall be."})
    coretype = forms.ModelChoiceField(Coretype.objects.none(), error_messages={"required": "Choose the hardware."})
    cores = forms.IntegerField(
        min_value=1, required=False, error_messages={"min_value": "At least 1 core.", "invalid": "A whole number of cores."}
    )
    name = forms.CharField(max_length=200, required=False)
    project = forms.ModelChoiceField(Project.objects.none(), required=False, empty_label=None)
    key = forms.CharField(max_length=80, required=False, widget=forms.HiddenInput)

    def __init__(self, user: Any, data: QueryDict | None = None, **options: Any) -> None:
        super().__init__(data, **options)
        self.user = user
        self.fields["kind"].queryset = WorkstationKind.objects.offered_to(user)  # type: ignore[attr-defined]
        self.fields["coretype"].queryset = Coretype.objects.offered_to(user).select_related("region")  # type: ignore[attr-defined]
        projects = Project.objects.filter(active=True, memberships__user=user)
        self.fields["project"].queryset = projects  # type: ignore[attr-defined]
        self.fields["project"].required = projects.exists()
        self.fields["project"].error_messages["required"] = "Choose the project that pays."

    def clean_name(self) -> str:
        name = self.cleaned_data["name"].strip()
        return names.clean_title(name) if name else ""

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        kind, hardware = data.get("kind"), data.get("coretype")
        if hardware is not None and "cores" not in self.errors:
            data["cores"] = data.get("cores") or hardware.cores
            if data["cores"] > hardware.cores:
                self.add_error("cores", f"A node of {hardware} has {hardware.cores} core{'' if hardware.cores == 1 else 's'}.")
        if kind is not None and hardware is not None and (why := kind.refuses(self.user, hardware)):
            self.add_error("coretype", why)
        return data

    def save(self) -> Workstation:
        """A draft. Raises IntegrityError when another one has its key already."""
        data = self.cleaned_data
        name = data["name"] or f"{data['kind'].session}-{self.user.username}"[:200]
        with transaction.atomic():
            made = Workstation.make(self.user, data["kind"], data["coretype"], name=name, cores=data["cores"], project=data["project"])
            if data.get("key"):
                Workload.objects.filter(pk=made.pk).update(submit_key=data["key"])
        return made
