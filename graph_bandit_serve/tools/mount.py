"""Offer the tools over HTTP, at `/mcp` of the server of pages."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.responses import JSONResponse
from starlette.routing import Route

from graph_bandit_serve.access.addresses import Addresses
from graph_bandit_serve.access.keys import Access
from graph_bandit_serve.service import Service
from graph_bandit_serve.settings import ServerLimits

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.types import Receive, Scope, Send


def mount_mcp(app: FastAPI, service: Service, addresses: Addresses, limits: ServerLimits) -> None:
    """Add the tools to an application that stands behind a `Guard`.

    Args:
        app: the application.
        service: the campaigns.
        addresses: the addresses of the server.
        limits: the limits.
    """
    app.router.routes.append(Route("/mcp", ToolsOverHttp(service, addresses, limits), include_in_schema=False))


class ToolsOverHttp:
    """The tools as an application, for members alone: a guest reads pages, and starts no jobs.

    The sessions of the SDK need a task of their own, which begins with the first request and ends with the event loop:
    so no server has to announce its start and end (`lifespan`). The SDK takes seconds to import, and is only then.

    Args:
        service: the campaigns.
        addresses: the addresses of the server. The guard has checked Host and Origin before; the SDK does so again.
        limits: the limits.
    """

    def __init__(self, service: Service, addresses: Addresses, limits: ServerLimits) -> None:
        self._service, self._addresses, self._limits = service, addresses, limits
        self._sessions: asyncio.Future[StreamableHTTPSessionManager] | None = None
        self._task: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["state"]["access"] is not Access.MEMBER:
            refusal = JSONResponse({"detail": "Expected a member of the team: guests only read pages."}, 403)
            await refusal(scope, receive, send)
            return
        sessions = await self._open()
        await sessions.handle_request(scope, receive, send)

    async def _open(self) -> StreamableHTTPSessionManager:
        """Return the sessions of this event loop."""
        loop = asyncio.get_running_loop()
        if self._sessions is None or self._sessions.get_loop() is not loop:
            self._sessions = loop.create_future()
            self._task = loop.create_task(self._run(self._sessions))
        return await asyncio.shield(self._sessions)  # others wait for them, too

    async def _run(self, opened: asyncio.Future[StreamableHTTPSessionManager]) -> None:
        """Hold the sessions open until the event loop ends."""
        try:
            sessions = await asyncio.to_thread(self._make)
            async with sessions.run():
                opened.set_result(sessions)
                await asyncio.Event().wait()
        except Exception as error:
            if opened.done():
                raise
            opened.set_exception(error)

    def _make(self) -> StreamableHTTPSessionManager:
        from mcp.server.transport_security import TransportSecuritySettings

        from graph_bandit_serve.tools.server import make_tools

        hosts, origins = sorted(self._addresses.hosts), sorted(self._addresses.origins)
        server = make_tools(self._service)
        server.streamable_http_app(  # which makes the sessions; its routes are not needed
            transport_security=TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins),
            max_request_body_size=self._limits.form_bytes,
        )
        return server.session_manager
