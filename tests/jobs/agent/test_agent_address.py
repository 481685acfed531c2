"""An agent finds a portal that came back on another port."""

import json

from jobs.agent.address import Address
from jobs.agent.config import parse

LINES = "for n in $(seq 100); do echo $n; sleep 0.02; done"


def config(tmp_path, text=None, **more):
    file = tmp_path / "portal"
    if text is not None:
        file.write_text(text)
    given = {"portal": "http://127.0.0.1:8000/", "token": "t", "secret": "s", "folder": str(tmp_path), "workdir": str(tmp_path / "work")}
    return parse(given | {"portal_file": str(file)} | more)


def test_without_a_file_the_first_address_holds(tmp_path):
    address = Address(config(tmp_path))
    assert not address.look_again()
    assert address.url == "http://127.0.0.1:8000"
    assert Address(config(tmp_path, portal_file=None)).url == "http://127.0.0.1:8000"


def test_the_file_says_where_it_is_now(tmp_path):
    address = Address(config(tmp_path))
    (tmp_path / "portal").write_text(json.dumps("http://127.0.0.1:9000/"))
    assert address.look_again()
    assert (address.url, address.parts.port) == ("http://127.0.0.1:9000", 9000)
    assert not address.look_again()


def test_what_makes_no_sense_is_passed_over(tmp_path):
    for text in "", "{", "[]", '"ftp://127.0.0.1"', '"https://127.0.0.1"', '"http://"', "\xff", '"x' + "y" * 5000:
        assert Address(config(tmp_path, text)).url == "http://127.0.0.1:8000", text


def test_a_portal_on_another_port_loses_no_byte(make_agent, portal, tmp_path, until):
    file = tmp_path / "portal"
    agent = make_agent(portal_file=str(file))
    portal.spec["commands"] = [LINES]
    agent.start()
    until(lambda: portal.log())
    portal.stop()
    before = portal.port
    portal.start()
    file.write_text(json.dumps(f"http://127.0.0.1:{portal.port}"))
    agent.finished()
    assert portal.port != before
    assert portal.log() == b"".join(b"%d\n" % number for number in range(1, 101))
