"""Make a link for another person of the team."""

from __future__ import annotations

from urllib.parse import urlsplit

from fastapi import APIRouter, Request
from fastapi.responses import Response

from graph_bandit_serve.access.addresses import is_local
from graph_bandit_serve.access.keys import Access
from graph_bandit_serve.web.pages import Pages


def make_inviting(pages: Pages, start: str) -> APIRouter:
    """Return the address at which a member gets a link for somebody else; the guard lets in no guests there.

    Args:
        pages: templates.
        start: begin of the links.
    """
    router = APIRouter(include_in_schema=False)

    @router.post("/invite")
    def invite(request: Request) -> Response:
        token = request.state.keys.invite(Access.MEMBER)
        return pages.render(
            "invitation", {"link": f"{start}/enter?token={token}", "is_local": is_local(urlsplit(start).hostname or "")}
        )

    return router
