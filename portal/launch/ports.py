"""Addresses: is the port free, does the page answer."""

from __future__ import annotations

import http.client
import socket
import urllib.error
import urllib.request

from django.conf import settings

from . import Refusal

ANY = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104


def free(host: str, port: int) -> int:
    """`port`, or any free one for 0; tried by binding it. Raises Refusal."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except OSError:
        raise Refusal(f"{host} is not an address of this machine") from None
    with socket.socket(family, kind, protocol) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
            probe.listen(1)
        except OSError as error:
            raise Refusal(_why(host, port, error)) from None
        return probe.getsockname()[1]


def url(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def reachable(host: str) -> str:
    """The host that a program on this machine uses to reach one that listens on `host`."""
    return ANY.get(host, host)


def answers(address: str, timeout: float = 2) -> str:
    """"" if the page really answers, else what was wrong. Follows redirects; asks no proxy."""
    headers = {"X-Forwarded-Proto": "https"} if settings.HTTPS else {}
    if settings.ALLOWED_HOSTS and "*" not in settings.ALLOWED_HOSTS:
        headers["Host"] = settings.ALLOWED_HOSTS[0].lstrip(".")
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(urllib.request.Request(address, headers=headers), timeout=timeout) as answer:
            answer.read(1)
        return ""
    except urllib.error.HTTPError as error:
        return f"{error.code} {error.reason}"
    except (OSError, http.client.HTTPException) as error:
        return str(getattr(error, "reason", error))


def _why(host: str, port: int, error: OSError) -> str:
    if error.errno == 98:  # EADDRINUSE
        return f"Port {port} on {host or 'this machine'} is in use; choose another one with --port"
    if error.errno == 13:  # EACCES
        return f"Port {port} may only be opened by root; choose one above 1023 with --port"
    if error.errno == 99:  # EADDRNOTAVAIL
        return f"{host} is not an address of this machine"
    return f"Port {port} on {host} cannot be opened: {error.strerror}"
