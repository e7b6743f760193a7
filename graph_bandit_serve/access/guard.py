"""Let through what belongs, and answer the rest at once: the guard stands in front of everything, errors included."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from graph_bandit_serve.access.addresses import Addresses
from graph_bandit_serve.access.answers import CLOSE, PAGE, ShortAnswer, send_answer
from graph_bandit_serve.access.bodies import Bodies, BodyError
from graph_bandit_serve.access.exchanges import Exchanges, Incoming
from graph_bandit_serve.access.head import Head
from graph_bandit_serve.access.keys import Access, Keys
from graph_bandit_serve.settings import ServerLimits

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

ENTER = "/enter"
MCP = "/mcp"
READS = ("GET", "HEAD")
WRITES = ("POST",)
LONGEST_KEY = 200
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
        self._keys, self._addresses, self._limits = keys, addresses, limits
        self._bodies, self._exchanges = Bodies(limits), Exchanges(app, limits)
        # A browser sends the cookies of one port of a machine to all its ports, so two servers need two names; and a
        # link of guests, which anybody may have somebody else's browser follow, must not replace a member's cookie.
        start = "__Host-" * addresses.is_encrypted
        self.cookies = {access: f"{start}graph-bandit-{access.value}-{addresses.port}" for access in Access}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            return
        head = Head.of(scope)
        answer = self._refuse(head) or (self._enter(head) if head.path == ENTER else None)
        access = self._who_asks(head) if answer is None else None
        answer = answer or self._admit(head, access) or self._bodies.refuse(head) or self._exchanges.refuse()
        if answer is not None:
            await send_answer(answer, head, send)
            return
        scope.setdefault("state", {}).update(access=access, keys=self._keys)
        try:
            async with self._bodies.take(head, receive) as body:
                answer = self._exchanges.refuse()  # once more: a body takes time
                if answer is not None:
                    await send_answer(answer, head, send)
                    return
                incoming = Incoming(receive, body, head.length or 0)
                await self._exchanges.ask(head, scope, incoming, send)
        except BodyError as error:
            if error.answer is not None:
                await send_answer(error.answer, head, send)

    def _refuse(self, head: Head) -> ShortAnswer | None:
        """Refuse what nobody may ask, before any key is looked at."""
        if head.target_size > self._limits.target_bytes:
            return ShortAnswer(HTTPStatus.REQUEST_URI_TOO_LONG, "Expected a shorter address.", CLOSE)
        if head.size > self._limits.head_bytes:
            return ShortAnswer(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "Expected shorter headers.", CLOSE)
        if (head.only("host") or "").lower() not in self._addresses.hosts:
            return ShortAnswer(HTTPStatus.MISDIRECTED_REQUEST, "Expected an address of this server as Host.", CLOSE)
        if head.has_body and head.method not in WRITES:
            return ShortAnswer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "Expected no body but with POST.", CLOSE)
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
        session = self._keys.enter(head.token) if len(head.token) <= LONGEST_KEY else None
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
        if head.method == "DELETE" and head.path == MCP and not head.all_of("authorization"):
            return ShortAnswer(HTTPStatus.FORBIDDEN, "Expected a program, with its key.")
        return None

    def _who_asks(self, head: Head) -> Access | None:
        """Return who asks, by the key that is named or else by the cookie; None if nobody who belongs."""
        if head.all_of("authorization"):
            scheme, _, key = (head.only("authorization") or "").partition(" ")
            is_key = scheme.lower() == "bearer" and 0 < len(key) <= LONGEST_KEY
            return self._keys.of_program(key) if is_key else None
        for access, name in self.cookies.items():  # a member comes first
            keys = [key for key in head.cookies(name) if len(key) <= LONGEST_KEY]
            if access in map(self._keys.of_session, keys):
                return access
        return None
