"""What a new Headrace begins with, and that an old one keeps what its admins made of it."""

from __future__ import annotations

import os
from decimal import Decimal

import pytest
from django.contrib.auth.models import User

from jobs.models import Budget, Charge, Coretype, Job, Membership, Project, Software, Workload
from portal.launch import demo, seeds

pytestmark = pytest.mark.django_db


def test_this_machine_is_hardware():
    seeds.sow()
    here = Coretype.objects.get(code="local")
    assert (here.cores, here.backend, here.region.code) == (len(os.sched_getaffinity(0)), "local", "here")
    assert here.memory > 100 << 20
    assert Software.objects.get(code="shell").versions.exists()


def test_an_admins_edits_stay():
    seeds.sow()
    Coretype.objects.filter(code="local").update(price=Decimal("0.30"), name="Old workhorse")
    Software.objects.filter(code="shell").update(command="./go", active=False)
    counts = Software.objects.count(), Coretype.objects.count()
    seeds.sow()
    here, shell = Coretype.objects.get(code="local"), Software.objects.get(code="shell")
    assert (here.price, here.name, shell.command, shell.active) == (Decimal("0.30"), "Old workhorse", "./go", False)
    assert (Software.objects.count(), Coretype.objects.count()) == counts


def test_the_admin_is_made_once():
    password = seeds.admin()
    assert User.objects.get(username="admin", is_superuser=True, is_staff=True).check_password(password)
    assert seeds.admin() is None
    User.objects.update(username="boss")
    assert seeds.admin() is None


def test_the_demo_is_made_once():
    seeds.sow()
    password = demo.people()
    engineer = User.objects.get(username="engineer")
    assert engineer.check_password(password)
    assert not engineer.is_staff
    assert (Budget.objects.get().amount, Membership.objects.get().user) == (Decimal(500), engineer)
    assert demo.job()
    assert (demo.people(), demo.job()) == (None, None)
    assert Workload.objects.get().status == "queued"


@pytest.mark.parametrize(("ccx", "software"), [("/usr/bin/ccx", "calculix"), (None, "shell")])
def test_the_demo_takes_the_solver_that_is_there(monkeypatch, ccx, software):
    monkeypatch.setattr(demo.shutil, "which", lambda name, path=None: ccx if name == "ccx" else "/usr/bin/python3")
    seeds.sow()
    demo.people()
    demo.job()
    job = Job.objects.get()
    assert job.software.software.code == software
    for use in job.inputs.all():
        assert use.name in job.command or software == "calculix"
        assert demo.default_storage.size(use.file.key) == use.file.size


def test_the_demo_starts_again_with_another_budget_beside_its_own():
    assert demo.people()
    Budget.objects.create(name="Another", project=Project.objects.get(code=demo.PROJECT.lower()), amount=1)
    assert demo.people() is None
    assert Budget.objects.count() == 2
    assert Charge.objects.get().left == demo.MONEY  # its ledger begins with what it was given
