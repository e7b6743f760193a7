"""The forms of a campaign's page: results, marks, rounds, tables of results."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from fastapi import APIRouter, HTTPException, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response

from graph_bandit_campaign import CampaignState
from graph_bandit_serve.campaigns.shelf import Reading
from graph_bandit_serve.refusals import refusals
from graph_bandit_serve.service import SENT
from graph_bandit_serve.web.forms import Sent, SentForm, changed, settings_of
from graph_bandit_serve.web.waiting import Form, Next, Waiting, to
from graph_bandit_serve.work.jobs import Job

MARKS = ("veto", "pin", "lift", "comment")
DECIMAL_COMMA = re.compile(r"^(\D*\d+),(\d{1,2}|\d{4,})$")  # with three digits it may be a thousand
RESULT = "value-"
"""Begin of the names of fields of results: `value-0:ID` is that of the first goal."""


class Changing:
    """Changes of campaigns that people ask for by forms.

    Args:
        waiting: waits for the jobs.
    """

    def __init__(self, waiting: Waiting) -> None:
        self._waiting, self._service, self._pages = waiting, waiting.service, waiting.pages

    def read(self, campaign: str) -> tuple[Reading, CampaignState]:
        """Return a campaign.

        Raises:
            HTTPException: if there is none, or it cannot be read.
        """
        reading = self._service.shelf.read(campaign)
        if reading is None or reading.state is None:
            raise HTTPException(404, "Expected a campaign of this folder.")
        return reading, reading.state

    async def change(
        self, request: Request, campaign: str, operation: str, arguments: Mapping[str, object], sent: Sent
    ) -> Response:
        """Start a job that changes a campaign, and answer the form."""
        form = Form(request.url.path, sent.fields)
        page, before = f"/campaigns/{campaign}", len(self.read(campaign)[1].rounds)
        following = Next(page, lambda job: to(f"{page}?said={say_change(job, before)}"), form)

        def go() -> Response:
            job = self._service.do(campaign, operation, arguments, sent.get("version"))
            return self._waiting.go_on(job, following)

        return await self.in_thread(go)

    async def in_thread(self, go: Callable[[], Response]) -> Response:
        """Start a job in a thread, which may wait."""
        with refusals():
            return await run_in_threadpool(go)

    def look(self, campaign: str, operation: str, arguments: Mapping[str, object], template: str) -> Response:
        """Start a job that changes nothing, and show what it says."""
        reading, _ = self.read(campaign)
        back = f"/campaigns/{campaign}"

        def show(job: Job) -> Response:
            return self._pages.render(
                template, {"summary": reading.summary, "answer": job.result, "back": back, "job": job}
            )

        return self._waiting.go_on(self._service.do(campaign, operation, arguments), Next(back, show))

    async def upload(self, campaign: str, sent: Sent) -> Response:
        """Keep a table of results, and show what it would teach."""
        reading, state = self.read(campaign)
        if not sent.files:
            raise HTTPException(422, "Expected a file. Choose one first.")
        name, back = sent.files[0][1].filename or "", f"/campaigns/{campaign}"
        with refusals():
            upload = await run_in_threadpool(self._service.uploads.add, name, sent.files[0][1].file)

        def show(job: Job) -> Response:
            values = {"summary": reading.summary, "answer": job.result, "back": back, "name": name}
            before = len(state.measured)
            return self._pages.render("results", {**values, "table": f"{SENT}{upload.token}", "before": before})

        def go() -> Response:
            job = self._service.look(campaign, "read_results", {"table": str(upload.path)})
            return self._waiting.go_on(job, Next(back, show, names=((upload.path.name, name),)))

        return await self.in_thread(go)

    async def accept(self, request: Request, campaign: str, sent: Sent) -> Response:
        """Take in a table of results that was looked at."""
        back = f"/campaigns/{campaign}"
        following = Next(back, lambda _: to(f"{back}?said=accept"), Form(request.url.path, sent.fields))
        return await self.in_thread(
            lambda: self._waiting.go_on(
                self._service.accept(campaign, sent.get("table"), sent.get("version")), following
            )
        )


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
    router = APIRouter(include_in_schema=False, prefix="/campaigns/{campaign}")
    changing = Changing(waiting)

    @router.post("/results")
    async def record(request: Request, campaign: str, sent: SentForm) -> Response:
        entries = entries_of(sent, changing.read(campaign)[1])
        return await changing.change(request, campaign, "record", {"entries": entries}, sent)

    @router.post("/take-back")
    async def take_back(request: Request, campaign: str, sent: SentForm) -> Response:
        return await changing.change(request, campaign, "take_back", {"ids": [sent.get("id")]}, sent)

    @router.post("/mark")
    async def mark(request: Request, campaign: str, sent: SentForm) -> Response:
        kind = sent.get("kind")
        if kind not in MARKS:
            raise HTTPException(422, f"Expected one of {', '.join(MARKS)}. Got {kind!r}.")
        arguments = {"kind": kind, **{name: sent.get(name) for name in ("id", "text", "by")}}
        return await changing.change(request, campaign, "mark", arguments, sent)

    @router.post("/suggest")
    async def suggest(request: Request, campaign: str, sent: SentForm) -> Response:
        changes = changed(settings_of(sent), changing.read(campaign)[1].command)
        arguments = {"changes": changes, "more": sent.get("more") == "yes"}
        return await changing.change(request, campaign, "suggest", arguments, sent)

    @router.post("/undo")
    async def undo(request: Request, campaign: str, sent: SentForm) -> Response:
        return await changing.change(request, campaign, "undo", {}, sent)

    @router.post("/enough")
    async def look_ahead(campaign: str) -> Response:
        return await changing.in_thread(lambda: changing.look(campaign, "look_ahead", {}, "enough"))

    @router.post("/why")
    async def explain(campaign: str, sent: SentForm) -> Response:
        ids = {"ids": [sent.get("id")]}
        return await changing.in_thread(lambda: changing.look(campaign, "explain", ids, "why"))

    @router.post("/upload")
    async def upload(campaign: str, sent: SentForm) -> Response:
        return await changing.upload(campaign, sent)

    @router.post("/accept")
    async def accept(request: Request, campaign: str, sent: SentForm) -> Response:
        return await changing.accept(request, campaign, sent)

    return router
