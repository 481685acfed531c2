"""What counts as input on its way to a session: keys, pointer, typing, changes; neither looking nor resizing."""

import struct

import pytest

from jobs.agent import inputs

OPENING = b"RFB 003.008\n\x01\x01"
QUIET = [
    struct.pack(">BxxxBBBBHHHBBBxxx", 0, 32, 24, 0, 1, 255, 255, 255, 16, 8, 0), struct.pack(">BxHiii", 2, 3, 0, 16, -308),
    struct.pack(">BBHHHH", 3, 1, 0, 0, 10, 10), struct.pack(">BxxxI", 6, 3) + b"abc", struct.pack(">Bxxxi", 6, -6) + b"\x04" * 6,
    struct.pack(">BBHHHH", 150, 1, 0, 0, 1, 1), struct.pack(">BxxxIB", 248, 0, 4) + b"\x05" * 4,
    struct.pack(">BxHHBxIHHHHI", 251, 5, 5, 1, 0, 0, 0, 5, 5, 0),
]  # fmt: skip
LOUD = [struct.pack(">BBxxI", 4, 1, 97), struct.pack(">BBHH", 5, 0, 1, 1), struct.pack(">BBHII", 255, 0, 1, 97, 30)]


@pytest.mark.parametrize("step", [1, 2, 7, 1000])
def test_only_keys_and_pointer_are_input_on_a_desktop(step):
    watcher = inputs.watcher("desktop")

    def heard(data):
        return any([watcher.heard(data[at : at + step]) for at in range(0, len(data), step)])

    assert not heard(OPENING + b"".join(QUIET) * 3)
    for message in LOUD:
        assert heard(b"".join(QUIET) + message)
        assert not heard(b"".join(QUIET))


@pytest.mark.parametrize("step", [1, 3, 1000])
def test_only_typing_is_input_in_a_terminal(step):
    def heard(data):
        watcher = inputs.watcher("terminal")
        return any([watcher.heard(data[at : at + step]) for at in range(0, len(data), step)])

    size = struct.pack(">BIHH", 1, 4, 80, 24)
    assert not heard(size * 3)
    assert heard(size + struct.pack(">BI", 0, 1) + b"x")
    assert not heard(size + struct.pack(">BI", 0, 0))


def test_only_changes_are_input_in_an_app():
    assert inputs.watcher("app").heard(b"POST /relay/x/app/api/kernels HTTP/1.1\r\n")
    assert not inputs.watcher("app").heard(b"GET /relay/x/app/lab HTTP/1.1\r\n")
