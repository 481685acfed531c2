"""What is usual, in words."""

import pytest

from portal.presenters.text import span_of, usually


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (60, 180, "1\u20133 min"),
        (40, 120, "40 s\u20132 min"),
        (720, 720, "12 min"),
        (0.2, 0.4, "under 1 s"),
        (0.2, 2, "up to 2 s"),
        (0, 2, "0\u20132 s"),
    ],
)
def test_a_span_of_time(low, high, words):
    assert span_of(low, high) == words
    assert usually((low, high)) == f"usually {words}"


def test_what_is_unknown_is_not_said():
    assert usually(None) == ""
