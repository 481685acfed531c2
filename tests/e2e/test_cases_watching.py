"""Stories of those who watch: reconnects, bursts, stuck viewers, strange bytes, endless logs, strangers at the door."""

from __future__ import annotations

import hashlib
import json
import random
import re
import threading
from contextlib import suppress

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from tests.e2e.promises import nothing_left

LINES = b"".join(b"line %d\n" % number for number in range(1, 5001))
BURST = 300_000
HTML = "<img src=x onerror=alert(document.cookie)>"


class Viewer:
    """Follows a log by the socket as the page does: says from where, acknowledges, goes on at its own offset after a cut."""

    def __init__(self, work, cookie):
        self.work, self.got, self.info = work, b"", {}
        self.gaps = []
        self.headers = {"Cookie": f"sessionid={cookie}"}
        self.address = f"{work.portal.url.replace('http', 'ws')}/live/jobs/{work.id}/log/"

    def open(self):
        return connect(self.address, additional_headers=self.headers, origin=self.work.portal.url, max_size=1 << 20, open_timeout=60)

    def follow(self, cut_after=None):
        """Reads until the log is sealed and all of it is here, or until that many bytes came."""
        begun = len(self.got)
        with self.open() as socket:
            socket.send(json.dumps({"type": "follow", "from": len(self.got)}))
            while not self.complete and (cut_after is None or len(self.got) - begun < cut_after):
                self.take(socket.recv(timeout=90))
                socket.send(json.dumps({"type": "ack", "offset": len(self.got)}))

    @property
    def complete(self):
        return bool(self.info.get("ended")) and len(self.got) >= self.info["size"]

    def take(self, message):
        if isinstance(message, str):
            self.info = json.loads(message)
            return
        offset, data = int.from_bytes(message[:8], "big"), message[8:]
        assert offset >= len(self.got), "no byte comes twice"
        if offset > len(self.got):
            assert any(start <= len(self.got) and offset <= end for start, end, _ in self.info["gaps"]), "what is left out is named"
        self.got += bytes(offset - len(self.got)) + data


@pytest.fixture(scope="module")
def cookie(engineer):
    return engineer.cookie()


