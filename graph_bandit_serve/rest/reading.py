"""The campaigns as JSON for programs, described by OpenAPI."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, HTTPException, Response

from graph_bandit_campaign import digest_of
from graph_bandit_serve.campaigns.folder import CampaignFolder
from graph_bandit_serve.campaigns.shelf import Shelf
from graph_bandit_serve.campaigns.views import CampaignList, CampaignView, Tables, describe
from graph_bandit_serve.rest.jobs import Answers

UNCHANGED: Answers = {304: {"description": "Nothing has changed since the version that `If-None-Match` names."}}
UNREADABLE: Answers = {422: {"description": "A header cannot be read."}}
UNKNOWN: Answers = {
    404: {"description": "There is no such campaign."},
    422: {"description": "The file cannot be read as a campaign."},
}
IfNoneMatch = Annotated[str | None, Header(description="ETags of versions that the program has.")]


def make_reading(shelf: Shelf, folder: CampaignFolder, prefix: str) -> APIRouter:
    """Return the addresses for programs.

    Args:
        shelf: the campaigns.
        folder: their folder.
        prefix: begin of the addresses.
    """
    router = APIRouter(prefix=prefix)

    @router.get("/tables", response_model=Tables)
    def list_tables() -> Tables:
        """List the tables of the folder, which can be pools or hold results."""
        listing = folder.list_tables()
        return Tables(tables=[file.name for file in listing.files], is_cut=listing.is_cut)

    @router.get("/campaigns", response_model=CampaignList, responses=UNCHANGED | UNREADABLE)
    def list_campaigns(if_none_match: IfNoneMatch = None) -> Response:
        """List the campaigns of the folder, with files that cannot be read, and why."""
        content = shelf.list_campaigns().model_dump_json()
        return answer(content, digest_of(content.encode()), if_none_match)

    @router.get("/campaigns/{campaign}", response_model=CampaignView, responses=UNCHANGED | UNKNOWN)
    def read_campaign(campaign: str, if_none_match: IfNoneMatch = None) -> Response:
        """Return all of a campaign; `campaign` is its `id` in the list."""
        reading = shelf.read(campaign)
        if reading is None:
            raise HTTPException(404, "Expected the id of a campaign. GET /api/v1/campaigns lists them.")
        if reading.state is None:
            raise HTTPException(422, reading.summary.problem)
        if is_known(reading.version, if_none_match):
            return answer("", reading.version, if_none_match)
        view = describe(reading.file.key, reading.file.name, reading.version, reading.state)
        return answer(view.model_dump_json(), reading.version, if_none_match)

    return router


def answer(content: str, version: str, known: str | None) -> Response:
    """Return JSON with its version, or that the program has it already.

    Args:
        content: the JSON.
        version: its ETag.
        known: the header If-None-Match.
    """
    headers = {"etag": f'"{version}"'}
    if is_known(version, known):
        return Response(status_code=304, headers=headers)
    return Response(content, media_type="application/json", headers=headers)


def is_known(version: str, known: str | None) -> bool:
    """Return whether the header If-None-Match names a version."""
    tags = {tag.strip().removeprefix("W/") for tag in (known or "").split(",")}
    return bool(tags & {f'"{version}"', "*"})
