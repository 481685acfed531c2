"""What cannot work fails at start: system checks with ids."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import Error, Warning, register

NETWORK_FILE_SYSTEMS = {"nfs", "nfs4", "lustre", "gpfs", "cifs", "smb3", "beegfs", "fuse.sshfs"}


@register()
def backends_exist(app_configs: Any, **kwargs: Any) -> list[Any]:
    from django.utils.module_loading import import_string

    from . import backends

    problems = []
    for name, options in settings.BACKENDS.items():
        try:
            import_string(options["BACKEND"])
            backends.get(name)
        except (ImportError, KeyError, backends.Refused) as error:
            problems.append(Error(f"Backend {name} cannot be loaded: {error}", id="headrace.E001"))
    return problems


@register()
def sqlite_is_not_on_a_network(app_configs: Any, **kwargs: Any) -> list[Any]:
    """SQLite's locks and WAL need a local disk."""
    if not settings.SQLITE:
        return []
    kind = file_system_of(Path(settings.DATABASES["default"]["NAME"]).parent)
    if kind in NETWORK_FILE_SYSTEMS:
        text = f"The data folder lies on {kind}; SQLite needs a local disk."
        return [Error(text, hint="Set HEADRACE_DATA or DATABASE_URL.", id="headrace.E002")]
    return []


@register()
def webhook_networks_are_networks(app_configs: Any, **kwargs: Any) -> list[Any]:
    from .webhooks import addresses

    try:
        addresses.networks()
    except ValueError as error:
        return [Error(f"WEBHOOK_NETWORKS: {error}", hint="Networks look like 10.1.0.0/16 or fd00::/8.", id="headrace.E003")]
    return []


@register(deploy=True)
def production_names_its_hosts(app_configs: Any, **kwargs: Any) -> list[Any]:
    if settings.ALLOWED_HOSTS in ([], ["*"]):
        return [Warning("ALLOWED_HOSTS is not set.", hint="Name the portal's host names.", id="headrace.W001")]
    return []


def file_system_of(path: Path) -> str:
    """Type of the file system that holds `path`, from /proc/self/mounts; "" if unknown."""
    best, kind = "", ""
    try:
        mounts = Path("/proc/self/mounts").read_text().splitlines()
    except OSError:
        return ""
    for line in mounts:
        _, point, this, *_ = line.split(" ")
        if len(point) > len(best) and os.path.commonpath([point, str(path)]) == point:
            best, kind = point, this
    return kind
