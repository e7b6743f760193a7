"""The application: pages, JSON and MCP behind the guard."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from mcp.server.transport_security import TransportSecuritySettings
from starlette.exceptions import HTTPException

from graph_bandit_serve.access.addresses import Addresses
from graph_bandit_serve.access.guard import Guard
from graph_bandit_serve.access.keys import Keys
from graph_bandit_serve.rest import PREFIX, make_rest
from graph_bandit_serve.service import Service
from graph_bandit_serve.settings import ServerLimits
from graph_bandit_serve.tools.server import make_tools
from graph_bandit_serve.web.pages import Pages, make_pages
from graph_bandit_serve.work.drawing import Drawer
from graph_bandit_serve.work.jobs import Jobs

ABOUT = "The campaigns of a folder. Send the key that was printed in the header: `Authorization: Bearer KEY`."
MOST_PROBLEMS = 5
TITLES = {404: "Not found", 405: "Not possible", 422: "Not done", 503: "Not now", 507: "No room"}


def make_app(folder: Path, keys: Keys, addresses: Addresses, drawer: Drawer, jobs: Jobs, limits: ServerLimits) -> Guard:
    """Return the application.

    Args:
        folder: folder of campaigns.
        keys: the keys of people and programs.
        addresses: the addresses of the server.
        drawer: draws molecules.
        jobs: queue for jobs that change campaigns.
        limits: the limits.
    """
    service = Service(folder, jobs, limits)
    pages = Pages(limits)
    app = FastAPI(
        title="graph-bandit",
        version=version("graph-bandit-env"),
        description=ABOUT,
        docs_url=None,  # FastAPI's pages load external scripts
        redoc_url=None,
        openapi_url=f"{PREFIX}/openapi.json",
        redirect_slashes=False,
    )
    app.include_router(make_rest(service))
    app.include_router(make_pages(pages, service, drawer, addresses, keys, limits))
    tools = make_tools(service)
    unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # the guard checks hosts and origins
    app.router.routes.extend(tools.streamable_http_app(transport_security=unchecked).routes)
    app.router.lifespan_context = lambda _: tools.session_manager.run()

    @app.get("/api", include_in_schema=False)
    def explain_api() -> HTMLResponse:
        return pages.render("api", {"schema": app.openapi()})

    @app.exception_handler(HTTPException)
    def refuse(request: Request, error: HTTPException) -> Response:
        if request.url.path.startswith("/api/"):
            return JSONResponse({"detail": error.detail}, error.status_code, error.headers)
        said = {"title": TITLES.get(error.status_code, "Refused"), "text": f"{error.detail}"}
        return pages.render("message", said, error.status_code)

    @app.exception_handler(RequestValidationError)
    def explain(request: Request, error: RequestValidationError) -> Response:
        # The input of the request is omitted: it may contain text that cannot be encoded.
        problems = [f"`{'.'.join(map(str, each['loc']))}`: {each['msg']}." for each in error.errors()[:MOST_PROBLEMS]]
        text = " ".join(["Expected other fields.", *problems])
        return refuse(request, HTTPException(422, text.encode("utf-8", "replace").decode()))

    return Guard(app, keys, addresses, limits)
