"""Let through what belongs, and answer the rest at once: the guard stands in front of everything, errors included."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import TYPE_CHECKING

from graph_bandit_serve.access.addresses import Addresses
from graph_bandit_serve.access.answers import PAGE, ShortAnswer, send_answer, with_headers
from graph_bandit_serve.access.head import Head
from graph_bandit_serve.access.keys import Access, Keys
from graph_bandit_serve.settings import ServerLimits

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOG = logging.getLogger("graph_bandit_serve")
ENTER = "/enter"
READS = ("GET", "HEAD")
FILES = ("multipart/form-data", "application/octet-stream")
ENTERED = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=/"><title>Campaigns</title></head>
<body><p><a href="/">Go on to the campaigns</a></p></body></html>"""
"""For links in mail: browsers send no cookie along a redirect that began on another site."""


class Guard:
    """An application that asks another one only for those who belong.

    The other one finds in `scope["state"]` who asks, as `access`, and the `keys`, to make links for others.

    Args:
        app: the application.
        keys: the keys of people and programs.
        addresses: the addresses of the server.
        limits: the limits.
    """

    def __init__(self, app: ASGIApp, keys: Keys, addresses: Addresses, limits: ServerLimits) -> None:
        self._app, self._keys, self._addresses, self._limits = app, keys, addresses, limits
        # A browser sends the cookies of one port of a machine to all its ports, so two servers need two names; and a
        # link of guests, which anybody may have somebody else's browser follow, must not replace a member's cookie.
        start = "__Host-" * addresses.is_encrypted
        self.cookies = {access: f"{start}graph-bandit-{access.value}-{addresses.port}" for access in Access}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        head = Head.of(scope)
        answer = self._refuse(head) or (self._enter(head) if head.path == ENTER else None)
        access = self._who_asks(head) if answer is None else None
        answer = answer or self._admit(head, access) or self._refuse_body(head)
        if answer is not None:
            await send_answer(answer, head, send)
            return
        scope.setdefault("state", {}).update(access=access, keys=self._keys)

        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": with_headers([*message["headers"]])}
            await send(message)

        try:
            await self._app({**scope, "method": "GET" if head.method == "HEAD" else head.method}, receive, send_on)
        except Exception as error:  # noqa: BLE001 - who asked was answered that there is one
            LOG.error("%s %s: %s: %s", head.method, ascii(head.path)[1:-1], type(error).__name__, error)

    def _refuse(self, head: Head) -> ShortAnswer | None:
        """Refuse what nobody may ask, before any key is looked at."""
        if (head.only("host") or "").lower() not in self._addresses.hosts:
            return ShortAnswer(HTTPStatus.MISDIRECTED_REQUEST, "Expected an address of this server as Host.")
        if self._is_from_elsewhere(head):
            return ShortAnswer(HTTPStatus.FORBIDDEN, "Expected a request of this server's own pages.")
        return None

    def _is_from_elsewhere(self, head: Head) -> bool:
        """Return whether a page of another site asks, other than by a link to here."""
        sites, origins = head.all_of("sec-fetch-site"), head.all_of("origin")
        is_ours = all(site in ("same-origin", "none") for site in sites)
        is_link = head.method in READS and head.all_of("sec-fetch-mode") == ["navigate"]
        is_framed = any(place not in ("document", "empty") for place in head.all_of("sec-fetch-dest")) and not is_ours
        if not is_ours and (not is_link or is_framed):
            return True
        return head.method not in READS and any(origin.lower() not in self._addresses.origins for origin in origins)

    def _enter(self, head: Head) -> ShortAnswer:
        """Exchange the token of a link for a session, and lead away from the address that holds it."""
        if head.method != "GET":  # a program that looks ahead by HEAD would use up the link
            return ShortAnswer(HTTPStatus.METHOD_NOT_ALLOWED, "Expected GET.", (("allow", "GET"),))
        session = self._keys.enter(head.token)
        access = self._keys.of_session(session or "")
        if session is None or access is None:
            words = "Expected a link that was not used yet. Ask a member for a new one, or start the server again."
            return ShortAnswer(HTTPStatus.FORBIDDEN, words)
        life = f"Max-Age={int(self._limits.session_seconds)}"
        parts = [f"{self.cookies[access]}={session}", "Path=/", "HttpOnly", "SameSite=Strict", life]
        cookie = ("set-cookie", "; ".join(parts + ["Secure"] * self._addresses.is_encrypted))
        if head.only("sec-fetch-site") in (None, "none", "same-origin"):
            return ShortAnswer(HTTPStatus.SEE_OTHER, "Go on at /", (cookie, ("location", "/")))
        return ShortAnswer(HTTPStatus.OK, ENTERED, (cookie,), PAGE)

    def _admit(self, head: Head, access: Access | None) -> ShortAnswer | None:
        """Return None for those who belong, else the answer."""
        if access is None:
            words = (
                "Expected a key, or a browser that was let in. Use the link that `graph-bandit serve` printed. If you "
                "have, and followed a link of another site to here: press Enter in the line of the address."
            )
            return ShortAnswer(HTTPStatus.UNAUTHORIZED, words, (("www-authenticate", "Bearer"),))
        if head.method in READS:
            return None
        if access is Access.GUEST:
            return ShortAnswer(HTTPStatus.FORBIDDEN, "Expected a member of the team: guests only read.")
        if not (head.all_of("authorization") or head.all_of("origin") or head.all_of("sec-fetch-site")):
            return ShortAnswer(HTTPStatus.FORBIDDEN, "Expected a browser that says which page asks.")
        return None

    def _refuse_body(self, head: Head) -> ShortAnswer | None:
        """Refuse a body that is too long, or whose length is not known."""
        if head.length is None:
            return ShortAnswer(HTTPStatus.LENGTH_REQUIRED, "Expected a body with Content-Length, and not in chunks.")
        most = self._limits.upload_bytes if head.content_type in FILES else self._limits.form_bytes
        if head.length > most:
            words = f"Expected a body of at most {most} bytes. Send less at once."
            return ShortAnswer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, words)
        return None

    def _who_asks(self, head: Head) -> Access | None:
        """Return who asks, by the key that is named or else by the cookie; None if nobody who belongs."""
        if head.all_of("authorization"):
            scheme, _, key = (head.only("authorization") or "").partition(" ")
            return self._keys.of_program(key) if scheme.lower() == "bearer" else None
        for access, name in self.cookies.items():  # a member comes first
            if access in map(self._keys.of_session, head.cookies(name)):
                return access
        return None
