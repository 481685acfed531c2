"""The domain: jobs, hardware, money. No HTTP, no HTML, no Channels."""

from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "jobs"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from . import checks, wake  # noqa: F401  (checks register themselves; wake listens to `changed`)
        from .models import moments  # noqa: F401  (listens to new connections)
