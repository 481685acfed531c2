"""What an admin says about how much may run at once."""

from __future__ import annotations

from typing import Any

from django import forms

from jobs.models import Coretype, Limit, Project

from .account import styled
from .people import PersonField

MOST = 1_000_000


class LimitForm(forms.ModelForm):
    """For whom and where is said once, when it is made; how much may be changed. `version`: the one it was opened with."""

    version = forms.IntegerField(widget=forms.HiddenInput)
    member = PersonField(required=False, label="Only this member", help_text="The name they sign in with. Empty: each of them.")
    most_jobs = forms.IntegerField(label="Most jobs at once", required=False, min_value=1, max_value=MOST)
    most_cores = forms.IntegerField(
        label="Most cores at once", required=False, min_value=1, max_value=MOST, help_text="One of the two, or both."
    )

    class Meta:
        model = Limit
        fields = ["per", "member", "project", "coretype", "most_jobs", "most_cores"]
        labels = {"per": "For", "project": "Only this project", "coretype": "On"}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["project"].queryset = Project.objects.filter(active=True)  # type: ignore[attr-defined]
        self.fields["project"].empty_label = "each of them"  # type: ignore[attr-defined]
        self.fields["coretype"].queryset = Coretype.objects.filter(active=True)  # type: ignore[attr-defined]
        self.fields["coretype"].empty_label = "all hardware"  # type: ignore[attr-defined]
        for name in ("per", "member", "project", "coretype") if self.instance.pk else ():
            del self.fields[name]
        styled(self)
