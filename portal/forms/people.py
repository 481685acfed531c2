"""Fields that name a person."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError


class PersonField(forms.CharField):
    """Somebody by the name that they sign in with. Its value is the user, or None where nobody is named."""

    def __init__(self, **kwargs: Any) -> None:
        widget = forms.TextInput({"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"})
        super().__init__(**{"max_length": 150, "help_text": "The name they sign in with.", "widget": widget, **kwargs})

    def clean(self, value: Any) -> User | None:  # type: ignore[override]
        name = super().clean(value)
        if not name:
            return None
        found = User.objects.filter(username=name, is_active=True).first()
        if found is None:
            raise ValidationError(f"Nobody signs in here as {name}.")
        return found
