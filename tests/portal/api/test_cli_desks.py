"""The client's commands for workstations' files: paths and ids sent, patterns taken, refusals in words."""

from __future__ import annotations

import json
import os

import httpx
import pytest
from click.testing import CliRunner

from portal.cli import desks
from portal.cli.api import Api, Refused
from portal.cli.app import headrace
from portal.cli.config import Config

ENTRIES = [("case", "folder"), ("case/U", "file"), ("case/sub/p", "file"), ("notes", "file"), ("case/link", "link")]


class Portal:
    """Answers as the portal does, and keeps what was asked for."""

    def __init__(self):
        self.asked, self.copies = [], [{"id": 7, "dateMade": "2026-04-20T17:06:32.000000Z"}]

    def __call__(self, request):
        path = request.url.path.removeprefix("/api/v2/workstations/aBcDeF/")
        self.asked.append((request.method, path, json.loads(request.content) if request.content else None))
        return httpx.Response(200, json={"results": self.answer(path), "next": None})

    def answer(self, path):
        body = self.asked[-1][2]
        if path == "sent/":
            return [{"fileId": key, "size": 3, "path": f"{key}.txt", "status": "waiting"} for key in body["files"]]
        if path.endswith("take/"):
            return [{"id": f"f{at}", "size": 3, "relativePath": ENTRIES[at][0]} for at in body["files"]]
        if path.endswith("files/"):
            return [{"index": at, "path": name, "kind": kind} for at, (name, kind) in enumerate(ENTRIES)]
        return self.copies


@pytest.fixture
def portal(monkeypatch):
    made = Portal()

    def api(_):
        calls = Api(Config("http://portal.test", "hr_x"))
        calls.http = httpx.Client(base_url="http://portal.test", transport=httpx.MockTransport(made))
        return calls

    monkeypatch.setattr(desks, "Api", api)
    monkeypatch.setattr(desks.config, "read", lambda: None)
    return made


def run(*words):
    answer = CliRunner().invoke(headrace, words)
    return answer.exit_code, answer.output


def test_paths_are_uploaded_and_ids_go_as_they_are(portal, monkeypatch, tmp_path):
    (tmp_path / "deck.inp").write_text("*NODE")
    monkeypatch.setattr(desks, "upload", lambda calls, path, name, tell: f"up-{name}")
    code, told = run("send", "aBcDeF", str(tmp_path / "deck.inp"), "jOBjob-1-0", "--json")
    assert (code, [row["fileId"] for row in json.loads(told)]) == (0, ["up-deck.inp", "jOBjob-1-0"])
    assert portal.asked == [("POST", "sent/", {"files": ["up-deck.inp", "jOBjob-1-0"]})]


def test_folders_go_with_all_that_is_in_them_whatever_their_names(portal, monkeypatch, tmp_path):
    for name in (b"plain", b"d\xfe"):
        folder = tmp_path / os.fsdecode(name)
        (folder / "sub").mkdir(parents=True)
        (folder / os.fsdecode(b"a\xff")).write_text("1")
        (folder / "sub" / "b").write_text("2")
        sent = []
        monkeypatch.setattr(desks, "upload", lambda calls, path, name, tell, sent=sent: sent.append(os.fsencode(name)) or f"up{len(sent)}")
        assert run("send", "aBcDeF", str(folder))[0] == 0
        assert sent == [name + b"/a\xff", name + b"/sub/b"]
    assert [body for _, _, body in portal.asked] == [{"files": ["up1", "up2"]}] * 2


@pytest.mark.parametrize(("name", "words"), [(b"empty", "without files"), (b"gone\xfe", "no file here"), (b"no/such", "no file here")])
def test_what_can_not_be_sent_is_refused_in_words(portal, monkeypatch, tmp_path, name, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    answer = CliRunner().invoke(headrace, ["send", "aBcDeF", os.fsdecode(name)])
    assert isinstance(answer.exception, (SystemExit, Refused)) and words in answer.output + str(answer.exception)
    assert not portal.asked


def test_many_go_in_several_requests(portal):
    run("send", "aBcDeF", *(f"id{number}" for number in range(501)))
    assert [len(body["files"]) for _, _, body in portal.asked] == [500, 1]


def test_what_matches_is_taken_and_its_ids_are_printed(portal):
    code, told = run("take", "aBcDeF", "case/*", "--json")
    assert (code, [row["id"] for row in json.loads(told)]) == (0, ["f1", "f2"])
    assert portal.asked[-1] == ("POST", "copies/7/take/", {"files": [1, 2]})


def test_nothing_to_take_is_said(portal):
    code, told = run("take", "aBcDeF", "nothing*")
    assert (code, "No file in the copy of 2026-04-20 17:06 UTC matches" in told) == (125, True)
    portal.copies = []
    assert "There is no copy of its home yet" in run("take", "aBcDeF", "*")[1]
