"""The operations on campaigns for programs: each is a job, which is waited for a while."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, ConfigDict, Field, JsonValue, StrictFloat

from graph_bandit_serve.refusals import REFUSALS
from graph_bandit_serve.rest.jobs import LONGEST_WAIT, Answers, JobView, Wait, answer_job
from graph_bandit_serve.service import SENT, Service
from graph_bandit_serve.work.jobs import Job

IfMatch = Annotated[
    str | None,
    Header(description="ETag of the version that the program has seen. If the file has changed, nothing is done."),
]
RequestKey = Annotated[
    str,
    Header(
        alias="Idempotency-Key",
        max_length=200,
        description="Any text. The same request with the same key again gets the same job, and nothing is done twice.",
    ),
]
FileName = Annotated[str, Query(description="Its name, of which the ending counts.")]
IN_MEMORY = 1_000_000  # bytes of a file that is sent
WRITTEN: Answers = {
    202: {"description": "It goes on; `Location` leads to the job.", "model": JobView},
    404: {"description": "There is no such campaign or table."},
    409: {"description": "The key was used for another request, or the job was stopped."},
    412: {"description": "The file has changed since the version of `If-Match`; `detail` says how."},
    422: {"description": "What was asked is wrong; `detail` says what was expected."},
    503: {"description": "Too many jobs wait."},
}


class Asked(BaseModel):
    """A part of a request."""

    model_config = ConfigDict(use_attribute_docstrings=True, extra="forbid")


class ResultAsked(Asked):
    """A result."""

    id: str
    """What was measured."""
    value: str | StrictFloat
    """A number, a bound such as `>4.5`, or `failed`."""
    goal: str = ""
    """Name of the measured quantity; it may be left out with one goal."""
    noise: str | StrictFloat = ""
    """Standard deviation of the value; empty: it is not known."""


class ResultsAsked(Asked):
    """Results."""

    results: list[ResultAsked] = Field(min_length=1, max_length=10_000)
    """All are taken in, or none."""


class RoundAsked(Asked):
    """A round of suggestions."""

    more: bool = False
    """Whether another batch is wanted although no result came in; else the last one is suggested again."""
    changes: dict[str, JsonValue] = Field(default_factory=dict)
    """Settings of `suggest` that change, such as `n`, `require`, `budget`; they are kept."""


class MarkAsked(Asked):
    """A mark of a graph."""

    id: str
    """Its id."""
    text: str = ""
    """The reason of a veto, or a comment."""
    by: str = ""
    """Who says so."""


class IdsAsked(Asked):
    """Graphs."""

    ids: list[str] = Field(min_length=1, max_length=1_000)
    """Their ids."""


class SentTable(Asked):
    """A table that was sent."""

    table: str
    """By which it is named in requests, until it is used: `upload:TOKEN`."""


class CampaignAsked(Asked):
    """A new campaign."""

    name: str
    """Its name."""
    pool: str
    """The pool: a table of the folder by its place in it, or `upload:TOKEN`."""
    measured: list[str] = Field(default_factory=list)
    """Tables of results, likewise."""
    settings: dict[str, JsonValue] = Field(default_factory=dict)
    """Settings of `suggest`, such as `maximize`, a list of columns, and `n`."""


class PoolAsked(Asked):
    """A pool to look at."""

    pool: str
    """A table of the folder by its place in it, or `upload:TOKEN`."""
    smiles: str = "smiles"
    """Column of the SMILES."""
    id: str | None = None
    """Column of the names; null: `id`, if there is one."""
    sheet: str | None = None
    """Sheet of a workbook; null: the first."""


class BacktestAsked(Asked):
    """A finished table to replay."""

    table: str
    """A table of the folder by its place in it, or `upload:TOKEN`."""
    settings: dict[str, JsonValue] = Field(default_factory=dict)
    """Settings of `backtest`, such as `maximize`, a column, `n`, a list of sizes, `starts` and `budget`."""


class Way:
    """How a program asks for a change, by the headers and the query of its request."""

    def __init__(self, if_match: IfMatch = None, idempotency_key: RequestKey = "", wait: Wait = LONGEST_WAIT) -> None:
        self.version, self.key, self.wait = version_of(if_match), idempotency_key, wait


Asking = Annotated[Way, Depends()]


def make_writing(service: Service, prefix: str) -> APIRouter:
    """Return the addresses by which programs change campaigns.

    Args:
        service: does what they ask for.
        prefix: begin of the addresses.
    """
    router = APIRouter(prefix=prefix, responses=WRITTEN, dependencies=REFUSALS)

    def finish(start: Callable[[], Job], wait: float, campaign: str = "", version: str = "") -> Response:
        """Start a job, wait for it, and answer with it."""
        job = start()
        job = service.jobs.wait(job.id, wait) or job
        return answer_job(job, service.shelf.tell_changes(campaign, version) if is_stale(job) else "")

    def change(campaign: str, operation: str, arguments: Mapping[str, object], way: Way) -> Response:
        start = partial(service.do, campaign, operation, arguments, way.version, way.key)
        return finish(start, way.wait, campaign, way.version)

    @router.post("/uploads", response_model=SentTable, status_code=201)
    async def upload(request: Request, name: FileName) -> SentTable:
        """Send a file, as the body of type `application/octet-stream`."""
        with tempfile.SpooledTemporaryFile(IN_MEMORY) as content:
            async for part in request.stream():
                content.write(part)
            content.seek(0)
            sent = await run_in_threadpool(service.uploads.add, name, content)
        return SentTable(table=f"{SENT}{sent.token}")

    @router.post("/pools/preview", response_model=JobView)
    def preview_pool(asked: PoolAsked, wait: Wait = LONGEST_WAIT) -> Response:
        """Say what a pool holds, with each row that cannot be read."""
        return finish(partial(service.read_pool, asked.pool, asked.smiles, asked.id, asked.sheet), wait)

    @router.post("/campaigns", response_model=JobView)
    def start_campaign(asked: CampaignAsked, idempotency_key: RequestKey = "", wait: Wait = LONGEST_WAIT) -> Response:
        """Start a campaign, and suggest its first round."""
        start = partial(service.begin, asked.name, asked.pool, asked.measured, asked.settings, idempotency_key)
        return finish(start, wait)

    @router.post("/campaigns/{campaign}/suggestions", response_model=JobView)
    def suggest(campaign: str, asked: RoundAsked, way: Asking) -> Response:
        """Suggest what to measure next, from all results; without new ones, the last round is answered again."""
        return change(campaign, "suggest", asked.model_dump(), way)

    @router.post("/campaigns/{campaign}/results", response_model=JobView)
    def record(campaign: str, asked: ResultsAsked, way: Asking) -> Response:
        """Take in results; those that are there already are ignored."""
        entries = [{**each.model_dump(), "value": f"{each.value}", "noise": f"{each.noise}"} for each in asked.results]
        return change(campaign, "record", {"entries": entries}, way)

    @router.post("/campaigns/{campaign}/results/take-back", response_model=JobView)
    def take_back(campaign: str, asked: IdsAsked, way: Asking) -> Response:
        """Take back results of some graphs that came in by `results`."""
        return change(campaign, "take_back", {"ids": asked.ids}, way)

    @router.post("/campaigns/{campaign}/results/preview", response_model=JobView)
    def preview_results(campaign: str, asked: SentTable, wait: Wait = LONGEST_WAIT) -> Response:
        """Say what a table of results would teach; nothing is taken in."""
        path, _ = service.table(asked.table)
        return finish(partial(service.look, campaign, "read_results", {"table": path}), wait)

    @router.post("/campaigns/{campaign}/results/table", response_model=JobView)
    def accept(campaign: str, asked: SentTable, way: Asking) -> Response:
        """Take in a table of results, which is kept next to the campaign's file."""
        start = partial(service.accept, campaign, asked.table, way.version, way.key)
        return finish(start, way.wait, campaign, way.version)

    def add_mark(kind: str, path: str, about: str) -> None:
        def mark(campaign: str, asked: MarkAsked, way: Asking) -> Response:
            return change(campaign, "mark", {"kind": kind, **asked.model_dump()}, way)

        address = f"/campaigns/{{campaign}}/{path}"
        router.add_api_route(address, mark, methods=["POST"], name=kind, description=about, response_model=JobView)

    add_mark("veto", "vetoes", "Say that a graph is not to be suggested; another takes its place in the last round.")
    add_mark("pin", "pins", "Say that a graph is to be in the next round.")
    add_mark("lift", "lifts", "Take back the veto or the pin of a graph.")
    add_mark("comment", "comments", "Keep a text about a graph.")

    @router.post("/campaigns/{campaign}/undo", response_model=JobView)
    def undo(campaign: str, way: Asking) -> Response:
        """Undo the last round, as if it had not been suggested; results stay."""
        return change(campaign, "undo", {}, way)

    @router.post("/campaigns/{campaign}/why", response_model=JobView)
    def explain(campaign: str, asked: IdsAsked, wait: Wait = LONGEST_WAIT) -> Response:
        """Say what is predicted of some graphs, and why."""
        return finish(partial(service.do, campaign, "explain", {"ids": asked.ids}), wait)

    @router.post("/campaigns/{campaign}/enough", response_model=JobView)
    def look_ahead(campaign: str, wait: Wait = LONGEST_WAIT) -> Response:
        """Say whether the pool holds a better graph, and whether to stop."""
        return finish(partial(service.do, campaign, "look_ahead", {}), wait)

    @router.post("/backtests", response_model=JobView)
    def backtest(asked: BacktestAsked, wait: Wait = LONGEST_WAIT) -> Response:
        """Replay a finished table of molecules: would suggestions have found the best ones sooner?"""
        return finish(partial(service.backtest, asked.table, asked.settings), wait)

    return router


def is_stale(job: Job) -> bool:
    """Return whether nothing was done, because the file has changed."""
    return isinstance(job.result, dict) and bool(job.result.get("stale"))


def version_of(header: str | None) -> str:
    """Return the version that the header If-Match names; empty if any will do."""
    text = (header or "").strip().removeprefix("W/").strip('"')
    return "" if text == "*" else text
