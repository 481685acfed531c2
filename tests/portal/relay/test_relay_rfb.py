"""What a viewer may say: all of it for its owner, only looking for others."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.relay.rfb import EXTENDED_BUTTONS, EXTENDED_CLIPBOARD, LONGEST, NO_TEXT, VERSION, Filter, Nonsense

HELLO = VERSION + b"\x01" + b"\x00"
PIXELS = bytes([0, 0, 0, 0]) + bytes(16)
UPDATE = bytes([3, 1]) + bytes(8)
KEY = bytes([4, 1, 0, 0]) + struct.pack(">I", 0x61)
POINTER = bytes([5, 1]) + struct.pack(">HH", 10, 20)
CUT = bytes([6, 0, 0, 0]) + struct.pack(">i", 3) + b"abc"
CUT_EXTENDED = bytes([6, 0, 0, 0]) + struct.pack(">i", -4) + bytes(4)
SIZE = bytes([251, 0]) + struct.pack(">HHBB", 800, 600, 1, 0) + bytes(16)
SCANCODE = bytes([255, 0]) + bytes(10)
FENCE = bytes([248, 0, 0, 0]) + bytes(4) + b"\x02ab"
CONTINUOUS = bytes([150, 1]) + bytes(8)
LOOKS = [PIXELS, UPDATE, FENCE, CONTINUOUS]
ACTS = [KEY, POINTER, CUT, CUT_EXTENDED, SIZE, SCANCODE]


def encodings(*codes):
    return bytes([2, 0]) + struct.pack(">H", len(codes)) + b"".join(struct.pack(">i", code) for code in codes)


def looked(data):
    """What passes of somebody who only looks, after the greeting."""
    return Filter(acts=False).feed(HELLO + data).removeprefix(GREETED)


GREETED = HELLO[:-1] + b"\x01" + encodings(0, EXTENDED_CLIPBOARD) + NO_TEXT


@pytest.mark.parametrize("message", LOOKS + ACTS)
def test_who_acts_says_all_of_it(message):
    assert Filter(acts=True).feed(HELLO + message + UPDATE)[len(HELLO) :] == message + UPDATE


@pytest.mark.parametrize("message", LOOKS)
def test_who_looks_may_ask_for_pictures(message):
    assert looked(message) == message


@pytest.mark.parametrize("message", ACTS)
def test_who_looks_can_not_act(message):
    looking = Filter(acts=False)
    assert looking.feed(HELLO + message + UPDATE).removeprefix(GREETED) == UPDATE
    assert not looking.touched


@pytest.mark.parametrize("codes", [(), (0, 7), (EXTENDED_CLIPBOARD, 7, EXTENDED_BUTTONS)])
def test_who_looks_is_not_told_what_is_copied(codes):
    """Whatever their program can do, the desktop hears that it wants notices and no text; and so it does before it says anything."""
    kept = [code for code in codes if code != EXTENDED_BUTTONS]
    assert looked(encodings(*codes)) == encodings(*kept, EXTENDED_CLIPBOARD) + NO_TEXT
    assert Filter(acts=False).feed(HELLO) == GREETED


def test_the_most_encodings_that_a_message_holds_leave_room_for_ours():
    assert looked(encodings(*[7] * 0xFFFF)) == encodings(*[7] * 0xFFFE, EXTENDED_CLIPBOARD) + NO_TEXT


@given(st.lists(st.sampled_from(LOOKS + ACTS), max_size=12), st.lists(st.integers(1, 9), min_size=1, max_size=20))
def test_it_does_not_matter_how_bytes_are_cut(messages, cuts):
    data, filtered = HELLO + b"".join(messages), Filter(acts=False)
    out, at, turn = b"", 0, 0
    while at < len(data):
        step = cuts[turn % len(cuts)]
        out += filtered.feed(data[at : at + step])
        at, turn = at + step, turn + 1
    assert out.removeprefix(GREETED) == b"".join(message for message in messages if message in LOOKS)


def test_everybody_shares_the_desktop():
    assert Filter(acts=True).feed(VERSION + b"\x01\x00")[-1:] == b"\x01"


def test_keys_and_pointers_count_as_input_and_asking_for_pictures_does_not():
    acting = Filter(acts=True)
    acting.feed(HELLO + UPDATE + encodings(0, 7))
    assert not acting.touched
    acting.feed(KEY)
    assert acting.touched


def test_longer_pointer_messages_are_not_agreed_on():
    assert Filter(acts=True).feed(HELLO + encodings(7, EXTENDED_BUTTONS, -239))[len(HELLO) :] == encodings(7, -239)


@pytest.mark.parametrize(
    "data",
    [
        b"RFB 003.003\n" + bytes(9),
        b"GET / HTTP/1.1\r\n\r\n",
        HELLO + bytes([77]),
        HELLO + bytes([255, 1, 0, 0]),
        HELLO + bytes([6, 0, 0, 0]) + struct.pack(">i", LONGEST + 1),
        HELLO + bytes([6, 0, 0, 0]) + struct.pack(">i", -(2**31)),
    ],
)
def test_nonsense_is_refused(data):
    with pytest.raises(Nonsense):
        Filter(acts=True).feed(data)


def test_talk_of_the_clipboard_is_no_work():
    """Viewers answer what a desktop can do with it whenever they connect: a tab that comes back is no person."""
    acting = Filter(acts=True)
    acting.feed(HELLO)
    assert acting.feed(CUT_EXTENDED + CUT) == CUT_EXTENDED + CUT
    assert not acting.touched
