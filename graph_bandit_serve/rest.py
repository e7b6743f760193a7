"""JSON API of the campaigns for programs and pages, described by OpenAPI and generated from the operations table."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Header, HTTPException, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from graph_bandit_campaign import digest_of
from graph_bandit_serve.campaigns.listing import describe
from graph_bandit_serve.operations import OPERATIONS, Asked
from graph_bandit_serve.service import SENT, Service
from graph_bandit_serve.work.jobs import Job

PREFIX = "/api/v1"
LONGEST_WAIT = 15.0
IN_MEMORY = 1_000_000  # bytes of an uploaded file
Wait = Annotated[
    float,
    Query(ge=0, le=LONGEST_WAIT, description="Seconds to wait for the end of the job, before it is answered as it is."),
]
IfMatch = Annotated[
    str, Header(description="ETag of the version that was seen. If the file has changed, nothing is done.")
]
IfNoneMatch = Annotated[str, Header(description="ETags of versions that the program has.")]
WRITTEN: dict[int | str, dict[str, Any]] = {
    202: {"description": "The job is running. `Location` is its address."},
    404: {"description": "There is no such campaign or table."},
    409: {"description": "The job was stopped."},
    412: {"description": "The file has changed since the version of `If-Match`. `detail` describes the last change."},
    422: {"description": "The request is invalid. `detail` describes the expected one."},
    503: {"description": "Too many jobs wait."},
}


def answer_job(job: Job) -> Response:
    """Return the response for a job: 200 if it is done, 202 if it is waiting or running, 422 if it was rejected."""
    view, headers = job.model_dump(), {"location": f"{PREFIX}/jobs/{job.id}"}
    status = {"done": 200, "refused": 422, "failed": 500, "stopped": 409}.get(view["status"], 202)
    if status >= 400:
        view = {"detail": view["problem"] or "It was stopped.", "job": view}
    return JSONResponse(view, status, headers)


def make_rest(service: Service) -> APIRouter:
    """Return the routes for programs.

    Args:
        service: runs the requests.
    """
    router = APIRouter(prefix=PREFIX, responses={422: WRITTEN[422]})
    jobs, shelf = service.jobs, service.shelf

    def known(job: Job | None) -> Job:
        if job is None:
            raise HTTPException(404, "Expected the id of a running or recent job.")
        return job

    @router.get("/campaigns")
    def list_campaigns(if_none_match: IfNoneMatch = "") -> Response:
        """List the campaigns of the folder, and unreadable files with the reason."""
        content = msgspec.json.encode(shelf.list_campaigns())
        return with_version(content, digest_of(content), if_none_match)

    @router.get("/campaigns/{campaign}")
    def get_campaign(campaign: str, if_none_match: IfNoneMatch = "") -> Response:
        """Return a campaign as stored in its file."""
        reading = shelf.read(campaign)
        return with_version(msgspec.json.encode(reading.whole()), reading.version, if_none_match)

    @router.get("/tables")
    def list_tables() -> dict[str, Any]:
        """List the tables of the folder, to be used as pools or results."""
        return service.tables()

    @router.post("/uploads", response_model=dict[str, str])
    async def send_table(
        request: Request, name: Annotated[str, Query(description="Its name, of which the ending counts.")]
    ) -> Response:
        """Upload a table as the request body. Other requests refer to it by `table` of the response."""
        with tempfile.SpooledTemporaryFile(IN_MEMORY) as content:
            async for part in request.stream():
                await run_in_threadpool(content.write, part)
            content.seek(0)
            token = await run_in_threadpool(service.uploads.add, name, content)
        return JSONResponse({"table": f"{SENT}{token}"})

    @router.get("/jobs", response_model=list[Job])
    def list_jobs() -> list[Job]:
        """List the running and waiting jobs of all people in start order."""
        return jobs.queue()

    @router.get("/jobs/{job}", response_model=Job)
    def get_job(job: str, wait: Wait = 0.0) -> Job:
        """Return the state of a job."""
        return known(jobs.wait(job, wait))

    @router.post("/jobs/{job}/stop", response_model=Job)
    def stop_job(job: str) -> Job:
        """Stop one of your jobs. Changes that it has not saved are discarded."""
        return known(service.stop(job))

    def add(name: str, asked_type: type[Asked], of_folder: bool) -> None:
        def of_campaign(campaign: str, asked: Any, wait: Wait = LONGEST_WAIT, if_match: IfMatch = "") -> Response:
            version = if_match.strip('W/"* ')  # `*` is any
            job = service.start(name, asked, campaign, version)
            answer = answer_job(jobs.wait(job.id, wait) or job)
            if isinstance(job.result, dict) and job.result.get("stale"):
                now = shelf.read(campaign)
                last = "".join(map(describe, now.past[-1:]))
                raise HTTPException(412, f"Expected version {now.version}. Got {version}. The last change: {last}.")
            return answer

        def of_all(asked: Any, wait: Wait = LONGEST_WAIT) -> Response:
            return of_campaign("", asked, wait)

        call: Callable[..., Response] = of_all if of_folder else of_campaign
        call.__annotations__["asked"] = asked_type
        path = f"/{name}" if of_folder else f"/campaigns/{{campaign}}/{name}"
        about = OPERATIONS[name].help
        router.add_api_route(
            path, call, methods=["POST"], name=name, description=about, response_model=Job, responses=WRITTEN
        )

    for name, operation in OPERATIONS.items():
        add(name, operation.asked, operation.of_folder)
    return router


def with_version(content: bytes, version: str, known: str) -> Response:
    """Return JSON with its version, or 304 if the client already has this version."""
    headers = {"etag": f'"{version}"'}
    if headers["etag"] in known:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type="application/json", headers=headers)
