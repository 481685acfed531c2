"""Ranges of a log by HTTP, and the whole of it as a download."""

import factories
import pytest
from django.test import AsyncClient

from jobs import logs

DATA = b"".join(b"line %d\n" % number for number in range(1000)) + b"unfinished"


@pytest.fixture
def work(owner, wing, settings, tmp_path):
    settings.LOGS_DIR = tmp_path
    return factories.job(owner, project=wing, attempt=2).workload


@pytest.fixture
def folder(work):
    return logs.attempt_dir(work.public_id, 2)


@pytest.fixture
def log(folder):
    logs.write(folder, "stdout", 0, 0, DATA)


@pytest.fixture
def ask(client, work, owner, log):
    client.force_login(owner)
    return lambda what, **query: client.get(f"/jobs/{work.public_id}/log/{what}", query)


@pytest.mark.django_db
def test_bytes_of_a_range(ask, folder):
    assert ask("bytes", **{"from": 5, "to": 15}).content == DATA[5:15]
    assert ask("bytes").content == DATA
    assert ask("bytes", **{"from": 10**12}).content == b""
    assert ask("bytes", **{"from": 5, "to": 2}).content == b""
    answer = ask("bytes")
    assert answer["Content-Type"] == "application/octet-stream"
    assert answer["X-Content-Type-Options"] == "nosniff"


@pytest.mark.django_db
def test_never_more_than_four_mebibytes(ask, folder):
    for at in range(6):
        logs.write(folder, "stdout", 0, len(DATA) + (at << 20), b"x" * (1 << 20))
    assert len(ask("bytes", to=10**9).content) == 4 << 20


@pytest.mark.django_db
def test_lines_with_the_offset_where_they_end(ask):
    assert ask("lines", line=2, count=2).json() == {"first": 2, "offsets": [14, 21, 28], "total": 1001}
    assert ask("lines", line=1000, count=5).json() == {"first": 1000, "offsets": [len(DATA) - 10, len(DATA)], "total": 1001}
    assert ask("lines", line=0, count=0).json() == {"first": 0, "offsets": [], "total": 1001}
    assert ask("lines", line=5000).json()["offsets"] == []
    assert ask("lines", line="x", count="-7").json()["first"] == 0


@pytest.mark.django_db
def test_search_with_where_to_go_on(ask):
    assert ask("search", q="LINE 99", after=500).json() == {
        "hits": [[number, DATA.index(b"line %d\n" % number)] for number in range(990, 1000)],
        "more": False,
        "last": 1000,
    }
    first = ask("search", q="line").json()
    assert (len(first["hits"]), first["more"], first["last"]) == (100, True, 99)
    assert ask("search", q="").json()["hits"] == []


@pytest.mark.django_db
def test_a_log_that_has_not_begun_is_empty(client, work, owner):
    client.force_login(owner)
    for what in "bytes", "lines", "search?q=x":
        assert client.get(f"/jobs/{work.public_id}/log/{what}").status_code == 200


@pytest.mark.django_db(transaction=True)
async def test_the_download_is_the_log(work, log, owner):
    client = AsyncClient()
    await client.aforce_login(owner)
    answer = await client.get(f"/jobs/{work.public_id}/log/download")
    assert b"".join([piece async for piece in answer]) == DATA
    assert answer["Content-Length"] == str(len(DATA))
    assert f'filename="{work.public_id}-2-stdout.log"' in answer["Content-Disposition"]
    part = await client.get(f"/jobs/{work.public_id}/log/download", headers={"range": "bytes=5-9"})
    assert part.status_code == 206
    assert b"".join([piece async for piece in part]) == DATA[5:10]


@pytest.mark.django_db(transaction=True)
async def test_a_download_names_what_is_not_kept(work, folder, log, owner):
    logs.gap(folder, "stdout", 0, len(DATA), 10**10, "log limit")
    logs.write(folder, "stdout", 0, 10**10, b"tail\n")
    client = AsyncClient()
    await client.aforce_login(owner)
    answer = await client.get(f"/jobs/{work.public_id}/log/download")
    missing = 10**10 - len(DATA)
    words = b"\n[%d bytes from offset %d on are not kept: log limit]\n" % (missing, len(DATA))
    assert b"".join([piece async for piece in answer]) == DATA + words + b"tail\n"


@pytest.mark.django_db(transaction=True)
async def test_an_output_file_that_was_tailed_keeps_its_name(work, folder, owner):
    logs.write(folder, "file:results/größe 1.dat", 0, 0, b"1")
    client = AsyncClient()
    await client.aforce_login(owner)
    answer = await client.get(f"/jobs/{work.public_id}/log/download", {"stream": "file:results/größe 1.dat"})
    assert "filename*=UTF-8''gr%C3%B6%C3%9Fe%201.dat" in answer["Content-Disposition"]


@pytest.mark.django_db
def test_an_older_generation_and_an_older_attempt_can_be_read(ask, work, folder):
    logs.write(folder, "stdout", 1, 0, b"new")
    logs.write(logs.attempt_dir(work.public_id, 1), "stdout", 0, 0, b"first attempt")
    assert ask("bytes").content == b"new"
    assert ask("bytes", generation=0).content == DATA
    assert ask("bytes", attempt=1).content == b"first attempt"


@pytest.mark.django_db
@pytest.mark.parametrize("query", [{"attempt": 0}, {"attempt": 3}, {"stream": "file:../x"}, {"stream": "a/b"}, {"stream": ""}])
def test_a_log_that_can_not_be_is_404(ask, query):
    assert ask("bytes", **query).status_code == 404


@pytest.mark.django_db
@pytest.mark.parametrize("what", ["bytes", "lines", "search", "download"])
def test_only_who_may_see_the_job(client, work, log, member, stranger, admin, what):
    address = f"/jobs/{work.public_id}/log/{what}"
    assert client.get(address).status_code == 404
    for user, status in (stranger, 404), (member, 200), (admin, 200):
        client.force_login(user)
        assert client.head(address).status_code == status
        assert client.post(address).status_code in (405, 404)
    assert client.get(f"/jobs/nobody/log/{what}").status_code == 404
