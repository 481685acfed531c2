"""Forms of the account pages: sign in, who I am, a new password."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.utils import timezone

from portal import throttle, words


def styled(form: forms.BaseForm) -> None:
    """The classes of the kit on every field."""
    kinds = {forms.CheckboxInput: "form-check-input", forms.Select: "form-select"}
    for field in form.fields.values():
        field.widget.attrs.setdefault("class", kinds.get(type(field.widget), "form-control"))


class SignInForm(AuthenticationForm):
    """Name and password, counted before they are looked at."""

    stay = forms.BooleanField(required=False, label="Stay signed in for 14 days")

    def __init__(self, *args: Any, address: str | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.address = address
        self.fields["username"].label = "Name"
        styled(self)

    def clean(self) -> dict[str, Any]:
        name, now = self.cleaned_data.get("username") or "", timezone.now()
        tried = throttle.begin(name, self.address, now)
        if tried.until:
            wait = words.duration((tried.until - now).total_seconds() + 1)
            raise ValidationError(f"Too many tries. Try again in {wait}.", code="paused")
        try:
            cleaned = super().clean()
        except ValidationError as error:
            raise ValidationError(f"That name and password don't match. {self._left(tried.left)}", code="wrong") from error
        throttle.forgive(name, self.address)
        return cleaned

    @staticmethod
    def _left(left: int) -> str:
        pause = words.duration(throttle.WINDOW)
        if left <= 0:
            return f"Wait {pause} before the next try."
        return f"{left} more {'try' if left == 1 else 'tries'} before a pause of {pause}."


class PersonForm(forms.ModelForm):
    class Meta:
        model = User
        fields = ["first_name", "last_name", "email"]
        labels = {"first_name": "First name", "last_name": "Last name", "email": "E-mail"}
        widgets = {
            "first_name": forms.TextInput({"autocomplete": "given-name"}), "last_name": forms.TextInput({"autocomplete": "family-name"}),
            "email": forms.EmailInput({"autocomplete": "email"}),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        styled(self)


class NewPasswordForm(PasswordChangeForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["old_password"].label = "Password now"
        self.fields["new_password1"].label = "New password"
        self.fields["new_password2"].label = "New password once more"
        self.fields["new_password1"].help_text = "At least 8 characters, and none that everybody uses."
        self.fields["new_password2"].help_text = ""
        self.fields["old_password"].widget.attrs.pop("autofocus", None)
        styled(self)
