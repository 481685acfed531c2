"""The tables of the domain, a file a noun."""

from .account import ACCOUNT, Account
from .asker import Asker, Asks
from .audit import AuditEntry
from .budget import Budget, BudgetNotice, BudgetPeriod, Charge, Hold, Recurrence, Strictness, Unit
from .catalogue import Coretype, PriceChange, Region, Software, SoftwareVersion
from .change import Change, advance, touch
from .choice import Choice
from .cluster import Cluster, Node, Stray
from .event import Event
from .fields import MoneyField, micros
from .file import StoredFile, Upload
from .installation import Installation, Outage, Turn, Unpaid
from .installed import Installed, Look
from .job import Check, Job, JobInput, Tag
from .limit import Limit
from .many import insert, update_alike
from .pool import PoolState
from .project import Membership, Project
from .request import Request
from .sent import Sent
from .spend import Spend
from .token import ApiToken, Once, Scope
from .webhook import Webhook, WebhookDelivery
from .workload import Workload
from .workstation import DiskUse, HomeCopy, Share, WorkNotice, Workstation
from .workstation_kind import WorkstationKind

__all__ = [
    "ACCOUNT",
    "Account",
    "Asker",
    "Asks",
    "ApiToken",
    "Scope",
    "AuditEntry",
    "Budget",
    "BudgetNotice",
    "BudgetPeriod",
    "Change",
    "Charge",
    "Check",
    "Choice",
    "Cluster",
    "Coretype",
    "Event",
    "Hold",
    "Installation",
    "Installed",
    "Job",
    "JobInput",
    "Look",
    "Limit",
    "Membership",
    "MoneyField",
    "Node",
    "Once",
    "Outage",
    "PoolState",
    "PriceChange",
    "Project",
    "Recurrence",
    "Region",
    "Request",
    "Software",
    "SoftwareVersion",
    "Sent",
    "StoredFile",
    "Spend",
    "Stray",
    "Strictness",
    "Tag",
    "Turn",
    "Unit",
    "Unpaid",
    "Upload",
    "Webhook",
    "WebhookDelivery",
    "Workload",
    "advance",
    "insert",
    "micros",
    "touch",
    "update_alike",
    "DiskUse",
    "HomeCopy",
    "Share",
    "WorkNotice",
    "Workstation",
    "WorkstationKind",
]
