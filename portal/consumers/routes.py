"""Addresses of the websockets."""

from django.urls import path

from portal.consumers.health import HealthSocket
from portal.consumers.log import LogSocket
from portal.consumers.slurm import SlurmSocket
from portal.consumers.socket import NOT_FOUND
from portal.consumers.status import PageSocket, RowsSocket


async def nowhere(scope, receive, send) -> None:
    """An address that we do not have is refused, not an error in our log."""
    await receive()
    await send({"type": "websocket.close", "code": NOT_FOUND})


websocket_urlpatterns = [
    path("live/jobs/", RowsSocket.as_asgi()),
    path("live/jobs/<str:public_id>/", PageSocket.as_asgi()),
    path("live/jobs/<str:public_id>/log/", LogSocket.as_asgi()),
    path("live/jobs/<str:public_id>/health/", HealthSocket.as_asgi()),
    path("live/hardware/slurm/", SlurmSocket.as_asgi()),
    path("live/workstations/", RowsSocket.as_asgi()),
    path("live/workstations/<str:public_id>/", PageSocket.as_asgi()),
    path("live/workstations/<str:public_id>/health/", HealthSocket.as_asgi()),
    path("<path:anything>", nowhere),
    path("", nowhere),
]