def test_twenty_viewers_that_come_and_go_get_every_line_once(engineer, cookie):
    work = engineer.submit('for i in $(seq 5000); do echo "line $i"; [ $((i % 250)) = 0 ] && sleep 0.2; done; true', "watched by many")
    work.reaches("Running Job", "Stopping Cluster", "Completed")
    viewers, wrong = [Viewer(work, cookie) for _ in range(20)], []
    threads = [threading.Thread(target=_watch, args=(viewer, random.Random(seed), wrong)) for seed, viewer in enumerate(viewers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert wrong == []
    assert [viewer.got == LINES for viewer in viewers] == [True] * 20


def _watch(viewer, chance, wrong):
    """Every second one drops now and then and comes back."""
    try:
        while not viewer.complete:
            viewer.follow(chance.randrange(2000, 20_000) if chance.random() < 0.5 else None)
    except BaseException as error:
        wrong.append(repr(error))


def test_a_burst_of_lines_reaches_all_but_the_stuck_viewer_who_is_harmless(engineer, cookie):
    work = engineer.submit(f"sleep 1; yes 0123456789 | head -n {BURST}", "burst", pipefail=False)
    work.reaches("Running Job", "Stopping Cluster", "Completed")
    reader, late, stuck = (Viewer(work, cookie) for _ in range(3))
    with stuck.open() as never_reads, late.open() as pausing:
        for socket in (never_reads, pausing):
            socket.send(json.dumps({"type": "follow", "from": 0}))
        reader.follow()
        work.ends()
        _read_on(late, pausing)
    assert reader.got == late.got == b"0123456789\n" * BURST
    assert reader.info["complete"]
    assert reader.info["sha256"] == hashlib.sha256(reader.got).hexdigest()
    assert httpx.get(f"{engineer.portal.url}/health/", trust_env=False).status_code == 200


def _read_on(viewer, socket):
    """A viewer that did not read for a while: what came meanwhile waits, then it goes on; a new socket after a cut."""
    with suppress(ConnectionClosed):
        while not viewer.complete:
            viewer.take(socket.recv(timeout=30))
            socket.send(json.dumps({"type": "ack", "offset": len(viewer.got)}))
        return
    viewer.follow()


def test_progress_by_carriage_returns_is_seen_moving_and_kept_raw(engineer, cookie):
    code = "import time\nfor i in range(300):\n    print(f'\\r{i / 3:.1f}%', end='', flush=True)\n    time.sleep(0.01)\nprint()\n"
    work = engineer.submit("python3 -u bar.py", "bar", inputs=[engineer.upload("bar.py", code.encode())])
    work.reaches("Running Job", "Stopping Cluster", "Completed")
    viewer = Viewer(work, cookie)
    frames = []
    with viewer.open() as socket:
        socket.send(json.dumps({"type": "follow", "from": 0}))
        while not viewer.complete:
            message = socket.recv(timeout=90)
            viewer.take(message)
            frames += [] if isinstance(message, str) else [len(message)]
            socket.send(json.dumps({"type": "ack", "offset": len(viewer.got)}))
    expected = "".join(f"\r{i / 3:.1f}%" for i in range(300)).encode() + b"\n"
    assert viewer.got == work.log() == expected
    assert len(frames) > 3, "it does not wait for the end of the line"
    assert work.person.api.get(f"/jobs/{work.id}/runs/1/tail/process_output.log").status_code == 200


def test_nul_bytes_and_wrong_text_do_not_stop_a_job_from_ending(engineer):
    work = engineer.submit(r"printf 'a\0b\n'; head -c 1000 /dev/zero; printf '\xff\xfe\033[31m'; touch \"$(printf 'x\xff')\"; echo end; exit 4", "nul", pipefail=False)
    end = work.ends()
    assert (end["headraceStatus"], end["exitCode"]) == ("Failed", 4)
    assert work.log() == b"a\0b\n" + bytes(1000) + b"\xff\xfe\033[31mend\n"
    page = _page(engineer, f"/jobs/{work.id}/")
    assert page.status_code == 200
    assert b"\0" not in page.content
    nothing_left([work])


def test_html_in_logs_names_and_files_is_text_everywhere(engineer):
    evil = engineer.upload(f"{HTML[:20]}.html", HTML.encode())
    work = engineer.submit(f'echo "{HTML}"; echo "</pre><script>alert(1)</script>"; cp *.html copy.html; exit 3', HTML, inputs=[evil])
    assert work.ends()["headraceStatus"] == "Failed"
    for tab in ("", "output/", "files/", "timeline/", "settings/"):
        page = _page(engineer, f"/jobs/{work.id}/{tab}")
        assert page.status_code == 200
        assert "<img src=x" not in page.text
        assert "<script>alert" not in page.text
        assert "script-src" in page.headers["content-security-policy"] or "default-src 'self'" in page.headers["content-security-policy"]
    assert "<img src=x" not in _page(engineer, "/jobs/").text
    index = next(number for number, entry in enumerate(work.manifest()) if entry["path"] == "copy.html")
    file = _page(engineer, f"/jobs/{work.id}/files/{index}/?inline=1")
    assert file.headers["content-disposition"].startswith("attachment")
    assert "sandbox" in file.headers["content-security-policy"]
    assert file.headers["content-type"] == "application/octet-stream"


def _page(person, path):
    if not hasattr(person, "session"):
        person.session = person.cookie()
    return httpx.get(f"{person.portal.url}{path}", cookies={"sessionid": person.session}, timeout=60, trust_env=False)


def test_a_log_without_end_keeps_its_beginning_and_its_end(portal, engineer):
    neighbour = engineer.submit("sleep 1; echo unhurt", "beside it")
    work = engineer.submit("timeout 3 yes 'no end of this'; echo END; exit 2", "endless", pipefail=False)
    end = work.ends()
    assert (end["headraceStatus"], end["exitCode"]) == ("Failed", 2)
    assert neighbour.ends()["headraceStatus"] == "Completed"
    seal = json.loads((portal.data / "logs" / work.id / "1" / "stdout.0.seal").read_text())
    path = portal.data / "logs" / work.id / "1" / "stdout.0.log"
    assert path.read_bytes()[:15] == b"no end of this\n"
    assert path.read_bytes()[-4:] == b"END\n"
    assert seal["size"] == seal["agent_size"] == path.stat().st_size
    if seal["size"] > 26 << 20:
        assert path.stat().st_blocks * 512 < 27 << 20
        gaps = json.loads(portal.run(f"import json; from jobs import logs; print(json.dumps([[g.start, g.end] for g in logs.gaps(logs.attempt_dir('{work.id}', 1), 'stdout')]))"))
        assert len(gaps) >= 1
        assert gaps[0][0] == 24 << 20
        assert re.search(r"gaps? of [0-9,]+ bytes", _page(engineer, f"/jobs/{work.id}/output/").text)
    nothing_left([work, neighbour])


def test_strangers_and_foreign_pages_are_refused_before_accept(portal, engineer, cookie):
    stranger = portal.person("bob")
    work = engineer.submit("echo secret; sleep 1", "private")
    good, other = {"Cookie": f"sessionid={cookie}"}, {"Cookie": f"sessionid={stranger.cookie()}"}
    base = portal.url.replace("http", "ws")
    for path in (f"/live/jobs/{work.id}/log/", f"/live/jobs/{work.id}/?page=status", f"/live/jobs/{work.id}/health/"):
        for origin, headers in (("http://evil.test", good), (portal.url, {}), (portal.url, other)):
            with pytest.raises(InvalidStatus) as refused:
                connect(base + path, additional_headers=headers, origin=origin, open_timeout=60)
            assert refused.value.response.status_code == 403
    assert stranger.api.get(f"/jobs/{work.id}/").status_code == 404
    assert stranger.api.get(f"/jobs/{work.id}/log/").status_code == 404
    assert stranger.api.post(f"/jobs/{work.id}/stop/").status_code == 404
    assert _page(stranger, f"/jobs/{work.id}/").status_code == 404
    assert work.ends()["headraceStatus"] == "Completed"
