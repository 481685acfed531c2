"""Streams: any byte, any length, limits with a named gap, files that are followed, replaced and cut."""

import hashlib
import os


def _kept(portal, name, generation=0):
    found = [stream for stream in portal.last("done")["streams"] if (stream["name"], stream["generation"]) == (name, generation)]
    return found[0]


def test_bytes_that_are_no_text(agent, portal):
    exit = agent.run(r"printf 'a\0b\n'; head -c 1000 /dev/zero; printf '\377\376\033[31m'; echo end; exit 4")
    assert exit["code"] == 4
    assert portal.log() == b"a\0b\n" + bytes(1000) + b"\xff\xfe\x1b[31mend\n"


def test_lines_of_ten_megabytes(agent, portal):
    agent.run("head -c 10000000 /dev/zero | tr '\\0' x; echo; head -c 10000000 /dev/zero | tr '\\0' y; echo")
    assert portal.log() == b"x" * 10000000 + b"\n" + b"y" * 10000000 + b"\n"
    assert _kept(portal, "stdout")["sha256"] == hashlib.sha256(portal.log()).hexdigest()


def test_output_past_the_limit_is_a_gap_and_its_end_is_kept(agent, portal):
    exit = agent.run(
        "echo BEGIN; head -c 150000000 /dev/zero | tr '\\0' x; echo END; exit 2",
        log_head=1000000, log_tail=500000, seconds=60,
    )  # fmt: skip
    assert exit["code"] == 2
    size = 6 + 150000000 + 4
    (gap,) = portal.gaps
    assert (gap["from"], gap["to"], gap["stream"]) == (1000000, size - 500000, "stdout")
    log = portal.log()
    head, tail = log[:1000000], log[gap["to"] :]
    assert head == b"BEGIN\n" + b"x" * 999994
    assert tail == b"x" * 499996 + b"END\n"
    kept = _kept(portal, "stdout")
    assert (kept["size"], kept["sha256"]) == (size, hashlib.sha256(head + tail).hexdigest())


def test_endless_output_does_not_fill_the_disk(agent, portal, until):
    portal.spec.update(commands=["yes"], log_head=1 << 20, log_tail=1 << 20)
    agent.start()
    spool = agent.folder / "stdout"
    until(lambda: spool.exists() and spool.stat().st_size > 250 << 20, 60)
    portal.order(wish="stop")
    agent.finished()
    assert spool.stat().st_size > 250 << 20
    assert spool.stat().st_blocks * 512 < 40 << 20
    (gap,) = portal.gaps
    log = portal.log()
    assert log[: 1 << 20] == b"y\n" * (1 << 19)
    assert len(log) - gap["to"] == 1 << 20
    assert set(log[gap["to"] :]) == set(b"y\n")


def test_gap_is_found_again_by_the_next_reporter(agent, portal, until):
    portal.spec.update(
        commands=["head -c 60000000 /dev/zero | tr '\\0' x; echo END"], log_head=1000000, log_tail=500000
    )
    portal.refuse["done"] = (503, {})
    agent.start()
    until(lambda: portal.gaps and portal.log().endswith(b"END\n"))
    agent.kill("reporter")
    portal.refuse.clear()
    agent.finished()
    (gap,) = portal.gaps
    log = portal.log()
    assert _kept(portal, "stdout")["sha256"] == hashlib.sha256(log[:1000000] + log[gap["to"] :]).hexdigest()


def test_named_streams_and_watched_tails_are_followed(agent, portal, until):
    portal.spec.update(
        commands=["mkdir sub; echo r1 > res.dat; echo t1 > 'sub/any file.txt'; echo go; until [ -e STOP ]; do sleep 0.02; done",
                  "echo r2 >> res.dat; echo t2 >> 'sub/any file.txt'"],
        streams={"stdout": None, "residuals": "res.dat", "never": "no/such.txt"},
    )  # fmt: skip
    portal.orders.update(watched=True, tails=["sub/any file.txt", "../../etc/passwd", "/etc/passwd"])
    agent.start()
    until(lambda: portal.log("residuals") == b"r1\n" and portal.log("file:sub/any file.txt") == b"t1\n")
    (agent.work / "STOP").touch()
    agent.finished()
    assert portal.log("residuals") == b"r1\nr2\n"
    assert portal.log("file:sub/any file.txt") == b"t1\nt2\n"
    assert _kept(portal, "residuals")["sha256"] == hashlib.sha256(b"r1\nr2\n").hexdigest()
    assert not any("passwd" in name for name, _ in portal.logs)


