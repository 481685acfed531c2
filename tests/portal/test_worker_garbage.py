"""A worker looks for garbage among what is new, not among what was loaded before its first task."""

from __future__ import annotations

import gc

from celery.signals import worker_ready


def test_what_is_loaded_is_left_out_once_a_worker_is_ready():
    gc.unfreeze()
    try:
        worker_ready.send(sender=None)
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
