"""Streams over one line: order, credit, ends."""

import asyncio

import pytest

from portal.relay import frames
from portal.relay.lines import Closed, Line


class Agent:
    """The other end: answers every OPEN, sends back what arrives, grants what it consumed."""

    def __init__(self, echo=True):
        self.sent, self.echo, self.refuses = [], echo, False
        self.line = Line(self.take)

    async def take(self, message):
        kind, number, payload = frames.unpack(message)
        self.sent.append((kind, number, payload))
        if kind == frames.OPEN:
            self.line.heard(frames.pack(frames.CLOSE, number, b"no desktop") if self.refuses else frames.pack(frames.OPENED, number))
        if kind == frames.DATA and self.echo:
            self.line.heard(frames.credit(number, len(payload)))
            self.line.heard(frames.pack(frames.DATA, number, payload))

    def bytes_sent(self):
        return sum(len(payload) for kind, _, payload in self.sent if kind == frames.DATA)


def run(coroutine):
    return asyncio.run(coroutine)


def test_bytes_come_back_in_order():
    async def story():
        stream = await Agent().line.open("desktop")
        await stream.write(b"abc")
        await stream.write(b"d" * 1000)
        return await stream.read()

    assert run(story()) == b"abc" + b"d" * 1000


def test_what_is_larger_than_a_piece_is_cut():
    async def story():
        agent = Agent(echo=False)
        stream = await agent.line.open("desktop")
        await stream.write(b"x" * (2 * frames.PIECE + 1))
        return [len(payload) for kind, _, payload in agent.sent if kind == frames.DATA]

    assert run(story()) == [frames.PIECE, frames.PIECE, 1]


def test_no_more_is_sent_than_was_asked_for():
    async def story():
        agent = Agent(echo=False)
        stream = await agent.line.open("desktop")
        writing = asyncio.ensure_future(stream.write(b"x" * (frames.WINDOW + 5)))
        await asyncio.sleep(0)
        while agent.bytes_sent() < frames.WINDOW:
            await asyncio.sleep(0)
        assert not writing.done()
        agent.line.heard(frames.credit(stream.number, 5))
        await writing
        return agent.bytes_sent()

    assert run(story()) == frames.WINDOW + 5


def test_reading_grants_what_was_read():
    async def story():
        agent = Agent()
        stream = await agent.line.open("desktop")
        for _ in range(6):
            await stream.write(b"x" * frames.PIECE)
            await stream.read()
        return sum(frames.count_in(payload) for kind, _, payload in agent.sent if kind == frames.CREDIT)

    assert run(story()) == 6 * frames.PIECE


def test_an_agent_that_sends_more_than_was_asked_for_is_cut_off():
    async def story():
        agent = Agent()
        stream = await agent.line.open("desktop")
        for _ in range(2 * frames.WINDOW // frames.PIECE):
            agent.line.heard(frames.pack(frames.DATA, stream.number, b"x" * frames.PIECE))
        with pytest.raises(ValueError, match="more than was asked for"):
            agent.line.heard(frames.pack(frames.DATA, stream.number, b"x"))

    run(story())


def test_a_service_that_is_not_there_says_why():
    async def story():
        agent = Agent()
        agent.refuses = True
        with pytest.raises(Closed, match="no desktop"):
            await agent.line.open("desktop")

    run(story())


def test_the_end_of_a_line_ends_its_streams():
    async def story():
        agent = Agent()
        stream = await agent.line.open("desktop")
        reading = asyncio.ensure_future(stream.read())
        await asyncio.sleep(0)
        agent.line.end()
        assert await reading == b""
        with pytest.raises(Closed):
            await stream.write(b"x")
        with pytest.raises(Closed):
            await agent.line.open("desktop")

    run(story())


def test_what_arrived_before_the_end_is_still_read():
    async def story():
        agent = Agent()
        stream = await agent.line.open("desktop")
        agent.line.heard(frames.pack(frames.DATA, stream.number, b"last words"))
        agent.line.heard(frames.pack(frames.CLOSE, stream.number))
        return await stream.read(), await stream.read()

    assert run(story()) == (b"last words", b"")


@pytest.mark.parametrize("message", [b"", b"\x03\x00\x00", b"\x01"])
def test_what_is_no_frame_is_refused(message):
    with pytest.raises(ValueError, match="frame"):
        frames.unpack(message)


def test_streams_that_do_not_exist_are_passed_over():
    line = Agent().line
    line.heard(frames.pack(frames.DATA, 99, b"x"))
    line.heard(frames.pack(frames.CLOSE, 99))
    assert line.alive
