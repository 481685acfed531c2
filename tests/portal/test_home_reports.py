"""Copies of homes over HTTP: room, parts, whole, and back again with Range; nobody else's, and nothing without room."""

import asyncio
import hashlib
import io
import json
from pathlib import Path
from urllib.parse import urlencode

import desks
import factories
import playing
import pytest
from django.core.files.storage import default_storage
from django.utils import timezone

from jobs import homes, logs, places, sending, tokens
from jobs.models import HomeCopy
from portal import storing
from portal.api import nodes

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("cloud")]
DATA = bytes(range(256)) * 4000
CODE = "c0ffee0123456789"


class Agent:
    """Speaks as an agent does, straight to the application."""

    def __init__(self, token: str, secret: str = "") -> None:
        self.token, self.secret = token, secret or tokens.secret_of(token)

    def __call__(self, report, body=b"", method="POST", headers=(), **query):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        known = [(b"authorization", f"Bearer {self.secret}".encode()), (b"headrace-protocol", b"1"), *headers]
        scope = {"type": "http", "method": method, "path": f"/nodes/{self.token}/0/{report}", "query_string": urlencode(query).encode()}
        sent: list[dict] = []
        left = [{"type": "http.request", "body": data, "more_body": False}]

        async def receive():
            return left.pop() if left else await asyncio.Future()

        async def send(message):
            sent.append(message)

        asyncio.run(nodes.application({**scope, "headers": known}, receive, send))
        answer = b"".join(message.get("body", b"") for message in sent)
        return sent[0]["status"], answer

    def json(self, *args, **named):
        status, answer = self(*args, **named)
        return status, json.loads(answer)


@pytest.fixture
def desk(owner, wing, clock):
    factories.budget(wing, 1000)
    return desks.start(factories.workstation(owner, project=wing), clock)


@pytest.fixture
def agent(desk):
    return Agent(desk.agent.token)


def room(agent, code=CODE, size=1_024_000, why="periodic"):
    return agent.json("home/room", {"copy": code, "why": why, "size": size, "files": 1})


def whole(agent, code=CODE, data=DATA, **more):
    body = {"copy": code, "size": len(data), "sha256": hashlib.sha256(data).hexdigest(), "files": 1, "changed": 0, **more}
    return agent.json("home/whole", body)


@pytest.fixture(autouse=True)
def hashes(monkeypatch):
    """What other tests left half sent is not this one's."""
    monkeypatch.setattr(homes, "_hashes", {})


def test_there_and_back(agent, desk):
    assert room(agent) == (200, {"ok": True, "message": ""})
    assert agent.json("home/part", DATA[:500_000], copy=CODE, offset=0) == (200, {"size": 500_000})
    assert agent.json("home/part", DATA[:500_000], copy=CODE, offset=0) == (200, {"size": 500_000})
    assert agent.json("home/part", DATA[600_000:], copy=CODE, offset=600_000) == (409, {"size": 500_000})
    assert agent.json("home/part", DATA[400_000:], copy=CODE, offset=400_000) == (200, {"size": len(DATA)})
    assert whole(agent, skipped=[["a.sock", "a socket"], ["odd"]]) == (200, {"ok": True})
    assert whole(agent) == (200, {"ok": True})
    assert room(agent)[1]["ok"] is False
    copy = HomeCopy.objects.get()
    assert (copy.size, copy.skipped, copy.attempt) == (len(DATA), [["a.sock", "a socket"]], 1)
    assert agent(f"input/home-{copy.pk}", method="GET") == (200, DATA)
    assert agent(f"input/home-{copy.pk}", method="GET", headers=[(b"range", b"bytes=100-199")]) == (206, DATA[100:200])


def test_a_damaged_copy_is_sent_again(agent, desk):
    room(agent)
    agent("home/part", DATA[:-1] + b"!", copy=CODE, offset=0)
    assert whole(agent) == (409, {"size": 0})
    assert desk.work.workstation.home is None
    assert agent.json("home/part", DATA, copy=CODE, offset=0) == (200, {"size": len(DATA)})
    assert whole(agent) == (200, {"ok": True})


