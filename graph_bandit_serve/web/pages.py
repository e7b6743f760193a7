"""The campaigns as pages for people; a script of theirs asks the same operations as programs do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal
from urllib.parse import urlsplit

from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.staticfiles import StaticFiles

from graph_bandit_serve.access.addresses import Addresses, is_local
from graph_bandit_serve.access.keys import NAME
from graph_bandit_serve.service import Service
from graph_bandit_serve.settings import ServerLimits
from graph_bandit_serve.web.shown import SETTINGS, CampaignPage, chance, number, plots_of, read_cells
from graph_bandit_serve.work.drawing import NOT_DRAWN, Drawer
from graph_bandit_serve.work.jobs import Job

SVG = "image/svg+xml"
KEPT = {"cache-control": "private, max-age=86400"}  # a drawing is that of its address for ever
VIEWS = ("look", "preview", "rows", "why")
"""Operations whose results are shown by a template of their name; those of others are sentences."""
TABS = {"batch": "This batch", "candidates": "All candidates", "results": "Results", "history": "History"}
Tab = Literal["batch", "candidates", "results", "history"]
Text = Annotated[str, Query(max_length=2_000)]


class Pages:
    """Templates, and what they show.

    Args:
        limits: the limits; of them, the longest text of a page.
    """

    def __init__(self, limits: ServerLimits) -> None:
        most = limits.text_characters
        self._templates = Environment(
            loader=PackageLoader("graph_bandit_serve", "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        cut = lambda text: text if len(text) <= most else f"{text[:most]}…"  # noqa: E731 - a filter
        self._templates.globals |= {"writes": False, "name": ""}
        self._templates.filters |= {"number": number, "chance": chance, "cut": cut, "plain": plain}

    def render(self, template: str, values: Mapping[str, object], status: int = 200) -> HTMLResponse:
        """Return a page."""
        return HTMLResponse(self._templates.get_template(f"{template}.html.jinja").render(values), status)


def plain(text: str) -> str:
    """Return a message without what it says of the command."""
    sentences = re.split(r"(?<=[\w)`'\"]{4}[.;]) ", text)
    return " ".join(each for each in sentences if not re.search("--|shell", each)) or text


def make_pages(pages: Pages, service: Service, drawer: Drawer, addresses: Addresses, limits: ServerLimits) -> APIRouter:
    """Return the addresses for people.

    Args:
        pages: templates.
        service: the campaigns and jobs.
        drawer: draws molecules.
        addresses: the addresses of the server, for links of invitations.
        limits: the limits.
    """
    router = APIRouter(include_in_schema=False)
    router.mount("/static", StaticFiles(packages=[("graph_bandit_serve", "static")]))

    def who() -> dict[str, object]:
        return {"writes": True, "name": NAME.get()}

    def shown(campaign: str) -> CampaignPage:
        reading = service.shelf.read(campaign)
        if reading is None or reading.state is None:
            raise HTTPException(404, reading.problem if reading else "There is no such campaign in this folder.")
        return CampaignPage(reading, reading.state, read_cells(reading, reading.state, service.folder))

    def done(job: str) -> Job:
        found = service.jobs.get(job)
        if found is None or found.status != "done":
            raise HTTPException(404, "There is no such result, or it is too old.")
        return found

    @router.get("/")
    def list_campaigns() -> HTMLResponse:
        values = {**service.shelf.list_campaigns(), **who()}
        return pages.render("campaigns", values)

    @router.get("/new")
    def begin() -> HTMLResponse:
        return pages.render("new", {"tables": service.folder.list_tables(), "command": SETTINGS, **who()})

    @router.get("/campaigns/{campaign}")
    def show_campaign(campaign: str, tab: Tab = "batch", table: Text = "") -> HTMLResponse:
        page, most = shown(campaign), limits.shown
        state = page.state
        last = state.rounds[-1] if state.rounds else ()
        values: dict[str, object] = {"head": page.head(), "state": state, "tab": tab, "tabs": TABS, "sent": table}
        values["command"] = page.command
        if tab == "batch":
            values |= {"cards": page.cards(last[:most]), "count": len(last), "round": len(state.rounds)}
        elif tab == "results":
            values |= {"rows": page.table(most), "most": most}
        elif tab == "history":
            values |= {**page.history(most), "plots": plots_of(state)}
        return pages.render("campaign", {**values, **who()})

    @router.get("/jobs/{job}/view")
    def show_result(job: str) -> HTMLResponse:
        found = done(job)
        values = {"result": found.result, "job": found, "asked": found.asked, **who()}
        if found.campaign:
            page = shown(found.campaign)
            values |= {"head": page.head(), "state": page.state}
        return pages.render(found.operation if found.operation in VIEWS else "sentence", values)

    @router.get("/jobs/{job}/atoms/{place}/{goal}.svg")
    def draw_atoms(job: str, place: int, goal: str) -> Response:
        result = done(job).result
        try:
            answer = result[place]
            drawn = drawer.draw(answer["smiles"], answer["atoms"][goal])
        except (LookupError, TypeError) as error:
            raise HTTPException(404, "There are no contributions of atoms in this result.") from error
        return Response(drawn or NOT_DRAWN, media_type=SVG)

    @router.get("/structure.svg")
    def draw(smiles: Text, part: Text = "") -> Response:
        return Response(drawer.draw(smiles, part=part) or NOT_DRAWN, media_type=SVG, headers=KEPT)

    @router.post("/invite")
    def invite(request: Request, name: Text = "") -> dict[str, object]:
        token, start = request.state.keys.invite(name), addresses.link
        return {"link": f"{start}/enter?token={token}", "is_local": is_local(urlsplit(start).hostname or "")}

    return router