def test_long_file_is_followed_from_near_its_end(agent, portal, until):
    portal.spec["commands"] = [
        "head -c 9000000 /dev/zero | tr '\\0' x > big; echo END >> big; echo made; until [ -e STOP ]; do sleep 0.02; done; echo more >> big"
    ]
    agent.start()
    until(lambda: portal.log() == b"made\n")
    portal.order(tails=["big"], watched=True)
    until(lambda: portal.log("file:big").endswith(b"xEND\n"))
    agent.kill("reporter")
    (agent.work / "STOP").touch()
    agent.finished()
    (gap,) = portal.gaps
    assert (gap["from"], gap["to"]) == (0, 9000004 - (1 << 20))
    kept = portal.log("file:big")[gap["to"] :]
    assert kept.endswith(b"xEND\nmore\n")
    assert _kept(portal, "file:big")["sha256"] == hashlib.sha256(kept).hexdigest()


def test_tail_never_follows_a_link(agent, portal, until):
    portal.spec["commands"] = ["ln -s /etc/passwd link; ln -s /etc dir; mkfifo fifo; echo x > plain; echo go; sleep 0.3"]
    portal.orders.update(watched=True, tails=["link", "dir/passwd", "fifo", "plain"])
    agent.start()
    agent.finished()
    assert {name for name, _ in portal.logs if portal.log(name)} == {"stdout", "file:plain"}


def test_replaced_file_begins_a_new_generation_and_its_end_is_still_read(agent, portal, until):
    portal.spec["commands"] = [
        "echo one > f; until [ -e a ]; do sleep 0.02; done",
        "echo rest >> f; echo two > g; mv g f; until [ -e b ]; do sleep 0.02; done; echo more >> f",
    ]
    portal.orders.update(watched=True, tails=["f"])
    agent.start()
    until(lambda: portal.log("file:f") == b"one\n")
    (agent.work / "a").touch()
    until(lambda: portal.log("file:f", 1) == b"two\n")
    (agent.work / "b").touch()
    agent.finished()
    assert portal.log("file:f", 0) == b"one\nrest\n"
    assert portal.log("file:f", 1) == b"two\nmore\n"
    assert _kept(portal, "file:f", 0)["sha256"] == hashlib.sha256(b"one\nrest\n").hexdigest()
    assert _kept(portal, "file:f", 1)["sha256"] == hashlib.sha256(b"two\nmore\n").hexdigest()


def test_cut_file_begins_a_new_generation(agent, portal, until):
    portal.spec["commands"] = ["echo first line > f; until [ -e a ]; do sleep 0.02; done; echo 2 > f"]
    portal.orders.update(watched=True, tails=["f"])
    agent.start()
    until(lambda: portal.log("file:f") == b"first line\n")
    (agent.work / "a").touch()
    agent.finished()
    assert portal.log("file:f", 0) == b"first line\n"
    assert portal.log("file:f", 1) == b"2\n"


def test_generation_survives_the_reporter(agent, portal, until):
    portal.spec["commands"] = ["echo one > f; until [ -e a ]; do sleep 0.02; done; echo 2 > f; until [ -e b ]; do sleep 0.02; done"]
    portal.orders.update(watched=True, tails=["f"])
    agent.start()
    until(lambda: portal.log("file:f") == b"one\n")
    (agent.work / "a").touch()
    until(lambda: portal.log("file:f", 1) == b"2\n")
    agent.kill("reporter")
    (agent.work / "b").touch()
    agent.finished()
    assert {generation for name, generation in portal.logs if name == "file:f"} == {0, 1}


def test_portal_that_lost_the_end_of_a_log_gets_it_again(agent, portal, until):
    portal.spec["commands"] = ["seq 1 500; until [ -e STOP ]; do sleep 0.02; done; echo end"]
    agent.start()
    until(lambda: portal.log().endswith(b"500\n"))
    with portal.lock:
        del portal.logs["stdout", 0][300:]
    (agent.work / "STOP").touch()
    agent.finished()
    assert portal.log() == b"".join(b"%d\n" % number for number in range(1, 501)) + b"end\n"


def test_file_name_that_is_no_utf8_can_be_followed(agent, portal, until):
    name = os.fsdecode(b"caf\xe9.log")
    portal.spec["commands"] = ["echo x > $'caf\\xe9.log'; sleep 0.2"]
    portal.orders.update(watched=True, tails=[name])
    agent.start()
    agent.finished()
    assert portal.log("file:" + name) == b"x\n"
