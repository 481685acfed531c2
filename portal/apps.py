"""The face: browsers, API clients, agents' reports."""

from django.apps import AppConfig


class PortalConfig(AppConfig):
    name = "portal"

    def ready(self) -> None:
        from jobs.signals import changed

        from . import (
            celery,  # noqa: F401  (the application that hints are sent through)
            live,
        )

        changed.connect(live.announce, dispatch_uid="portal.live")
