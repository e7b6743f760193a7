"""The forms of a campaign's page: results, marks, rounds, tables of results."""

from __future__ import annotations

import re
from collections.abc import Mapping

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import Response

from graph_bandit_campaign import CampaignState
from graph_bandit_serve.campaigns.shelf import Reading
from graph_bandit_serve.refusals import REFUSALS
from graph_bandit_serve.service import SENT
from graph_bandit_serve.web.forms import Sent, SentForm, changed, settings_of
from graph_bandit_serve.web.waiting import Form, Next, Waiting, to
from graph_bandit_serve.work.jobs import Job

MARKS = ("veto", "pin", "lift", "comment")
DECIMAL_COMMA = re.compile(r"^(\D*\d+),(\d{1,2}|\d{4,})$")  # with three digits it may be a thousand
RESULT = "value-"
"""Begin of the names of fields of results: `value-0:ID` is that of the first goal."""


def say_change(job: Job, rounds: int) -> str:
    """Return the key of what is said of a change.

    Args:
        job: the job that made it.
        rounds: how many rounds there were before.
    """
    told = job.result.get("told") if isinstance(job.result, dict) else None
    if job.operation == "suggest" and isinstance(told, dict) and told["round"] == rounds:
        return "same" if told["suggested"] else "ended"
    return "another" if job.operation == "mark" and told is not None else job.operation


def entries_of(sent: Sent, state: CampaignState) -> list[dict[str, str]]:
    """Return the results that a form has, as operations take them.

    Raises:
        HTTPException: if there are none, or a field is of another goal.
    """
    by_number, entries = {f"{number}": goal for number, goal in enumerate(state.quantities)}, []
    for name, value in sent.starting(RESULT).items():
        number, _, identifier = name.partition(":")
        goal = by_number.get(number)
        if goal is None:
            raise HTTPException(422, "Expected results of the goals of this campaign. Load the page again.")
        entries.append({"id": identifier, "value": DECIMAL_COMMA.sub(r"\1.\2", value), "goal": goal})
    if not entries:
        raise HTTPException(422, "Expected at least one result. Type a number, a bound such as >4.5, or failed.")
    return entries


def make_changing(waiting: Waiting) -> APIRouter:
    """Return the addresses of the forms of a campaign's page.

    Args:
        waiting: waits for the jobs.
    """
    router = APIRouter(include_in_schema=False, prefix="/campaigns/{campaign}", dependencies=REFUSALS)
    service = waiting.service

    def read(campaign: str) -> tuple[Reading, CampaignState]:
        reading = service.shelf.read(campaign)
        if reading is None or reading.state is None:
            raise HTTPException(404, "Expected a campaign of this folder.")
        return reading, reading.state

    def following(request: Request, campaign: str, sent: Sent) -> Next:
        page, before = f"/campaigns/{campaign}", len(read(campaign)[1].rounds)
        form = Form(request.url.path, sent.fields)
        return Next(page, lambda job: to(f"{page}?said={say_change(job, before)}"), form)

    def change(
        request: Request, campaign: str, operation: str, arguments: Mapping[str, object], sent: Sent
    ) -> Response:
        after = following(request, campaign, sent)
        return waiting.go_on(service.do(campaign, operation, arguments, sent.get("version")), after)

    def look(campaign: str, operation: str, arguments: Mapping[str, object], template: str) -> Response:
        values = {"summary": read(campaign)[0].summary, "back": f"/campaigns/{campaign}"}

        def show(job: Job) -> Response:
            return waiting.pages.render(template, {**values, "answer": job.result, "job": job})

        return waiting.go_on(service.do(campaign, operation, arguments), Next(f"/campaigns/{campaign}", show))

    @router.post("/results")
    def record(request: Request, campaign: str, sent: SentForm) -> Response:
        return change(request, campaign, "record", {"entries": entries_of(sent, read(campaign)[1])}, sent)

    @router.post("/take-back")
    def take_back(request: Request, campaign: str, sent: SentForm) -> Response:
        return change(request, campaign, "take_back", {"ids": [sent.get("id")]}, sent)

    @router.post("/mark")
    def mark(request: Request, campaign: str, sent: SentForm) -> Response:
        arguments = {name: sent.get(name) for name in ("kind", "id", "text", "by")}
        if arguments["kind"] not in MARKS:
            raise HTTPException(422, f"Expected one of {', '.join(MARKS)}. Got {arguments['kind']!r}.")
        return change(request, campaign, "mark", arguments, sent)

    @router.post("/suggest")
    def suggest(request: Request, campaign: str, sent: SentForm) -> Response:
        changes = changed(settings_of(sent), read(campaign)[1].command)
        return change(request, campaign, "suggest", {"changes": changes, "more": sent.get("more") == "yes"}, sent)

    @router.post("/undo")
    def undo(request: Request, campaign: str, sent: SentForm) -> Response:
        return change(request, campaign, "undo", {}, sent)

    @router.post("/enough")
    def look_ahead(campaign: str) -> Response:
        return look(campaign, "look_ahead", {}, "enough")

    @router.post("/why")
    def explain(campaign: str, sent: SentForm) -> Response:
        return look(campaign, "explain", {"ids": [sent.get("id")]}, "why")

    @router.post("/upload")
    def upload(campaign: str, sent: SentForm) -> Response:
        reading, state = read(campaign)
        if not sent.files:
            raise HTTPException(422, "Expected a file. Choose one first.")
        name, back = sent.files[0][1].filename or "", f"/campaigns/{campaign}"
        kept = service.uploads.add(name, sent.files[0][1].file)
        values = {"summary": reading.summary, "back": back, "name": name, "table": f"{SENT}{kept.token}"}

        def show(job: Job) -> Response:
            return waiting.pages.render("results", {**values, "answer": job.result, "before": len(state.measured)})

        job = service.look(campaign, "read_results", {"table": str(kept.path)})
        return waiting.go_on(job, Next(back, show, names=((kept.path.name, name),)))

    @router.post("/accept")
    def accept(request: Request, campaign: str, sent: SentForm) -> Response:
        after = following(request, campaign, sent)
        return waiting.go_on(service.accept(campaign, sent.get("table"), sent.get("version")), after)

    return router
