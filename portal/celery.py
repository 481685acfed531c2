"""The Celery application: where hints and the periodic turns are carried.

One idea: messages carry no work, only "look now". Every one of them expires, none is tried again; the database is the
queue, and each periodic turn holds a lease in it, so a lost or doubled message harms nothing.
"""

from __future__ import annotations

import gc
import os
from typing import Any

from celery import Celery
from celery.signals import task_prerun, worker_ready

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")

SWEEP, FOLLOW, POLL, LOOK, METER, RECONCILE = 2.0, 2.0, 5.0, 5.0, 20.0, 60.0
"""Seconds between two turns of each kind."""


def every(seconds: float, task: str) -> dict[str, Any]:
    """One line of beat's schedule; a message nobody took before the next one is due is worthless."""
    return {"task": f"jobs.{task}", "schedule": seconds, "options": {"expires": max(seconds, 5.0)}}


app = Celery("headrace")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["jobs"])
app.conf.beat_schedule = {
    "sweep": every(SWEEP, "sweep"),
    "webhooks": every(SWEEP, "webhooks"),
    "follow": every(FOLLOW, "follow"),
    "poll": every(POLL, "poll"),
    "look": every(LOOK, "look"),
    "meter": every(METER, "meter"),
    "reconcile": every(RECONCILE, "reconcile"),
}


@worker_ready.connect
def keep_what_is_loaded(**kwargs: Any) -> None:
    """It lives as long as the process: no collection need look for garbage among it."""
    gc.collect()
    gc.freeze()


@task_prerun.connect
def give_up_broken_connections(**kwargs: Any) -> None:
    """Each thread keeps its connection from task to task; one that a restart of the database broke would fail for ever."""
    from django.db import close_old_connections  # Django is not set up yet when this module is read

    close_old_connections()
