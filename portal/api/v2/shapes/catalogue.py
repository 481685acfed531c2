"""What can be asked for, and the money there is."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel


class VersionOut(BaseModel):
    id: str
    versionCode: str
    version: str
    allowedCoreTypes: list[str]
    mpiCommand: str
    command: str


class SoftwareOut(BaseModel):
    code: str
    name: str
    description: str
    vendorName: str
    licenseSettings: list[Any]
    versions: list[VersionOut]


class CoretypeOut(BaseModel):
    """`memory` in MiB a core, `memoryPerNode` in bytes, `price` a core and hour; `freeCores` is null where nobody knows."""

    code: str
    name: str
    displayOrder: int
    isDeprecated: bool
    isActive: bool
    price: float
    lowPriorityPrice: float
    cores: list[int]
    memory: int
    memoryPerNode: int
    storage: int
    walltimeRequired: bool
    maxWalltimeHours: float
    coresPerNode: int
    maxNodes: int
    categoryCodes: list[str]
    processorInfo: str
    region: str
    freeCores: int | None
    totalCores: int | None


class Amount(BaseModel):
    amount: str
    currency: str


class PriceOut(BaseModel):
    coreType: str
    planType: str
    os: str
    isActive: bool
    value: Amount


class BudgetOut(BaseModel):
    """Amounts are decimals as text, in `unit`. `begins` and `ends`: of use between them only."""

    id: int
    name: str
    project: str | None
    member: str | None
    unit: str
    strictness: str
    amount: str
    spent: str
    held: str
    left: str
    isActive: bool
    begins: str | None
    ends: str | None
