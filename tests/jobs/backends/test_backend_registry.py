"""Backends are found by the name they have in the settings, and a wrong entry is told in words."""

import pytest

from jobs.backends import base
from jobs.backends.base import Refused
from jobs.backends.fake import Fake

FAKE = "jobs.backends.fake.Fake"


def test_a_backend_is_made_once_a_process(settings):
    settings.BACKENDS = {"one": {"BACKEND": FAKE, "OPTIONS": {"cores": 4}}, "two": {"BACKEND": FAKE}}
    assert base.get("one") is base.get("one")
    assert base.get("one") is not base.get("two")
    assert (base.get("one").name, base.get("one").capacity()[""].total) == ("one", 4)
    assert base.names() == ["one", "two"]


def test_another_setting_makes_another_one(settings):
    settings.BACKENDS = {"one": {"BACKEND": FAKE, "OPTIONS": {"cores": 4}}}
    assert base.get("one").capacity()[""].total == 4
    settings.BACKENDS = {"one": {"BACKEND": FAKE, "OPTIONS": {"cores": 5}}}
    assert base.get("one").capacity()[""].total == 5


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"BACKEND": "jobs.backends.fake.Nothing"}, "Nothing"),
        ({"BACKEND": "jobs.backends.nowhere.Fake"}, "nowhere"),
        ({"BACKEND": FAKE, "OPTIONS": {"colour": "red"}}, "colour"),
        ({"BACKEND": "jobs.backends.local.Local"}, "folder"),
    ],
)
def test_a_wrong_entry_is_refused_and_names_the_fault(settings, entry, words):
    settings.BACKENDS = {"wrong": entry}
    with pytest.raises(Refused, match=words):
        base.get("wrong")


def test_a_name_that_is_not_in_the_settings_is_refused(settings):
    settings.BACKENDS = {}
    with pytest.raises(Refused, match="no backend 'gone'"):
        base.get("gone")


def test_hardware_that_is_kept_as_long_as_it_runs_can_be_extended(settings):
    settings.BACKENDS = {"here": {"BACKEND": "jobs.backends.local.Local", "OPTIONS": {"folder": "unused"}}}
    assert base.get("here").can_extend
    assert base.get("here").extend("hrtest-job-aBcDeF-1", None) is None


def test_what_cannot_be_extended_says_so():
    class Rigid(Fake):
        can_extend = False
        extend = base.Backend.extend

    with pytest.raises(Refused, match="cannot be kept longer"):
        Rigid("rigid").extend("hrtest-job-aBcDeF-1", None)
