"""Which addresses a webhook may reach: those of the public internet, and the networks that the admin has named.

One idea: what matters is where a packet would go. An IPv6 address that carries an IPv4 one (mapped, compatible, 6to4, Teredo,
NAT64) must pass with both. If a name has one address that must not be reached, it is refused whole.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterator
from urllib.parse import SplitResult, quote, urlsplit, urlunsplit

from django.conf import settings

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
NAT64 = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("64:ff9b:1::/48"))
COMPATIBLE = ipaddress.ip_network("::/96")
SPECIAL = [
    ipaddress.ip_network(text) for text in ("192.0.0.0/24", "192.88.99.0/24", "2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16")
]
"""Not for the public internet (IANA's registries of special addresses), though some versions of Python say so."""
LONGEST = 2000


class Forbidden(Exception):
    """The address must not be called; the text is for the one who gave it."""


def clean_url(text: str) -> str:
    """An address as it will be called. Raises Forbidden. No name is looked up: that happens at each call."""
    parts = _split(text.strip())
    host = _host(parts)
    try:
        port = f":{parts.port}" if parts.port is not None else ""
    except ValueError:
        raise Forbidden("Its port is a number up to 65535.") from None
    _refuse_literal(host)
    place = f"[{host}]" if ":" in host else host
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    url = urlunsplit((parts.scheme.lower(), place + port, path, quote(parts.query, safe="/?%:@!$&'()*+,;=~-._"), ""))
    if len(url) > LONGEST:
        raise Forbidden(f"An address has at most {LONGEST:,} characters.")
    return url


def looked_up(host: str, port: int) -> list[str]:
    """The addresses of a name, each judged, in the order to try them. Raises Forbidden, OSError if there are none."""
    try:
        found = dict.fromkeys(str(info[4][0]) for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
    except UnicodeError:
        raise Forbidden("Its host is no name that there can be.") from None
    for one in found:
        if not may_reach(one):
            raise Forbidden(f"{host} leads to an address inside of a network; only public ones may be called.")
    return list(found)


def may_reach(text: str) -> bool:
    """Whether this IP address may be called."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    if _allowed(address):
        return True
    return all(_is_public(one) for one in (address, *_carried(address)))


def networks() -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    """Those of WEBHOOK_NETWORKS. Raises ValueError."""
    return [ipaddress.ip_network(text, strict=False) for text in settings.WEBHOOK_NETWORKS]


# --- private ----------------------------------------------------------------------------------------------------------
def _split(text: str) -> SplitResult:
    if any(ord(letter) <= 32 or ord(letter) == 127 or letter == "\\" for letter in text):
        raise Forbidden("An address has no spaces, backslashes or control characters.")
    try:
        parts = urlsplit(text)
    except ValueError:
        raise Forbidden("That is no address.") from None
    if parts.scheme.lower() not in ("http", "https"):
        raise Forbidden("It starts with http:// or https://.")
    if "@" in parts.netloc:
        raise Forbidden("It can't hold a user name or a password; the signature says who sends.")
    return parts


def _host(parts: SplitResult) -> str:
    host = (parts.hostname or "").rstrip(".")
    try:
        ascii_host = host if ":" in host else host.encode("idna").decode("ascii")
    except UnicodeError:
        raise Forbidden("Its host is no name that there can be.") from None
    if not ascii_host or "%" in ascii_host:
        raise Forbidden("It names no host.")
    return ascii_host


def _refuse_literal(host: str) -> None:
    """What needs no look-up to be refused, said at once."""
    try:
        literal = "127.0.0.1" if host == "localhost" or host.endswith(".localhost") else str(ipaddress.ip_address(host))
    except ValueError:
        return
    if not may_reach(literal):
        raise Forbidden(f"{host} is not a public address; an admin can allow networks (WEBHOOK_NETWORKS).")


def _allowed(address: Address) -> bool:
    mapped = getattr(address, "ipv4_mapped", None) or address
    return any(mapped.version == network.version and mapped in network for network in networks())


def _is_public(address: Address) -> bool:
    if isinstance(address, ipaddress.IPv6Address) and (address.is_site_local or address.scope_id):
        return False
    if any(address.version == network.version and address in network for network in SPECIAL):
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified or address.is_loopback)


def _carried(address: Address) -> Iterator[ipaddress.IPv4Address]:
    """The IPv4 addresses that an IPv6 one leads to."""
    if isinstance(address, ipaddress.IPv4Address):
        return
    if address.ipv4_mapped:
        yield address.ipv4_mapped
    if address.sixtofour:
        yield address.sixtofour
    if address.teredo:
        yield from address.teredo
    if address in COMPATIBLE or any(address in network for network in NAT64):
        yield ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
