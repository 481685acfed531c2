"""The caller, and the projects that they may submit for."""

from __future__ import annotations

from pydantic import BaseModel


class Company(BaseModel):
    code: str
    name: str


class Workspace(BaseModel):
    id: str
    name: str


class Me(BaseModel):
    email: str
    username: str
    fullName: str
    isAdmin: bool
    company: Company
    workspace: Workspace


class ProjectOut(BaseModel):
    id: str
    name: str
