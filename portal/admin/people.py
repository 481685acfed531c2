"""People and projects. There is one kind of admin: who administrates may do everything here."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.db.models import Model
from django.http import HttpRequest
from unfold.admin import ModelAdmin, TabularInline
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from jobs.models import Membership, Project
from jobs.models.roles import AUDITORS
from portal.models import SignInTry
from portal.presenters.catalogue import alone

from .base import Audited

STAFF = (
    "Staff are admins of this portal: they see all jobs and may change everything here. "
    f"Who is in the group {AUDITORS} sees everything and changes nothing; the other groups say who may use which hardware."
)

admin.site.unregister([User, Group])


class Memberships(TabularInline):
    model = Membership
    extra = 0
    autocomplete_fields = ["user", "project"]


class PersonForm(UserChangeForm):
    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if self.instance.pk == getattr(self, "me", None) and not (cleaned.get("is_staff") and cleaned.get("is_active")):
            raise ValidationError("You can't take the administration away from yourself; somebody else has to.")
        return cleaned


@admin.register(User)
class People(UserAdmin, Audited):
    form, add_form, change_password_form = PersonForm, UserCreationForm, AdminPasswordChangeForm
    list_display = ["username", "first_name", "last_name", "email", "is_staff", "is_active", "last_login"]
    list_filter = ["is_staff", "is_active"]
    filter_horizontal = []
    autocomplete_fields = ["groups"]
    fieldsets = [
        (None, {"fields": ["username", "password"]}),
        ("Person", {"fields": ["first_name", "last_name", "email"]}),
        ("Rights", {"fields": ["is_active", "is_staff", "groups"], "description": STAFF}),
        ("Since", {"fields": ["date_joined", "last_login"]}),
    ]
    readonly_fields = ["date_joined", "last_login"]
    inlines = [Memberships]

    def get_inlines(self, request: HttpRequest, obj: Model | None) -> list[Any]:
        return [Memberships] if obj else []

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> type[forms.ModelForm]:
        form = super().get_form(request, obj, change=change, **kwargs)
        form.me = request.user.pk  # type: ignore[attr-defined]
        return form

    def save_model(self, request: HttpRequest, obj: User, form: forms.ModelForm, change: bool) -> None:
        obj.is_superuser = obj.is_staff
        super().save_model(request, obj, form, change)


class GroupForm(forms.ModelForm):
    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if self.instance.pk and self.instance.name == AUDITORS != name:
            raise ValidationError("The group of the auditors is known by this name.")
        return name


@admin.register(Group)
class Groups(Audited):
    """Whom some hardware is for, and who audits. Who is in one is said on the person's page."""

    form = GroupForm
    fields = ["name"]
    list_display = ["name", "people"]
    search_fields = ["name"]

    @admin.display(description="People")
    def people(self, group: Group) -> int:
        return group.user_set.count()

    def why_kept(self, obj: Group) -> str:
        if obj.name == AUDITORS:
            return f"{obj}: who audits is in this group"
        only = alone([*obj.coretypes.all(), *obj.workstation_kinds.all()], "groups")
        return f"{only}: nothing else says who may use it, so everybody could" if only else ""


@admin.register(Project)
class Projects(Audited):
    list_display = ["name", "code", "active"]
    list_filter = ["active"]
    search_fields = ["name", "code"]
    prepopulated_fields = {"code": ["name"]}
    inlines = [Memberships]


@admin.register(SignInTry)
class SignInTries(ModelAdmin):
    """To be deleted when somebody locked themselves out and can't wait."""

    list_display = ["name", "address", "at"]
    ordering = ["-pk"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
