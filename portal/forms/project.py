"""Somebody is added to a project, by the name they sign in with."""

from __future__ import annotations

from typing import Any

from django import forms

from jobs.models import Membership, Project

from .account import styled
from .people import PersonField


class MemberForm(forms.Form):
    user = PersonField(label="Name", help_text="The name they sign in with, exactly.")
    role = forms.ChoiceField(label="Role", choices=Membership.Role.choices, initial=Membership.Role.MEMBER)

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project = project
        styled(self)