def test_a_crash_between_the_bytes_and_the_row(agent, desk, monkeypatch):
    room(agent)
    agent("home/part", DATA, copy=CODE, offset=0)
    with monkeypatch.context() as patch:
        patch.setattr(homes, "touch", lambda *args, **named: 1 / 0)
        assert whole(agent)[0] == 503
    assert desk.work.workstation.home is None
    assert whole(agent) == (200, {"ok": True})
    assert desk.work.workstation.home.size == len(DATA)


def test_the_same_report_twice_at_a_time(agent, desk, monkeypatch):
    """The agent did not wait for the answer: the second one finds the bytes moved and the row not written yet."""
    room(agent)
    agent("home/part", DATA, copy=CODE, offset=0)
    move, answers = homes._moved, []

    def late(part, key):
        monkeypatch.setattr(homes, "_moved", move)
        answers.append(whole(agent))
        return move(part, key)

    monkeypatch.setattr(homes, "_moved", late)
    monkeypatch.setattr(homes.fcntl, "flock", lambda *args: None)  # both hold the same process's lock here
    answers.append(whole(agent))
    assert answers == [(200, {"ok": True})] * 2
    assert desk.work.workstation.home.size == len(DATA)


def test_no_room_is_said_with_figures(agent, monkeypatch):
    status, answer = room(agent, size=21 << 30)
    assert (status, answer["ok"]) == (200, False)
    assert "21.0 GiB" in answer["message"] and "20.0 GiB" in answer["message"]
    monkeypatch.setattr(places, "SPARE", 1 << 60)
    answer = room(agent)[1]
    assert answer["ok"] is False and "free" in answer["message"]
    assert agent.json("home/part", DATA, copy=CODE, offset=0)[0] == 404
    assert not HomeCopy.objects.exists()


def test_room_is_taken_from_the_disk(agent, desk):
    room(agent, size=4 << 20)
    part = default_storage.path(f"homes/{desk.work.public_id}/{CODE}.part")
    taken = Path(part).stat()
    assert (taken.st_size, taken.st_blocks * 512 >= 4 << 20) == (0, True)
    agent("home/part", DATA, copy=CODE, offset=0)
    whole(agent)
    kept = Path(default_storage.path(HomeCopy.objects.get().key)).stat()
    assert (kept.st_size, kept.st_blocks * 512 < 2 << 20) == (len(DATA), True)


def test_a_new_copy_drops_the_unfinished_one(agent, desk):
    room(agent)
    agent("home/part", DATA, copy=CODE, offset=0)
    room(agent, code="deadbeef01234567")
    assert agent.json("home/part", DATA, copy=CODE, offset=0)[0] == 404
    assert whole(agent)[0] == 404
    assert [copy.code for copy in HomeCopy.objects.all()] == ["deadbeef01234567"]


@pytest.mark.parametrize("code", ["../../../etc/x", "c0ffee/../../a", "", "C0FFEE0123456789", "z" * 16, "a" * 33])
def test_names_are_no_paths(agent, code):
    assert room(agent, code=code)[0] == 400
    assert agent.json("home/part", b"x", copy=code, offset=0)[0] == 400


def test_nobody_elses_home(agent, desk, clock, owner, wing, stranger):
    room(agent)
    agent("home/part", DATA, copy=CODE, offset=0)
    whole(agent)
    pk = HomeCopy.objects.get().pk
    factories.budget(member=stranger)
    other = Agent(desks.start(factories.workstation(stranger), clock).agent.token)
    assert other.json(f"input/home-{pk}", method="GET")[0] == 404
    assert other.json("home/part", b"x", copy=CODE, offset=0)[0] == 404
    assert whole(other)[0] == 404
    assert Agent(agent.token, "wrong").json(f"input/home-{pk}", method="GET")[0] == 401


def test_a_job_has_no_home(clock, owner, wing):
    factories.budget(wing, 1000)
    work = factories.job(owner, project=wing).workload
    work.submit(owner, clock())
    playing.turn_all(clock)
    agent = Agent(playing.boot(work, clock)[0].token)
    assert room(agent)[0] == 404
    assert agent.json("input/home-1", method="GET")[0] == 404


