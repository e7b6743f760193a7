"""Web pages of the campaigns. Their script calls the same operations as programs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal
from urllib.parse import urlsplit

from fastapi import APIRouter, HTTPException, Query
from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.staticfiles import StaticFiles

from graph_bandit_serve.access.addresses import Addresses, is_local
from graph_bandit_serve.access.keys import NAME, Keys
from graph_bandit_serve.service import Service
from graph_bandit_serve.settings import ServerLimits
from graph_bandit_serve.web.views import SETTINGS, CampaignPage, chance, number, plots_of
from graph_bandit_serve.work.drawing import NOT_DRAWN, Drawer, slots_of, structures_among
from graph_bandit_serve.work.jobs import Job

KEPT = {  # a drawing never changes for a URL, and RDKit's SVG needs inline styles but no scripts
    "cache-control": "private, max-age=86400",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
}
VIEWS = ("look", "preview", "rows", "explain")
"""Operations with a template of the same name. Results of other operations are shown as sentences."""
TABS = {"batch": "This batch", "candidates": "All candidates", "results": "Results", "history": "History"}
Tab = Literal["batch", "candidates", "results", "history"]
Text = Annotated[str, Query(max_length=2_000)]


class Pages:
    """The page templates.

    Args:
        limits: the limits. Only the maximum length of text is used.
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
        self._templates.globals["name"] = NAME.get
        shown = {"number": number, "chance": chance, "cut": cut, "plain": plain}
        self._templates.filters |= {**shown, "slots": slots_of, "structures": structures_among}

    def render(self, template: str, values: Mapping[str, object], status: int = 200) -> HTMLResponse:
        """Render a page."""
        return HTMLResponse(self._templates.get_template(f"{template}.html.jinja").render(values), status)


def plain(text: str) -> str:
    """Return a message without its sentences about the command line."""
    sentences = re.split(r"(?<=[\w)`'\"]{4}[.;]) ", text)
    return " ".join(each for each in sentences if not re.search("--|shell", each)) or text


def make_pages(
    pages: Pages, service: Service, drawer: Drawer, addresses: Addresses, keys: Keys, limits: ServerLimits
) -> APIRouter:
    """Return the routes for people.

    Args:
        pages: the page templates.
        service: the campaigns and jobs.
        drawer: draws molecules.
        addresses: the addresses of the server, for links of invitations.
        keys: creates these links.
        limits: the limits.
    """
    router = APIRouter(include_in_schema=False)
    router.mount("/static", StaticFiles(packages=[("graph_bandit_serve", "static")]))

    def shown(campaign: str) -> CampaignPage:
        return CampaignPage(service.shelf.read(campaign), service.folder)

    def picture(smiles: str, scores: Sequence[float] = (), part: str = "") -> Response:
        svg = drawer.draw(smiles, scores, part) or NOT_DRAWN
        return Response(svg, media_type="image/svg+xml", headers=KEPT)

    def done(job: str) -> Job:
        found = service.jobs.get(job)
        if found is None or found.status != "done":
            raise HTTPException(404, "There is no such result, or it is too old.")
        return found

    @router.get("/")
    def list_campaigns() -> HTMLResponse:
        return pages.render("campaigns", service.shelf.list_campaigns())

    @router.get("/new")
    def begin() -> HTMLResponse:
        return pages.render("new", {**service.tables(), "command": SETTINGS})

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
        return pages.render("campaign", values)

    @router.get("/jobs/{job}/view")
    def show_result(job: str) -> HTMLResponse:
        found = done(job)
        values = {"result": found.result, "job": found, "asked": found.asked}
        if found.campaign:
            page = shown(found.campaign)
            values |= {"head": page.head(), "state": page.state}
        return pages.render(found.operation if found.operation in VIEWS else "sentence", values)

    @router.get("/jobs/{job}/atoms/{place}/{goal}.svg")
    def draw_atoms(job: str, place: int, goal: str) -> Response:
        try:
            answer = done(job).result[place]
            return picture(answer["smiles"], answer["atoms"][goal])
        except (LookupError, TypeError) as error:
            raise HTTPException(404, "There are no contributions of atoms in this result.") from error

    @router.get("/structure.svg")
    def draw(smiles: Text, part: Text = "") -> Response:
        return picture(smiles, part=part)

    @router.post("/invite")
    def invite(name: Text = "") -> dict[str, object]:
        return {
            "link": addresses.link_of(keys.invite(name)),
            "is_local": is_local(urlsplit(addresses.link).hostname or ""),
        }

    return router
