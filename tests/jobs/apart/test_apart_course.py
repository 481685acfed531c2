"""Where residuals are heading, and when a tolerance may be promised."""

import pytest

from jobs.apart import course
from jobs.verdicts.base import Series


def series(values, tolerance=1e-5, logarithmic=True):
    return Series("p", tuple((float(at), value) for at, value in enumerate(values, 1)), tolerance, "iteration", logarithmic)


def test_a_straight_fall_promises_its_tolerance():
    said = course.of(series([10 ** (-at / 20) for at in range(60)]))
    assert said["direction"] == "falling"
    assert said["reach"] == pytest.approx(101, abs=0.5)


@pytest.mark.parametrize(
    ("values", "direction"),
    [
        ([10 ** (at / 20) for at in range(60)], "rising"),
        ([0.5] * 60, "steady"),
        ([1.0, 0.5], ""),
    ],
)
def test_nothing_is_promised_of_what_does_not_fall(values, direction):
    said = course.of(series(values))
    assert (said["direction"], said["reach"]) == (direction, None)


def test_a_saw_tooth_promises_nothing():
    said = course.of(series([10 ** (-at / 200 - 3 * (at % 2)) for at in range(60)]))
    assert said["reach"] is None


def test_what_is_far_away_is_not_promised():
    assert course.of(series([10 ** (-at / 2000) for at in range(1000)], 1e-9))["reach"] is None


def test_below_its_tolerance_it_has_arrived():
    assert course.of(series([10 ** (-at / 20) for at in range(60)], tolerance=0.1))["reach"] is None


def test_energies_have_no_direction():
    said = course.of(series([-float(at) for at in range(60)], None, False))
    assert (said["direction"], said["reach"]) == ("", None)


def test_together_one_that_rises_counts_most():
    falling, rising, done = (
        {"direction": way, "tolerance": tolerance, "y": 1.0} for way, tolerance in (("falling", 0.1), ("rising", 0.1), ("steady", 2.0))
    )
    assert course.together([falling, falling, rising]) == "rising"
    assert course.together([falling, done]) == "falling"
    assert course.together([done]) == ""
