"""How much may run at once: limits that admins set for each member or each project, on one coretype or on all hardware."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q

from .roles import sees_all


class LimitQuerySet(models.QuerySet["Limit"]):
    def concerning(self, user: Any) -> LimitQuerySet:
        """Those for everybody, for this person and for their projects; all of them for admins and auditors."""
        found = self.select_related("member", "project", "coretype")
        if sees_all(user):
            return found
        own = Q(member=user) | Q(project__memberships__user=user) | Q(member__isnull=True, project__isnull=True)
        return found.filter(own).distinct()


class Limit(models.Model):
    """Most jobs and most cores at once. With `member` or `project` it is for that one, in place of the one for each of them."""

    class Per(models.TextChoices):
        MEMBER = "member", "Each member"
        PROJECT = "project", "Each project"

    TWICE = "There is a limit for this already; change that one."

    per = models.CharField(max_length=8, choices=Per, default=Per.MEMBER)
    member = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, null=True, blank=True, related_name="limits")
    project = models.ForeignKey("jobs.Project", models.CASCADE, null=True, blank=True, related_name="limits")
    coretype = models.ForeignKey("jobs.Coretype", models.CASCADE, null=True, blank=True, related_name="limits")
    most_jobs = models.PositiveIntegerField(null=True, blank=True, validators=[MinValueValidator(1)])
    most_cores = models.PositiveIntegerField(null=True, blank=True, validators=[MinValueValidator(1)])
    key = models.CharField(max_length=80, unique=True, editable=False, help_text="For whom and where: one limit for each")
    version = models.PositiveIntegerField(default=1, editable=False, help_text="Counts edits by people")

    objects = LimitQuerySet.as_manager()

    class Meta:
        ordering = ["per", "pk"]
        constraints = [
            models.CheckConstraint(condition=Q(most_jobs__isnull=False) | Q(most_cores__isnull=False), name="a_limit_limits_something"),
            models.CheckConstraint(condition=~Q(per="member", project__isnull=False), name="members_have_no_project"),
            models.CheckConstraint(condition=~Q(per="project", member__isnull=False), name="projects_have_no_member"),
        ]

    def __str__(self) -> str:
        return f"{self.whom}: {self.words} on {self.coretype or 'all hardware'}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.key = self.named()
        super().save(*args, **kwargs)

    @property
    def whom(self) -> str:
        """Whom it is for."""
        one = self.member or self.project
        return f"{self.per} {one}" if one else self.Per(self.per).label

    @property
    def words(self) -> str:
        """At most 4 jobs and 64 cores at once"""
        parts = [f"{most} {noun}{'' if most == 1 else 's'}" for most, noun in ((self.most_jobs, "job"), (self.most_cores, "core")) if most]
        return f"at most {' and '.join(parts)} at once"

    def clean(self) -> None:
        if self.most_jobs is None and self.most_cores is None:
            raise ValidationError("Say how many jobs, or how many cores.")
        if self.per == self.Per.MEMBER and self.project_id:
            raise ValidationError({"project": "A limit for members can't name a project."})
        if self.per == self.Per.PROJECT and self.member_id:
            raise ValidationError({"member": "A limit for projects can't name a member."})
        if Limit.objects.filter(key=self.named()).exclude(pk=self.pk).exists():
            raise ValidationError(self.TWICE)

    def named(self) -> str:
        """Its key: for whom and where."""
        return f"{self.per}:{self.member_id or self.project_id or ''}:{self.coretype_id or ''}"
