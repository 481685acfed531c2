"""The tables of the domain, a file a noun."""

from .audit import AuditEntry
from .budget import Budget, Charge, Hold, Strictness, Unit
from .catalogue import Coretype, Region, Software, SoftwareVersion
from .cluster import Cluster, Node, Stray
from .file import StoredFile, Upload
from .fields import MoneyField, micros
from .installation import Installation, Turn
from .job import Check, Job, JobInput
from .project import Membership, Project
from .workload import Event, Workload

__all__ = [
    "AuditEntry", "Budget", "Charge", "Check", "Cluster", "Coretype", "Event", "Hold", "Installation", "Job", "JobInput",
    "Membership", "MoneyField", "Node", "Project", "Region", "Software", "SoftwareVersion", "StoredFile", "Stray",
    "Strictness", "Turn", "Unit", "Upload", "Workload", "micros",
]