def test_after_the_release_nothing_is_taken(agent, desk, clock):
    desk.work.workstation.stop(desk.work.owner, force=True, now=clock())
    desks.turn(clock)
    nodes._callers.clear()
    assert room(agent) == (410, {"message": "released"})


def test_a_beat_leaves_signs_of_work(agent, desk, clock):
    assert agent("beat", {"clock": 1000.0, "input_at": 990.0, "busy": 2.0, "cpu": 2.1})[0] == 200
    directory = logs.attempt_dir(desk.work.public_id, 1)
    assert logs.last_touched(directory, "processor") > logs.last_touched(directory, "input")
    assert logs.last_touched(directory, "solver") is None


def test_a_file_that_was_sent_is_fetched_in_parts_and_told_once(agent, desk, owner):
    file = storing.keep(owner, "deck.inp", io.BytesIO(DATA), len(DATA))
    (row,) = sending.send(desk.work.workstation, [file], owner, timezone.now())
    told = agent.json("beat", {"cpu": 0})[1]["orders"]["bring"]
    assert told == [{"id": row.pk, "name": "deck.inp", "size": len(DATA), "sha256": file.sha256, "mode": 0o644}]
    assert agent(f"input/sent-{row.pk}", method="GET") == (200, DATA)
    assert agent(f"input/sent-{row.pk}", method="GET", headers=[(b"range", b"bytes=1000-")]) == (206, DATA[1000:])
    for _ in range(2):
        status, answer = agent.json("brought", {"id": row.pk, "name": "deck.inp"})
        assert (status, answer["orders"]["bring"]) == (200, [])
    assert agent(f"input/sent-{row.pk}", method="GET")[0] == 404
    assert agent("brought", {"name": "deck.inp"})[0] == 400


def test_files_of_others_and_lost_ones_are_not_sent(agent, desk, owner, stranger):
    other = factories.workstation(stranger)
    file = storing.keep(stranger, "deck.inp", io.BytesIO(DATA), len(DATA))
    (row,) = sending.send(other, [file], stranger, timezone.now())
    assert agent(f"input/sent-{row.pk}", method="GET")[0] == 404
    lost = storing.keep(owner, "lost.inp", io.BytesIO(DATA), len(DATA))
    (row,) = sending.send(desk.work.workstation, [lost], owner, timezone.now())
    default_storage.delete(lost.key)
    assert agent(f"input/sent-{row.pk}", method="GET")[0] == 404
    assert agent("input/sent-x", method="GET")[0] == 400


def test_parts_through_two_processes_are_hashed_from_the_file(agent, desk):
    """Each knows only of its own; what was kept up elsewhere counts for nothing."""
    room(agent)
    for at in range(0, len(DATA), 256_000):
        if at == 512_000:
            homes._hashes.clear()
        agent("home/part", DATA[at : at + 256_000], copy=CODE, offset=at)
    assert not homes._hashes
    assert whole(agent) == (200, {"ok": True})


def test_a_wrong_hash_is_noticed_though_it_was_kept_up(agent, desk):
    room(agent)
    agent("home/part", DATA, copy=CODE, offset=0)
    assert len(homes._hashes) == 1
    assert whole(agent, sha256="0" * 64) == (409, {"size": 0})
    assert not homes._hashes


def test_copies_that_lack_files_do_not_take_the_place_of_the_last_one_that_lacks_none(agent, desk):
    def one(number, **said):
        code = f"{number:016x}"
        room(agent, code)
        agent("home/part", DATA, copy=code, offset=0)
        assert whole(agent, code, **said) == (200, {"ok": True})
        return [int(copy.code, 16) for copy in HomeCopy.objects.all()]

    lacks = {"unread": 1, "skipped": [["mesh", "could not be read: Input/output error"]]}
    assert [one(1), one(2), one(3, **lacks)] == [[1], [2, 1], [3, 2]]
    assert one(4, **lacks) == [4, 3, 2]
    assert one(5, **lacks) == [5, 4, 2]
    assert one(6) == [6, 5]
    assert sorted(path.name for path in Path(default_storage.path(f"homes/{desk.work.public_id}")).iterdir()) == [f"{5:016x}", f"{6:016x}"]
