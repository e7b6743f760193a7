"""The tables of a campaign for people: all predictions, to sort and to filter; downloads; a figure of its progress."""

from __future__ import annotations

import base64
from typing import Annotated, Literal

from fastapi import APIRouter, HTTPException, Query
from fastapi.responses import Response

from graph_bandit_serve.operations import File, Nothing, Rows
from graph_bandit_serve.refusals import REFUSALS
from graph_bandit_serve.web.pages import SVG, Pages, has_news
from graph_bandit_serve.web.waiting import Next, Waiting
from graph_bandit_serve.work.drawing import without_styles
from graph_bandit_serve.work.jobs import Job

A_PAGE = 100  # rows
PATIENCE = 10.0  # seconds for a figure
Which = Literal["suggestions", "predictions"]
Kind = Literal["csv", "xlsx", "sdf"]
TYPES = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "sdf": "chemical/x-mdl-sdfile",
}
Text = Annotated[str, Query(max_length=300)]


def make_tables(waiting: Waiting, pages: Pages) -> APIRouter:
    """Return the addresses of the tables of a campaign.

    Args:
        waiting: waits for the jobs.
        pages: templates.
    """
    router = APIRouter(include_in_schema=False, prefix="/campaigns/{campaign}", dependencies=REFUSALS)
    service = waiting.service

    @router.get("/predictions")
    def list_predictions(
        campaign: str,
        sort: Text = "",
        falling: bool = False,
        contains: Text = "",
        part: Text = "",
        page: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
    ) -> Response:
        asked: dict[str, object] = {"sort": sort, "falling": falling, "contains": contains, "part": part}
        place = {"which": "predictions", "start": (page - 1) * A_PAGE, "count": A_PAGE}
        reading = service.shelf.read(campaign)

        is_old = reading is not None and reading.state is not None and has_news(reading.state)

        def show(job: Job) -> Response:
            values = {**asked, "answer": job.result, "page": page, "a_page": A_PAGE, "is_old": is_old}
            return pages.render("predictions", {**values, "summary": reading.summary if reading else None})

        return waiting.go_on(
            service.start("rows", Rows.model_validate({**asked, **place}), campaign),
            Next(f"/campaigns/{campaign}", show),
        )

    @router.get("/files/{which}.{kind}")
    def download(
        campaign: str,
        which: Which,
        kind: Kind,
        sort: Text = "",
        falling: bool = False,
        contains: Text = "",
        part: Text = "",
    ) -> Response:
        def show(job: Job) -> Response:
            headers = {"content-disposition": f'attachment; filename="{which}.{kind}"'}
            return Response(base64.b64decode(str(job.result)), media_type=TYPES[kind], headers=headers)

        asked = {"sort": sort, "falling": falling, "contains": contains, "part": part}
        job = service.start("file", File.model_validate({"which": which, "kind": f".{kind}", **asked}), campaign)
        return waiting.go_on(job, Next(f"/campaigns/{campaign}", show))

    @router.get("/progress.svg")
    def draw(campaign: str) -> Response:
        job = service.start("draw", Nothing(), campaign)
        ended = service.jobs.wait(job.id, PATIENCE)
        if ended is None or ended.status != "done" or not ended.result:
            raise HTTPException(404, "There is nothing to draw yet.")
        return Response(without_styles(str(ended.result)), media_type=SVG)

    return router
