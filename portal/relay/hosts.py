"""On which host name the applications of workstations live: never on that of the portal.

A notebook runs whatever its user, or a file that somebody sent them, wants to run in the browser. On a host name of its own
it can neither read the portal's pages nor send anything with the portal's sign-in. APPS_URL names that host; on a portal
that only its own machine reaches, `localhost` and `127.0.0.1` serve as each other's. Without either there are no applications.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings

_OTHER = {"localhost": "127.0.0.1", "127.0.0.1": "localhost"}


def origin_beside(scheme: str, host: str) -> str:
    """The origin of applications for a page that was asked for at `host` (with its port); empty if there is none."""
    if settings.APPS_URL:
        return settings.APPS_URL.rstrip("/")
    name, colon, port = host.partition(":")
    other = _OTHER.get(name.lower())
    return f"{scheme}://{other}{colon}{port}" if other else ""


def is_for_apps(host: str) -> bool:
    """Whether applications may answer at this host; a portal without APPS_URL asks the ticket as well (see apps)."""
    if settings.APPS_URL:
        return urlsplit(settings.APPS_URL).netloc.lower() == host.lower()
    return host.partition(":")[0].lower() in _OTHER


def is_only_for_apps(host: str) -> bool:
    """Whether nothing but applications may answer here."""
    return bool(settings.APPS_URL) and is_for_apps(host)
