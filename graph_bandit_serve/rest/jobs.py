"""Jobs as JSON: how they stand, their progress as server-sent events, and a way to stop them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any, TypeAlias

from fastapi import APIRouter, HTTPException, Query, Response
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import JsonValue

from graph_bandit_serve.access.keys import PERSON
from graph_bandit_serve.campaigns.views import View
from graph_bandit_serve.refusals import REFUSALS
from graph_bandit_serve.service import Service
from graph_bandit_serve.work.jobs import Job, Status

Answers: TypeAlias = dict[int | str, dict[str, Any]]  # Any: the type that FastAPI asks for
LONGEST_WAIT = 15.0
Wait = Annotated[
    float,
    Query(ge=0, le=LONGEST_WAIT, description="Seconds to wait for the end of the job, before it is answered as it is."),
]
NO_JOB: Answers = {
    404: {"description": "There is no such job, or it ended long ago."},
    422: {"description": "`wait` is out of its limits."},
}
NOT_YOURS: Answers = {403: {"description": "Somebody else has started it."}}
EVENTS = "text/event-stream"


class JobView(View):
    """Something that is being done."""

    id: str
    """By which it is asked for."""
    campaign: str
    """Id of its campaign; empty if it is not about one."""
    operation: str
    """What is done."""
    is_mine: bool = False
    """Whether the person who asks started it, and can stop it."""
    status: Status
    """How it stands. `refused`: `problem` says what is wrong with what was asked; `failed`: it went wrong here."""
    progress: list[str]
    """The last lines about how far it is, the newest one last."""
    seconds: float
    """For how long it has run."""
    problem: str
    """Why it was refused, or failed."""
    result: JsonValue = None
    """What came of it: the `version` of the campaign's file after a change and what was `told`, or an answer."""


def view_job(job: Job) -> JobView:
    """Return a job as JSON shows it."""
    return JobView.model_validate(job).model_copy(update={"is_mine": job.person == PERSON.get()})


def answer_job(job: Job, stale: str = "") -> Response:
    """Answer with a job: 200 if it is done, 202 if it goes on, 422 if it was refused, 412 if the file has changed.

    Args:
        job: the job.
        stale: says what has changed in the file since the version that was named; empty: nothing.
    """
    status = {"done": 200, "refused": 422, "failed": 500, "stopped": 409}.get(job.status, 202)
    if stale:
        return JSONResponse({"detail": stale, "job": view_job(job).model_dump()}, 412)
    headers = {"location": f"/api/v1/jobs/{job.id}"}
    if status >= 400:
        detail = job.problem or "It was stopped."
        return JSONResponse({"detail": detail, "job": view_job(job).model_dump()}, status, headers)
    return JSONResponse(view_job(job).model_dump(), status, headers)


def make_jobs(service: Service, prefix: str) -> APIRouter:
    """Return the addresses of jobs.

    Args:
        service: knows them.
        prefix: begin of the addresses.
    """
    router = APIRouter(prefix=f"{prefix}/jobs", dependencies=REFUSALS)

    def known(job: Job | None) -> Job:
        if job is None:
            raise HTTPException(404, "Expected the id of a job that goes on, or ended not long ago.")
        return job

    @router.get("", response_model=list[JobView])
    def list_jobs() -> Response:
        """List the jobs of all people that run or wait, in the order in which they were started."""
        return JSONResponse([view_job(job).model_dump() for job in service.jobs.queue()])

    @router.get("/{job}", response_model=JobView, responses=NO_JOB)
    def read_job(job: str, wait: Wait = 0.0) -> Response:
        """Return how a job stands."""
        return JSONResponse(view_job(known(service.jobs.wait(job, wait))).model_dump())

    @router.post("/{job}/stop", response_model=JobView, responses=NO_JOB | NOT_YOURS)
    def stop_job(job: str) -> Response:
        """Stop a job of who asks; what it has not saved yet is as before."""
        return JSONResponse(view_job(known(service.stop(job))).model_dump())

    followed: Answers = {
        200: {"content": {EVENTS: {}}, "description": "A `JobView` each, without its result."},
        422: {"description": "It does not happen."},
    }

    @router.get("/{job}/events", responses=NO_JOB | followed)
    async def follow_job(job: str) -> Response:
        """Send how a job stands, at once and after each change, until it has ended."""
        known(service.jobs.get(job))

        async def events() -> AsyncIterator[str]:
            async for current in service.jobs.events(job):
                view = view_job(current).model_copy(update={"result": None})
                yield f"data: {view.model_dump_json()}\n\n"

        return StreamingResponse(events(), media_type=EVENTS)

    return router
