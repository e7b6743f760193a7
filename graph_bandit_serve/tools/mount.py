"""Offer the tools over HTTP, at `/mcp` of the server of pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import FastAPI
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import JSONResponse
from starlette.routing import Route

from graph_bandit_serve.access.addresses import Addresses
from graph_bandit_serve.access.keys import Access
from graph_bandit_serve.service import Service
from graph_bandit_serve.settings import ServerLimits
from graph_bandit_serve.tools.server import make_tools

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send


def mount_mcp(app: FastAPI, service: Service, addresses: Addresses, limits: ServerLimits) -> None:
    """Add the tools to an application that stands behind a `Guard`; they begin and end with it (`lifespan`).

    Args:
        app: the application.
        service: the campaigns.
        addresses: the addresses of the server. The guard has checked Host and Origin before; the SDK does so again.
        limits: the limits.
    """
    hosts, origins = sorted(addresses.hosts), sorted(addresses.origins)
    server = make_tools(service)
    server.streamable_http_app(  # which makes the sessions; its routes are not needed
        transport_security=TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins),
        max_request_body_size=limits.form_bytes,
    )
    app.router.routes.append(Route("/mcp", Tools(server.session_manager), include_in_schema=False))
    app.router.lifespan_context = lambda _: server.session_manager.run()


class Tools:
    """The tools as an application, for members alone: a guest reads pages, and starts no jobs.

    Args:
        sessions: answer requests.
    """

    def __init__(self, sessions: StreamableHTTPSessionManager) -> None:
        self._sessions = sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        refusal = JSONResponse({"detail": "Expected a member of the team: guests only read pages."}, 403)
        is_member = scope["state"]["access"] is Access.MEMBER
        await (self._sessions.handle_request if is_member else refusal)(scope, receive, send)
