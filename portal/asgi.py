"""Where the server comes in: agents' reports, pages, websockets."""

from __future__ import annotations

import gc
import os
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")

from portal import handler  # noqa: E402  (needs the name of the settings)

pages = handler.application()

from channels.auth import AuthMiddlewareStack  # noqa: E402  (needs the apps)
from channels.routing import URLRouter  # noqa: E402

from portal.api import nodes  # noqa: E402
from portal.api.v2.sockets import ByToken  # noqa: E402
from portal.consumers.routes import websocket_urlpatterns  # noqa: E402
from portal.origin import SameOrigin  # noqa: E402
from portal.relay import application as relay  # noqa: E402
from portal.relay import hosts, nothing  # noqa: E402
from portal.urls import urlpatterns  # noqa: E402, F401  (all pages are loaded before the first of them is asked for)

routes = URLRouter(websocket_urlpatterns)
sockets = SameOrigin(ByToken(routes, without=AuthMiddlewareStack(routes)))
gc.freeze()  # what is loaded lives as long as the process: to look for garbage among it again and again stops every page for 50 ms


async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
    if scope["type"] in {"http", "websocket"} and scope["path"].startswith("/relay/"):
        await relay(scope, receive, send)
    elif hosts.is_only_for_apps(dict(scope.get("headers") or ()).get(b"host", b"").decode("latin1")):
        await nothing(scope, receive, send)
    elif scope["type"] == "websocket":
        await sockets(scope, receive, send)
    elif scope["type"] == "http" and scope["path"].startswith("/nodes/"):
        await nodes.application(scope, receive, send)
    elif scope["type"] == "http":
        await pages(scope, receive, send)
