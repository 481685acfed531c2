"""Somebody is added to a project, by the name they sign in with."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from jobs.models import Membership, Project

from .account import styled


class MemberForm(forms.Form):
    user = forms.CharField(label="Name", max_length=150, help_text="The name they sign in with, exactly.",
                           widget=forms.TextInput({"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}))
    role = forms.ChoiceField(label="Role", choices=Membership.Role.choices, initial=Membership.Role.MEMBER)

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project = project
        styled(self)

    def clean_user(self) -> User:
        name = self.cleaned_data["user"].strip()
        found = User.objects.filter(username=name, is_active=True).first()
        if found is None:
            raise ValidationError(f"Nobody signs in here as {name}.")
        return found
