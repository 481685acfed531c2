"""What the API answers with: one class a thing, a file a noun.

The OpenAPI document is made from these, and every answer is held to them.
Names are those that existing clients read; what they do not know stands beside it.
"""

from .account import Company, Me, ProjectOut, Workspace
from .base import Errors, Page, answers
from .catalogue import Amount, BudgetOut, CoretypeOut, PriceOut, SoftwareOut, VersionOut
from .files import Checksum, FileOut, Lines, Tail
from .jobs import (
    ClusterStatus,
    Content,
    GateOut,
    JobAnalysisOut,
    JobOut,
    JobShort,
    RunOut,
    Shared,
    StatusOut,
    StopAsked,
    Submitted,
    TagOut,
    Truth,
)
from .running import FolderEntry, NodeOut, Snapshot
from .webhooks import DeliveryOut, EventName, TryOut, WebhookMade, WebhookOut

__all__ = [
    "Amount",
    "BudgetOut",
    "Checksum",
    "ClusterStatus",
    "Company",
    "Content",
    "CoretypeOut",
    "DeliveryOut",
    "Errors",
    "EventName",
    "FileOut",
    "FolderEntry",
    "GateOut",
    "JobAnalysisOut",
    "JobOut",
    "JobShort",
    "Lines",
    "Me",
    "NodeOut",
    "Page",
    "PriceOut",
    "ProjectOut",
    "RunOut",
    "Shared",
    "Snapshot",
    "SoftwareOut",
    "StatusOut",
    "StopAsked",
    "Submitted",
    "TagOut",
    "Tail",
    "Truth",
    "TryOut",
    "VersionOut",
    "WebhookMade",
    "WebhookOut",
    "Workspace",
    "answers",
]
