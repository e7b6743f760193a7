"""The application: pages and JSON behind the guard."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response
from starlette.exceptions import HTTPException

from graph_bandit_serve.access.addresses import Addresses
from graph_bandit_serve.access.guard import Guard
from graph_bandit_serve.access.keys import Keys
from graph_bandit_serve.api import PREFIX, make_api
from graph_bandit_serve.campaigns.folder import CampaignFolder
from graph_bandit_serve.campaigns.shelf import Shelf
from graph_bandit_serve.drawing import Drawer
from graph_bandit_serve.pages import Pages, make_pages
from graph_bandit_serve.settings import ServerLimits

if TYPE_CHECKING:
    from pathlib import Path

ABOUT = (
    "The campaigns of a folder. Each request has the header `Authorization: Bearer KEY`, with the key that was printed."
)
TITLES = {404: "Not found", 405: "Not possible"}


def make_app(folder: Path, keys: Keys, addresses: Addresses, drawer: Drawer, limits: ServerLimits) -> Guard:
    """Return the application.

    Args:
        folder: folder of campaigns.
        keys: the keys of people and programs.
        addresses: the addresses of the server.
        drawer: draws molecules.
        limits: the limits.
    """
    shelf = Shelf(CampaignFolder(folder, limits), limits)
    pages = Pages(shelf, drawer, limits)
    app = FastAPI(
        title="graph-bandit",
        version=version("graph-bandit-env"),
        description=ABOUT,
        docs_url=None,  # FastAPI's pages load scripts from elsewhere
        redoc_url=None,
        openapi_url=f"{PREFIX}/openapi.json",
        redirect_slashes=False,
    )
    app.include_router(make_api(shelf))
    app.include_router(make_pages(pages, shelf))

    @app.get("/api", include_in_schema=False)
    def explain_api() -> HTMLResponse:
        return pages.render("api", {"schema": app.openapi()})

    @app.exception_handler(HTTPException)
    def refuse(request: Request, error: HTTPException) -> Response:
        if request.url.path.startswith("/api/"):
            return JSONResponse({"detail": error.detail}, error.status_code, error.headers)
        page = pages.message(error.status_code, TITLES.get(error.status_code, "Refused"), f"{error.detail}")
        page.headers.update(error.headers or {})
        return page

    return Guard(app, keys, addresses, limits)
