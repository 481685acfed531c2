"""Files that a user uploaded; used by jobs, never owned by them."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from .installation import public_id


class StoredFile(models.Model):
    """`key` is the place in storage; `name` is what a job folder will call it (a relative path), written as jobs.names says."""

    public_id = models.CharField(max_length=8, unique=True, default=public_id)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="files")
    name = models.CharField(max_length=4096)
    size = models.BigIntegerField()
    sha256 = models.CharField(max_length=64)
    key = models.CharField(max_length=255)
    mode = models.PositiveIntegerField(default=0o644)
    made = models.DateTimeField(auto_now_add=True)
    deleted = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["owner", "-id"])]

    def __str__(self) -> str:
        return self.name


class Upload(models.Model):
    """An upload under way; its bytes lie in settings.UPLOADS_DIR under its public id until they are complete."""

    public_id = models.CharField(max_length=32, unique=True)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="uploads")
    name = models.CharField(max_length=4096)
    size = models.BigIntegerField()
    mode = models.PositiveIntegerField(default=0o644)
    made = models.DateTimeField(auto_now_add=True)
    file = models.ForeignKey(StoredFile, models.SET_NULL, null=True)
