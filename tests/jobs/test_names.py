"""Names of any bytes as text, and back."""

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs import names

WRITTEN = [
    (b"plain name.inp", "plain name.inp"),
    ("größe \U0001f680".encode(), "größe \U0001f680"),
    (b"caf\xe9.txt", r"caf\xe9.txt"),
    (b"new\nline\ttab\x7f", r"new\x0aline\x09tab\x7f"),
    (rb"literal \xe9", r"literal \x5cxe9"),
    (rb"literal \x5cxe9", r"literal \x5cx5cxe9"),
    (rb"C:\xampp\x4g \\ \xFF", r"C:\xampp\x4g \\ \xFF"),
    (b"\\\xff\\x\xff", r"\\xff\x\xff"),
]


@pytest.mark.parametrize(("raw", "text"), WRITTEN)
def test_how_names_are_written(raw, text):
    assert names.shown(raw) == names.shown(os.fsdecode(raw)) == text
    assert names.raw(text) == raw
    assert names.path(text) == os.fsdecode(raw)


ODD = st.binary(max_size=40) | st.lists(st.sampled_from([b"\\", b"x", b"5c", b"e9", b"\xe9", b"\xc3", b"\xa9", b"\n", b"f", b"0", b"/"]), max_size=14).map(b"".join)


@given(ODD, ODD)
def test_every_name_comes_back_and_no_two_are_written_alike(one, other):
    text = names.shown(one)
    assert names.raw(text) == one
    assert json.loads(json.dumps(text).encode()) == text
    assert "\0" not in text and "\n" not in text
    assert (names.shown(other) == text) == (other == one)


def test_what_is_no_text_is_refused():
    with pytest.raises(UnicodeEncodeError):
        names.raw("\ud800")
