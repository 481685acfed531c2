"""A worker's connection to the database: kept from task to task, and given up once it is broken."""

from __future__ import annotations

import pytest
from celery.signals import task_prerun
from django.db import connection

from jobs.models import Workload
from jobs.tasks import turn


@pytest.fixture
def opened(transactional_db):
    Workload.objects.exists()
    return connection.connection


def before_a_task():
    task_prerun.send(sender=turn, task_id="1", task=turn, args=(), kwargs={})


def test_it_is_kept_while_it_works(opened):
    before_a_task()
    assert not Workload.objects.exists()
    assert connection.connection is opened


def test_one_that_broke_in_a_task_is_given_up_before_the_next(opened, monkeypatch):
    """As after a restart of the database: every query fails, and would go on to."""
    monkeypatch.setattr(connection, "is_usable", lambda: False)
    connection.errors_occurred = True
    before_a_task()
    assert connection.connection is None
    monkeypatch.undo()
    assert not Workload.objects.exists()
    assert connection.connection is not opened
