"""The campaigns as pages for people, which work without scripts, too."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, Response
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from graph_bandit_campaign import CampaignState, Choice, Requirement, find_front, find_slips
from graph_bandit_serve.access.keys import PERSON, Access
from graph_bandit_serve.campaigns.details import read_details
from graph_bandit_serve.campaigns.shelf import Reading, Shelf
from graph_bandit_serve.campaigns.views import History, ResultView, RoundView, best_of, goals_of, view_result
from graph_bandit_serve.settings import ServerLimits
from graph_bandit_serve.web.forms import UNSET
from graph_bandit_serve.work.drawing import NOT_DRAWN, SIZE, Drawer
from graph_bandit_serve.work.jobs import Jobs

SVG = "image/svg+xml"
CSS = "text/css; charset=utf-8"
SCRIPT = "text/javascript; charset=utf-8"
ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M8 1.5l5.6 3.25v6.5L8 14.5l-5.6-3.25v-6.5z" '
    'fill="none" stroke="#005a94" stroke-width="2"/><circle cx="8" cy="8" r="2.2" fill="#005a94"/></svg>'
)
UNKNOWN = "Expected a campaign of this folder."
SAID = {
    "tell": "It is saved. The next round learns from it.",
    "mark": "It is saved. Another takes the place of a vetoed suggestion when you ask for suggestions.",
    "ask": "This is a new round.",
    "same": "Nothing has come in since: these are the same suggestions as before.",
    "ended": "Nothing is left to suggest: every molecule is measured, pending, failed, vetoed or outside the limits.",
    "undo": "The last change is undone.",
}
"""Sentences about the last change, by its key."""


class Pages:
    """Templates, and what they show.

    Args:
        shelf: the campaigns.
        drawer: draws molecules.
        limits: the limits.
    """

    def __init__(self, shelf: Shelf, drawer: Drawer, limits: ServerLimits) -> None:
        self._shelf, self._drawer, self._limits = shelf, drawer, limits
        loader = PackageLoader("graph_bandit_serve", "templates")
        self._templates = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
        self._templates.filters |= {
            "number": to_number,
            "percent": to_percent,
            "cut": self._cut,
            "code": to_code,
            "drawing": digest_of_structure,
            "value": value_of,
        }
        self.style = loader.get_source(self._templates, "style.css")[0]
        self.script = loader.get_source(self._templates, "page.js")[0]

    def _cut(self, text: str) -> str:
        return text if len(text) <= self._limits.text_characters else f"{text[: self._limits.text_characters]}…"

    def render(self, template: str, values: Mapping[str, object], status: int = 200) -> HTMLResponse:
        """Return a page."""
        text = self._templates.get_template(f"{template}.html.jinja").render(values)
        return HTMLResponse(text, status)

    def message(self, status: int, title: str, text: str, back: str = "/") -> HTMLResponse:
        """Return a page that says why there is nothing to see."""
        return self.render("message", {"title": title, "text": text, "back": back}, status)

    def campaign(
        self, reading: Reading, number: int | None = None, writes: bool = False, said: str = ""
    ) -> HTMLResponse:
        """Return the page of a campaign, or of one of its rounds.

        Args:
            reading: the campaign.
            number: of the round; None: all of the campaign, with the last round.
            writes: whether who asks may change it.
            said: key of what is said of the last change, of `SAID`; empty: nothing.

        Raises:
            HTTPException: if there is no such round.
        """
        state, most = reading.state, self._limits.shown
        if state is None:
            title = reading.summary.name
            return self.message(200, title, f"This file cannot be shown. {reading.summary.problem}")
        history, last = History(state), len(state.rounds)
        if number is not None and not 1 <= number <= last:
            raise HTTPException(404, "Expected a round of this campaign.")
        shown: RoundView | None = history.round(number or last, most) if last else None
        newest = sorted(state.measured, key=lambda result: result.round)[: -most - 1 : -1]
        on_cards = {suggestion.id for suggestion in shown.suggestions} if shown else set()
        values = {
            "summary": reading.summary,
            "state": state,
            "goals": goals_of(state),
            "best": best_of(state),
            "round": shown,
            "in_round": len(state.rounds[shown.number - 1]) if shown else 0,
            "rounds": [(k, len(state.rounds[k - 1]), history.counts(k)) for k in range(last, max(0, last - most), -1)],
            "results": [view_result(state, result) for result in newest],
            "others": [name for name in state.pending if name not in on_cards][:most],
            "size": SIZE,
            "most": most,
            "writes": writes and bool(state.command) and number in (None, last),
            "details": read_details(state, reading.file, self._shelf.folder) if number in (None, last) else {},
            "typed": {each.id for each in state.results if "" in each.sources} if writes and number is None else set(),
            "has_news": has_news(state),
            "slips": slips_of(state)[:most],
            "said": SAID.get(said, ""),
            "front": find_front(state)[:most] if state.goals else (),
            "command": command_of(state),
        }
        return self.render("campaign" if number is None else "round", values)

    def draw(self, smiles: str, scores: Sequence[float]) -> str:
        """Return a drawing of a molecule with scores of its atoms."""
        return self._drawer.draw(smiles, scores) or NOT_DRAWN

    def structure(self, reading: Reading, digest: str) -> str | None:
        """Return the drawing of a structure of a campaign; None: there is no such structure."""
        structures = reading.state.structures if reading.state else {}
        for smiles in structures.values():
            if digest_of_structure(smiles) == digest:
                return self._drawer.draw(smiles) or NOT_DRAWN
        return None


def make_pages(pages: Pages, shelf: Shelf, jobs: Jobs, is_one: bool) -> APIRouter:
    """Return the addresses for people.

    Args:
        pages: what is shown at each.
        shelf: the campaigns.
        jobs: what runs and waits.
        is_one: whether a single campaign is served.
    """
    router = APIRouter(include_in_schema=False)

    def read(campaign: str) -> Reading:
        reading = shelf.read(campaign)
        if reading is None:
            raise HTTPException(404, UNKNOWN)
        return reading

    @router.get("/")
    def list_campaigns(request: Request) -> HTMLResponse:
        listing, writes = shelf.list_campaigns(), may_write(request)
        values = {"listing": listing, "writes": writes, "is_one": is_one, "person": PERSON.get()}
        names = {campaign.id: campaign.name for campaign in listing.campaigns}
        return pages.render("campaigns", {**values, "queue": jobs.queue(), "names": names})

    @router.get("/style.css")
    def style() -> Response:
        return Response(pages.style, media_type=CSS)

    @router.get("/icon.svg")
    def icon() -> Response:
        return Response(ICON, media_type=SVG)

    @router.get("/page.js")
    def script() -> Response:
        return Response(pages.script, media_type=SCRIPT)

    @router.get("/check")
    def check(kind: str, text: str) -> Response:
        problem = check_limits(kind, text)
        return PlainTextResponse(problem, 422 if problem else 200)

    @router.get("/campaigns/{campaign}")
    def show_campaign(request: Request, campaign: str, said: str = "") -> HTMLResponse:
        return pages.campaign(read(campaign), None, may_write(request), said)

    @router.get("/campaigns/{campaign}/rounds/{number}")
    def show_round(request: Request, campaign: str, number: str) -> HTMLResponse:
        is_number = number.isascii() and number.isdecimal() and len(number) < 10
        return pages.campaign(read(campaign), int(number) if is_number else 0)

    @router.get("/campaigns/{campaign}/structures/{digest}.svg")
    def show_structure(campaign: str, digest: str) -> Response:
        drawing = pages.structure(read(campaign), digest)
        if drawing is None:
            raise HTTPException(404, "Expected a structure of this campaign.")
        return Response(drawing, media_type=SVG)

    return router


def check_limits(kind: str, text: str) -> str:
    """Return what is wrong with limits, one a line; an empty text if nothing is, as far as it can be said here.

    Args:
        kind: `require` or `only`.
        text: the limits.
    """
    parsers = {"require": Requirement.parse, "only": Choice.parse}
    try:
        for line in filter(str.strip, text.splitlines() if kind in parsers else ()):
            parsers[kind](line.strip())
    except ValueError as error:
        return str(error)
    return ""


def command_of(state: CampaignState) -> dict[str, object]:
    """Return the settings of a campaign that forms have; a list in place of a text, as somebody may send, is none."""
    command = state.command.items()
    given = {name: value for name, value in command if isinstance(value, tuple) == isinstance(UNSET.get(name), list)}
    return {**UNSET, **given}


def slips_of(state: CampaignState) -> list[tuple[str, str]]:
    """Return ids and values of results that are far from all others, and may be slips of the pen."""
    found = []
    for view in state.views():
        values: dict[str, list[float]] = {}
        for result in view.measured:
            if not result.bound:
                values.setdefault(result.id, []).append(result.value)
        found += [(name, " and ".join(map(to_number, values[name]))) for name in find_slips(values)[0]]
    return found


def has_news(state: CampaignState) -> bool:
    """Return whether something has come in since the last round was suggested."""
    last = {suggestion.id for suggestions in state.rounds[-1:] for suggestion in suggestions}
    return any(result.round == len(state.rounds) for result in state.measured) or not last.isdisjoint(state.failed)


def may_write(request: Request) -> bool:
    """Return whether somebody who asks may change campaigns."""
    return getattr(request.state, "access", None) is Access.MEMBER


def to_number(value: float | None) -> str:
    """Return a number with four digits."""
    return "–" if value is None else f"{value:.4g}"


def to_percent(share: float) -> str:
    """Return a share as a whole percentage."""
    return f"{100 * share:.0f}\u00a0%"


def value_of(result: ResultView) -> str:
    """Return a result in a few characters."""
    sign = {"above": "> ", "below": "< ", "": ""}[result.bound]
    noise = "" if result.noise is None else f" ± {result.noise:.2g}"
    return f"{sign}{result.value:.4g}{noise}"


def to_code(text: str) -> Markup:
    """Return a sentence whose words in backquotes are code."""
    parts = [
        Markup("<code>{}</code>").format(part) if k % 2 else escape(part) for k, part in enumerate(text.split("`"))
    ]
    return Markup("").join(parts)


def digest_of_structure(smiles: str) -> str:
    """Return by what a drawing is asked for, which never is that of another structure after the file has changed."""
    return hashlib.sha256(smiles.encode()).hexdigest()[:16]
