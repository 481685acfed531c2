"""A job: what a workload is when it runs a command and ends. One-to-one beside the Workload row."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from django.db import models

from .file import StoredFile
from .workload import Workload


class JobQuerySet(models.QuerySet["Job"]):
    def visible_to(self, user: Any) -> JobQuerySet:
        return self.filter(workload__in=Workload.objects.visible_to(user))


class Job(models.Model):
    """`commands` are run one after the other by bash, with pipefail unless switched off."""

    workload = models.OneToOneField(Workload, models.CASCADE, primary_key=True, related_name="job")
    software = models.ForeignKey("jobs.SoftwareVersion", models.PROTECT, related_name="jobs")
    commands = models.JSONField(default=list)
    environment = models.JSONField(default=dict)
    pipefail = models.BooleanField(default=True)
    stop_when_diverging = models.BooleanField(default=False)
    checked = models.ForeignKey("jobs.Check", models.SET_NULL, null=True, related_name="jobs")
    description = models.TextField(blank=True)
    custom_fields = models.JSONField(default=dict, help_text="What its owner notes of it: name and value")
    verdict = models.CharField(max_length=20, blank=True)
    verdict_detail = models.JSONField(default=dict)
    streams = models.JSONField(default=dict, help_text="Files that its command makes the solver write, followed live: name and path")
    progress = models.JSONField(default=dict, help_text="How far it is, as its own output tells; see jobs.following")
    outputs_deleted = models.DateTimeField(null=True)

    objects = JobQuerySet.as_manager()

    def __str__(self) -> str:
        return self.workload.name

    @property
    def command(self) -> str:
        return "\n".join(self.commands)

    def followed_streams(self) -> dict[str, str]:
        """Files followed live beside stdout, {name: path}: those of the software and those that the command names; each path once."""
        named = {**self.software.software.streams, **self.streams}
        once = {path: name for name, path in reversed(named.items()) if path and name != "stdout"}
        return {name: path for path, name in reversed(once.items())}

    def copy_to(self, workload: Workload) -> Job:
        """The same asked for again, for another workload."""
        copy = Job.objects.create(
            workload=workload,
            software=self.software,
            commands=self.commands,
            environment=self.environment,
            pipefail=self.pipefail,
            stop_when_diverging=self.stop_when_diverging,
            description=self.description,
        )
        JobInput.objects.bulk_create(
            [JobInput(job=copy, file=use.file, name=use.name, unpack=use.unpack, order=use.order) for use in self.inputs.all()]
        )
        return copy

    def check_key(self, uses: Sequence[JobInput], installed: str | None = None) -> str:
        """One key for the same bytes and modes, command and size: a finished check of one job serves every other like it.
        `installed`: what a look at the hardware found of its software."""
        inputs = [[use.name, use.file.sha256, use.unpack, use.file.mode] for use in uses]
        work = self.workload
        facts = [self.software_id, self.commands, self.environment, inputs, work.nodes, work.cores, work.coretype_id]
        facts += [] if installed is None else [installed]
        return hashlib.sha256(json.dumps(facts).encode("utf-8", "surrogateescape")).hexdigest()


class JobInput(models.Model):
    """A stored file as one job uses it: under this name in the job folder, unpacked or not."""

    job = models.ForeignKey(Job, models.CASCADE, related_name="inputs")
    file = models.ForeignKey(StoredFile, models.PROTECT, related_name="uses")
    name = models.CharField(max_length=4096)
    unpack = models.BooleanField(default=False)
    order = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["order", "pk"]


class Tag(models.Model):
    """A word that people find jobs by; told apart without regard to upper and lower case."""

    job = models.ForeignKey(Job, models.CASCADE, related_name="tags")
    name = models.CharField(max_length=80)
    normalized = models.CharField(max_length=80)

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["job", "normalized"], name="one_tag_a_job")]

    def __str__(self) -> str:
        return self.name

    @staticmethod
    def normal(name: str) -> str:
        return name.strip().casefold()[:80]


class Check(models.Model):
    """The findings for one set of bytes and one command. Filled by the engine, in the background, from submit on."""

    key = models.CharField(max_length=64, unique=True)
    findings = models.JSONField(null=True, help_text="None while the check is under way")
    files = models.PositiveIntegerField(default=0)
    taken = models.DateTimeField(null=True, help_text="Somebody is checking since")
    done = models.DateTimeField(null=True)
    trial_of = models.ForeignKey(
        Job, models.SET_NULL, null=True, related_name="trials", help_text="Asked for to know whether an offer holds"
    )
    shape = models.JSONField(default=dict, help_text="What of that job would change")

    @property
    def errors(self) -> int:
        return sum(finding["severity"] == "error" for finding in self.findings or [])

    @property
    def warnings(self) -> int:
        return sum(finding["severity"] == "warning" for finding in self.findings or [])
