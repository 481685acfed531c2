"""Where a webhook may go: nowhere inside, however it is written, however many addresses a name has."""

from __future__ import annotations

import socket

import pytest

from jobs.checks import webhook_networks_are_networks
from jobs.webhooks import addresses
from jobs.webhooks.addresses import Forbidden, clean_url, looked_up, may_reach

INSIDE = """127.0.0.1 127.8.9.1 0.0.0.0 0.1.2.3 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 100.64.0.1 169.254.169.254 192.0.0.8 192.0.2.1
198.18.0.1 198.51.100.7 203.0.113.9 224.0.0.1 239.1.1.1 240.0.0.1 255.255.255.255 ::1 :: fe80::1 fe80::1%eth0 fc00::1 fd00:ec2::254 ff02::1
ff0e::1 fec0::1 2001:db8::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::127.0.0.1 ::10.0.0.1 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe
64:ff9b:1::a00:1 2002:7f00:1:: 2002:a00:1::1 2001:0:a00:1:: 2001:0:4136:e378:8000:63bf:f5ff:fffe nonsense""".split()
OUTSIDE = ["93.184.216.34", "8.8.8.8", "2606:4700:4700::1111", "2a00:1450:4001:830::200e"]


@pytest.mark.parametrize("text", INSIDE)
def test_inside_is_refused(text):
    assert not may_reach(text)


@pytest.mark.parametrize("text", OUTSIDE)
def test_outside_is_allowed(text):
    assert may_reach(text)


def test_an_admin_allows_networks_by_name_and_no_more(settings):
    settings.WEBHOOK_NETWORKS = ["10.1.0.0/16", "127.0.0.1", "fd00::/8"]
    assert may_reach("10.1.2.3")
    assert may_reach("::ffff:10.1.2.3")
    assert may_reach("fd12::1")
    assert may_reach("127.0.0.1")
    assert not may_reach("10.2.0.1")
    assert not may_reach("127.0.0.2")
    assert not may_reach("169.254.169.254")
    assert webhook_networks_are_networks(None) == []


def test_a_network_that_is_none_is_said_at_start(settings):
    settings.WEBHOOK_NETWORKS = ["10.1.0.0/99"]
    assert [found.id for found in webhook_networks_are_networks(None)] == ["headrace.E003"]


@pytest.fixture
def names(monkeypatch):
    """What names lead to; counts the look-ups."""
    known, asked = {}, []

    def found(host, port, *args, **kwargs):
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in known[host]]

    monkeypatch.setattr(addresses.socket, "getaddrinfo", found)
    return known, asked


def test_one_address_inside_refuses_the_whole_name(names):
    names[0]["good.example"] = ["93.184.216.34", "8.8.8.8", "8.8.8.8"]
    names[0]["bad.example"] = ["93.184.216.34", "192.168.0.1"]
    assert looked_up("good.example", 443) == ["93.184.216.34", "8.8.8.8"]
    with pytest.raises(Forbidden, match="inside of a network"):
        looked_up("bad.example", 443)


@pytest.mark.parametrize("host", ["2130706433", "0x7f.1", "0177.0.0.1", "127.1", "localhost"])
def test_odd_ways_to_write_this_machine(host):
    with pytest.raises((Forbidden, OSError)):
        looked_up(host, 80)


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("https://Example.org", "https://example.org/"),
        (" http://example.org:8080/a b?x=é ".replace(" b", "%20b"), "http://example.org:8080/a%20b?x=%C3%A9"),
        ("https://bücher.example/h", "https://xn--bcher-kva.example/h"),
        ("https://[2606:4700:4700::1111]:99/x#part", "https://[2606:4700:4700::1111]:99/x"),
        ("HTTPS://example.org./", "https://example.org/"),
    ],
)
def test_an_address_is_kept_as_it_will_be_called(text, clean):
    assert clean_url(text) == clean


@pytest.mark.parametrize(
    "text",
    ["", "example.org", "ftp://example.org/", "file:///etc/passwd", "gopher://x/", "http://", "http:///x", "http://user:secret@example.org/", "http://127.0.0.1/", "http://[::1]/",
     "http://localhost/", "http://a.localhost:80/", "http://169.254.169.254/latest/", "http://[::ffff:127.0.0.1]/", "http://ex ample.org/", "http://example.org/\r\nX: y",
     "http://example.org\\@127.0.0.1/", "http://example.org:99999/", "http://example.org:x/", "http://[fe80::1%25eth0]/", "http://" + "a" * 70 + ".org/", "http://[::1", "http://x/" + "y" * 2000],
)  # fmt: skip
def test_what_is_no_address_to_call(text):
    with pytest.raises(Forbidden):
        clean_url(text)
