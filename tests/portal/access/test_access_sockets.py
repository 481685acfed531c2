"""Every socket x owner, member of the project, stranger, anonymous, admin: refused before it is accepted; foreign pages too."""

from __future__ import annotations

import asyncio

import pytest
from channels.testing import WebsocketCommunicator
from django.test import Client

from tests.portal.access.rights import ROLES

pytestmark = pytest.mark.django_db(transaction=True)

SOCKETS = [
    "/live/workstations/{desk}/?page=status",
    "/live/workstations/{desk}/health/",
    "/live/jobs/{id}/?page=status",
    "/live/jobs/{id}/log/?attempt=1&stream=stdout",
    "/live/jobs/{id}/health/",
]


@pytest.mark.parametrize("path", SOCKETS)
@pytest.mark.parametrize("role", ROLES)
async def test_sockets_are_refused_before_accept(people, job, desk, path, role):
    accepted = await handshake(people[role], path.format(id=job.public_id, desk=desk.public_id))
    assert accepted is (role in {"owner", "member", "admin"})


@pytest.mark.parametrize("path", [*SOCKETS, "/live/jobs/?ids={id}", "/live/workstations/?ids={desk}"])
async def test_a_foreign_page_cannot_open_a_socket(people, job, desk, path):
    assert not await handshake(people["owner"], path.format(id=job.public_id, desk=desk.public_id), origin=b"http://evil.test")


async def handshake(client: Client, path: str, origin: bytes = b"http://testserver") -> bool:
    from portal.asgi import application

    cookies = "; ".join(f"{name}={morsel.value}" for name, morsel in client.cookies.items()).encode()
    headers = [(b"host", b"testserver"), (b"origin", origin), (b"cookie", cookies)]
    communicator = WebsocketCommunicator(application, path, headers=headers)
    accepted, _ = await communicator.connect(timeout=10)
    await communicator.disconnect()
    await asyncio.sleep(0)
    return accepted
