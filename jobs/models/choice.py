"""Hardware that a job may have instead: "this, else that". A job without alternatives has no rows here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from django.core.validators import MinValueValidator
from django.db import models


class Choice(models.Model):
    """One acceptable hardware of a workload; place 0 is what it asks for first. The one that is taken goes into the workload."""

    workload = models.ForeignKey("jobs.Workload", models.CASCADE, related_name="choices")
    place = models.PositiveSmallIntegerField()
    coretype = models.ForeignKey("jobs.Coretype", models.PROTECT, related_name="choices")
    nodes = models.PositiveIntegerField(default=1, validators=[MinValueValidator(1)])
    cores = models.PositiveIntegerField(default=1, validators=[MinValueValidator(1)], help_text="A node")

    class Meta:
        ordering = ["place"]
        constraints = [models.UniqueConstraint(fields=["workload", "place"], name="one_choice_a_place")]

    def __str__(self) -> str:
        return f"{self.coretype} {self.nodes} \u00d7 {self.cores}"

    @classmethod
    def of(cls, workloads: Sequence[int]) -> dict[int, list[Choice]]:
        """Those of many workloads, by their ids and in order, with their coretypes; an empty list for what has none."""
        found: dict[int, list[Choice]] = defaultdict(list)
        for choice in cls.objects.filter(workload__any_of=workloads).select_related("coretype"):
            found[choice.workload_id].append(choice)
        return found

    @property
    def total_cores(self) -> int:
        return self.nodes * self.cores

    @property
    def fields(self) -> dict[str, object]:
        """The columns of the workload that it becomes."""
        return {"coretype": self.coretype, "nodes": self.nodes, "cores": self.cores, "choice": self.place}
