"""A command from hello to done: how it ends, and that nothing of it stays alive."""

import pytest


@pytest.mark.parametrize(
    ("command", "code", "number"),
    [
        ("true", 0, None),
        ("false", 1, None),
        ("exit 42", 42, None),
        ("echo start; kill -9 $$; echo never", None, 9),
        ("kill -SEGV $$", None, 11),
        ("no-such-program-here", 127, None),
    ],
)
def test_exit_is_told_as_it_was(agent, command, code, number):
    exit = agent.run(command)
    assert (exit["code"], exit["signal"], exit["why"]) == (code, number, None)
    assert exit["memory_killed"] is False
    assert exit["leftovers"] == 0
    assert exit["ran"] >= 0


def test_output_arrives_byte_for_byte_with_its_hash(agent, portal):
    import hashlib

    agent.run("echo out", "echo err >&2", "printf 'no end'")
    assert portal.log() == b"out\nerr\nno end"
    (stream,) = portal.last("done")["streams"]
    digest = hashlib.sha256(portal.log()).hexdigest()
    assert stream == {"name": "stdout", "generation": 0, "size": 14, "sha256": digest}
