"""The forms of a campaign's page: results, marks, rounds, tables of results."""

from __future__ import annotations

import json
import re
from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import Response

from graph_bandit_campaign import CampaignState
from graph_bandit_serve.campaigns.shelf import Reading
from graph_bandit_serve.operations import Ask, Asked, Ids, Mark, Nothing, Preview, Result, Tell
from graph_bandit_serve.refusals import REFUSALS
from graph_bandit_serve.service import SENT
from graph_bandit_serve.web.forms import Sent, SentForm, changed, settings_of
from graph_bandit_serve.web.waiting import Form, Next, Waiting, to
from graph_bandit_serve.work.jobs import Job

DECIMAL_COMMA = re.compile(r"^(\D*\d+),(\d{1,2}|\d{4,})$")  # with three digits it may be a thousand
RESULT = "value-"
"""Begin of the names of fields of results: `value-0:ID` is that of the first goal."""


def say_change(job: Job, rounds: int) -> str:
    """Return the key of what is said of a change.

    Args:
        job: the job that made it.
        rounds: how many rounds there were before.
    """
    answer = job.result.get("answer") if isinstance(job.result, dict) else None
    if job.operation == "ask" and isinstance(answer, dict) and answer["round"] == rounds:
        return "same" if answer["suggested"] else "ended"
    return job.operation


def entries_of(sent: Sent, state: CampaignState) -> list[Result]:
    """Return the results that a form has, as operations take them.

    Raises:
        HTTPException: if there are none, or a field is of another goal.
    """
    by_number, entries = {f"{number}": goal for number, goal in enumerate(state.quantities)}, list[Result]()
    for name, value in sent.starting(RESULT).items():
        number, _, identifier = name.partition(":")
        goal = by_number.get(number)
        if goal is None:
            raise HTTPException(422, "Expected results of the goals of this campaign. Load the page again.")
        entries.append(
            Result(id=identifier, value=DECIMAL_COMMA.sub(r"\1.\2", value), goal=goal if state.goals else "")
        )
    if not entries:
        raise HTTPException(422, "Expected at least one result. Type a number, a bound such as >4.5, or failed.")
    return entries


def rows_of(job: Job, state: CampaignState) -> str:
    """Return the good rows of a table that was looked at, as JSON that the form sends back."""
    shown = job.result["rows"] if isinstance(job.result, dict) else []
    good = [row for row in shown if not row["problem"]]
    return json.dumps(
        [
            (row["id"], text, goal if state.goals else "", row["smiles"] if row["outside"] else "")
            for row in good
            for goal, text in row["values"].items()
        ]
    )


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

    def change(request: Request, campaign: str, name: str, asked: Asked, sent: Sent) -> Response:
        after = following(request, campaign, sent)
        return waiting.go_on(service.start(name, asked, campaign, sent.get("version")), after)

    def look(campaign: str, name: str, asked: Asked, template: str) -> Response:
        values = {"summary": read(campaign)[0].summary, "back": f"/campaigns/{campaign}"}

        def show(job: Job) -> Response:
            return waiting.pages.render(template, {**values, "answer": job.result, "job": job})

        return waiting.go_on(service.start(name, asked, campaign), Next(f"/campaigns/{campaign}", show))

    @router.post("/results")
    def record(request: Request, campaign: str, sent: SentForm) -> Response:
        return change(request, campaign, "tell", Tell(results=entries_of(sent, read(campaign)[1])), sent)

    @router.post("/take-back")
    def take_back(request: Request, campaign: str, sent: SentForm) -> Response:
        state = read(campaign)[1]
        goals = [goal.name for goal in state.goals] or [""]
        cleared = [Result(id=sent.get("id"), value="", goal=goal) for goal in goals]
        return change(request, campaign, "tell", Tell(results=cleared, instead=True), sent)

    @router.post("/mark")
    def mark(request: Request, campaign: str, sent: SentForm) -> Response:
        kind, text = sent.get("kind"), sent.get("text")
        said: dict[str, dict[str, Any]] = {
            "veto": {"veto": text or True},
            "pin": {"pin": True},
            "lift": {"veto": False, "pin": False},
            "comment": {"comment": text or " "},
        }
        if kind not in said:
            raise HTTPException(422, f"Expected one of {', '.join(said)}. Got {kind!r}.")
        asked, state = Mark(id=sent.get("id"), by=sent.get("by"), **said[kind]), read(campaign)[1]
        last = state.rounds[-1] if state.rounds else ()
        if kind != "veto" or state.told or not any(each.id == asked.id for each in last):
            return change(request, campaign, "mark", asked, sent)
        after = following(request, campaign, sent)  # another takes its place

        def replace(job: Job) -> Response:
            return waiting.go_on(service.start("ask", Ask(), campaign), after)

        job = service.start("mark", asked, campaign, sent.get("version"))
        return waiting.go_on(job, Next(after.back, replace, after.form))

    @router.post("/suggest")
    def suggest(request: Request, campaign: str, sent: SentForm) -> Response:
        changes = changed(settings_of(sent), read(campaign)[1].command)
        asked = Ask.model_validate({"changes": changes, "next_batch": sent.get("more") == "yes"})
        return change(request, campaign, "ask", asked, sent)

    @router.post("/undo")
    def undo(request: Request, campaign: str, sent: SentForm) -> Response:
        return change(request, campaign, "undo", Nothing(), sent)

    @router.post("/enough")
    def look_ahead(campaign: str) -> Response:
        return look(campaign, "enough", Nothing(), "enough")

    @router.post("/why")
    def explain(campaign: str, sent: SentForm) -> Response:
        return look(campaign, "why", Ids(ids=[sent.get("id")]), "why")

    @router.post("/upload")
    def upload(campaign: str, sent: SentForm) -> Response:
        reading, state = read(campaign)
        if not sent.files:
            raise HTTPException(422, "Expected a file. Choose one first.")
        name, back = sent.files[0][1].filename or "", f"/campaigns/{campaign}"
        kept = service.uploads.add(name, sent.files[0][1].file)
        values = {"summary": reading.summary, "back": back, "name": name, "table": f"{SENT}{kept.token}"}

        def show(job: Job) -> Response:
            return waiting.pages.render("results", {**values, "answer": job.result, "rows": rows_of(job, state)})

        job = service.start("preview", Preview(table=f"{SENT}{kept.token}"), campaign)
        return waiting.go_on(job, Next(back, show, names=((kept.path.name, name),)))

    @router.post("/accept")
    def accept(request: Request, campaign: str, sent: SentForm) -> Response:
        rows = [dict(zip(("id", "value", "goal", "smiles"), row, strict=True)) for row in json.loads(sent.get("rows"))]
        return change(request, campaign, "tell", Tell.model_validate({"results": rows}), sent)

    return router
