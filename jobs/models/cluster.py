"""What a backend makes for one attempt, with the facts that its agents report.

The gateway and the starting/stopping stages write facts here; the engine reads them. Facts are only ever added: a column
that says when something happened is written once.
"""

from __future__ import annotations

from django.db import models

from .fields import MoneyField


class Cluster(models.Model):
    """One attempt's hardware. The row, with its token, is saved before the backend is called for the first time."""

    workload = models.ForeignKey("jobs.Workload", models.PROTECT, related_name="clusters", db_index=False)
    attempt = models.PositiveIntegerField()
    token = models.CharField(max_length=80)
    secret_hash = models.CharField(max_length=64)
    backend = models.CharField(max_length=40)
    coretype = models.ForeignKey("jobs.Coretype", models.PROTECT, related_name="clusters")
    nodes_wanted = models.PositiveIntegerField()
    cores = models.PositiveIntegerField(help_text="A node")
    price = MoneyField(help_text="Per core and hour, noted when the cluster was asked for")
    # the backend's side
    asked = models.DateTimeField()
    created = models.DateTimeField(null=True, help_text="The create call returned")
    seen = models.DateTimeField(null=True, help_text="The backend showed it for the first time")
    absent = models.PositiveIntegerField(default=0, help_text="Times in a row that the backend said it is not there")
    trouble = models.TextField(blank=True, help_text="The backend's own words")
    eta = models.DateTimeField(null=True)
    unknown_since = models.DateTimeField(null=True)
    releasing = models.DateTimeField(null=True, help_text="Destroy was asked for; agents get 410")
    released = models.DateTimeField(null=True, help_text="The backend confirmed that nothing is left")
    # the agents' side
    up = models.DateTimeField(null=True, help_text="First hello: billing starts")
    staging = models.JSONField(default=dict)
    staged = models.DateTimeField(null=True)
    staging_error = models.TextField(blank=True)
    asker = models.CharField(max_length=64, blank=True, help_text="Nonce of the one that the command was handed to")
    went = models.DateTimeField(null=True)
    started = models.DateTimeField(null=True)
    exited = models.DateTimeField(null=True)
    exit = models.JSONField(default=dict)
    saved = models.DateTimeField(null=True)
    saving = models.JSONField(default=dict, help_text="files, bytes, skipped, failed")
    broken = models.TextField(blank=True, help_text="The agent could not go on")
    ready = models.DateTimeField(null=True, help_text="The session of a workstation can be connected to")
    unsaved = models.TextField(blank=True, help_text="Why the home of a workstation could not be saved when that was wanted last")
    unsaved_at = models.DateTimeField(null=True)
    # money
    charged_until = models.DateTimeField(null=True)
    paid_until = models.DateTimeField(null=True)
    settled = models.DateTimeField(null=True)
    walltime_until = models.DateTimeField(null=True)
    warned = models.PositiveIntegerField(default=0, help_text="Minutes before the walltime of the last warning")
    orders = models.PositiveIntegerField(default=1, help_text="Version of what the agents are told")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workload", "attempt"], name="one_cluster_an_attempt"),
            models.UniqueConstraint(fields=["token"], name="one_cluster_a_token"),
        ]
        indexes = [
            models.Index(fields=["backend"], condition=models.Q(released__isnull=True), name="cluster_alive"),
            models.Index(fields=["released"], name="cluster_released"),
        ]

    def __str__(self) -> str:
        return self.token

    @property
    def total_cores(self) -> int:
        return self.nodes_wanted * self.cores


class Node(models.Model):
    cluster = models.ForeignKey(Cluster, models.CASCADE, related_name="nodes", db_index=False)
    index = models.PositiveIntegerField()
    hostname = models.CharField(max_length=255)
    nonce = models.CharField(max_length=64)
    up = models.DateTimeField()
    cores = models.FloatField(default=0)
    memory = models.BigIntegerField(default=0)
    sandbox = models.CharField(max_length=20, blank=True)
    agent = models.CharField(max_length=20, blank=True)
    clock_offset = models.FloatField(default=0, help_text="Seconds that the node's clock is ahead of ours")
    done = models.DateTimeField(null=True)

    class Meta:
        ordering = ["index"]
        constraints = [models.UniqueConstraint(fields=["cluster", "index"], name="one_row_a_node")]


class Stray(models.Model):
    """Something in a backend that carries our mark and belongs to no living workload, and what was done about it."""

    backend = models.CharField(max_length=40)
    token = models.CharField(max_length=80)
    first_seen = models.DateTimeField()
    last_seen = models.DateTimeField()
    decision = models.CharField(max_length=20, blank=True, help_text="empty: an admin decides; destroy; keep")
    gone = models.DateTimeField(null=True)

    class Meta:
        verbose_name, verbose_name_plural = "unknown machine", "unknown machines"
        constraints = [models.UniqueConstraint(fields=["backend", "token"], name="one_row_a_stray")]

    @classmethod
    def waiting(cls) -> int:
        """How many wait for an admin's word."""
        return cls.objects.filter(gone__isnull=True, decision="").count()
