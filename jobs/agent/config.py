"""What a node's agent is told at its start: the JSON file that the backend wrote.

The one idea: everything is checked here, once; the rest of the program takes the values as they are.
"""
import json
import os
from typing import Any, Dict, List, NamedTuple, Optional, Tuple


class Config(NamedTuple):
    """A node's start. Paths are absolute; `memory` is in bytes; `run_as` is (uid, gid); `environment` is the command's."""

    portal: str
    portal_file: Optional[str]
    ca: Optional[str]
    token: str
    secret: str
    node: int
    nodes: int
    folder: str
    workdir: str
    tmp: str
    hostname: str
    foreground: bool
    run_as: Optional[Tuple[int, int]]
    wrap: List[str]
    landlock: Optional[Dict[str, List[str]]]
    sandbox: str
    cgroups: List[str]
    memory: Optional[int]
    cores: int
    rlimits: Dict[str, int]
    environment: Dict[str, str]

    def path(self, name: str) -> str:
        """A file of the agent's own, in its folder."""
        return os.path.join(self.folder, name)

    @property
    def head(self) -> bool:
        """Only node 0 stages, runs the command and saves outputs."""
        return self.node == 0


class Broken(Exception):
    """The start file can't be used; the message says why."""


def load(path: str) -> Config:
    """Reads and checks a start file; raises Broken."""
    try:
        with open(path, "rb") as file:
            return parse(json.loads(file.read().decode("utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Broken("%s: %s" % (path, error)) from error


def parse(raw: Dict[str, Any]) -> Config:
    """Turns the JSON object into a Config; raises KeyError, TypeError or ValueError."""
    for name in ("folder", "workdir"):
        if not os.path.isabs(raw[name]):
            raise ValueError("%s must be an absolute path" % name)
    run_as = raw.get("run_as")
    return Config(
        portal=raw["portal"].rstrip("/"),
        portal_file=raw.get("portal_file"),
        ca=raw.get("ca"),
        token=raw["token"],
        secret=raw["secret"],
        node=int(raw.get("node", 0)),
        nodes=int(raw.get("nodes", 1)),
        folder=raw["folder"],
        workdir=raw["workdir"],
        tmp=raw.get("tmp") or os.path.join(os.path.dirname(raw["workdir"].rstrip("/")), "tmp"),
        hostname=raw.get("hostname") or os.uname().nodename,
        foreground=bool(raw.get("foreground", False)),
        run_as=(int(run_as["uid"]), int(run_as["gid"])) if run_as else None,
        wrap=list(raw.get("wrap") or []),
        landlock=raw.get("landlock"),
        sandbox=raw.get("sandbox") or "none",
        cgroups=list(raw.get("cgroups") or []),
        memory=raw.get("memory"),
        cores=int(raw.get("cores") or os.cpu_count() or 1),
        rlimits=dict(raw.get("rlimits") or {}),
        environment={str(name): str(value) for name, value in (raw.get("environment") or {}).items()},
    )
