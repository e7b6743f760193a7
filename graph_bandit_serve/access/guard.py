"""Forward authorized requests and reject all others. The guard wraps the whole application, including its errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from graph_bandit_serve.access.addresses import Addresses
from graph_bandit_serve.access.keys import NAME, PERSON, Keys
from graph_bandit_serve.settings import ServerLimits

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; form-action "
        "'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # with no-referrer, forms of our own pages would send `Origin: null`
    "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
"""Headers of every response. They forbid external content, framing, MIME sniffing, caching and external referrers."""
ENTER = "/enter"
FILES = ("multipart/form-data", "application/octet-stream")


class Guard:
    """An ASGI application that forwards only authorized requests to another one.

    Args:
        app: the wrapped application.
        keys: the keys of people and programs.
        addresses: the addresses of the server.
        limits: the limits.
    """

    def __init__(self, app: ASGIApp, keys: Keys, addresses: Addresses, limits: ServerLimits) -> None:
        self._app, self._keys, self._addresses, self._limits = app, keys, addresses, limits
        # A browser sends the cookies of one port of a machine to all its ports, so two servers need two names.
        self.cookie = f"{'__Host-' * addresses.is_encrypted}graph-bandit-{addresses.port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer or forward a request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return

        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, text in HEADERS.items():
                    headers.setdefault(name, text)  # drawings may be cached
            await send(message)

        request = Request(scope)
        person = self._who_asks(request)
        PERSON.set(person)
        NAME.set(self._keys.name_of(person) or "")
        await (self._answer(request, bool(person)) or self._app)(scope, receive, send_on)

    def _answer(self, request: Request, belongs: bool) -> Response | None:
        """Return the response to a login or a rejected request, or None if the request is to be forwarded."""
        headers = request.headers
        if headers.get("host", "").lower() not in self._addresses.hosts:
            return PlainTextResponse("Expected an address of this server as Host.", 421)
        if self._is_from_elsewhere(request):
            return PlainTextResponse("Expected a request of this server's own pages.", 403)
        if request.scope["path"] == ENTER:
            return self._enter(request)
        if not belongs:
            words = "Open the link that you were given, or ask a colleague for one. Programs send their key."
            return PlainTextResponse(words, 401, {"www-authenticate": "Bearer"})
        if request.method != "GET" and not {"authorization", "origin", "sec-fetch-site"} & {*headers.keys()}:
            return PlainTextResponse("Expected a browser that says which page asks.", 403)
        if "transfer-encoding" in headers:
            return PlainTextResponse("Expected a body with Content-Length, and not in chunks.", 411)
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        most = self._limits.upload_bytes if kind in FILES else self._limits.form_bytes
        if int(headers.get("content-length", 0)) > most:
            return PlainTextResponse(f"Expected a body of at most {most} bytes. Split the request.", 413)
        return None

    def _is_from_elsewhere(self, request: Request) -> bool:
        """Return True if the request comes from a page of another site, and not from a link on it."""
        headers, reads = request.headers, request.method == "GET"
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            is_link = reads and headers.get("sec-fetch-mode") == "navigate"
            if not is_link or headers.get("sec-fetch-dest", "document") not in ("document", "empty"):
                return True
        return not reads and any(each.lower() not in self._addresses.origins for each in headers.getlist("origin"))

    def _enter(self, request: Request) -> Response:
        """Exchange the token of a link for a session, and redirect to an address without the token."""
        if request.method != "GET":  # a HEAD request of a link preview would use up the link
            return PlainTextResponse("Expected GET.", 405, {"allow": "GET"})
        session = self._keys.enter(request.query_params.get("token", ""))
        if session is None:
            return PlainTextResponse("This link was used already, or is too old. Ask a colleague for a new one.", 403)
        answer = RedirectResponse("/", 303)
        answer.set_cookie(
            self.cookie,
            session,
            max_age=int(self._limits.session_seconds),
            secure=self._addresses.is_encrypted,
            httponly=True,
            samesite="lax",  # allows links in mails; requests that change data are POST with an Origin
        )
        return answer

    def _who_asks(self, request: Request) -> str:
        """Identify the sender by the key or, without one, by the cookie. Return an empty string if unauthorized."""
        if "authorization" in request.headers:
            scheme, _, key = request.headers["authorization"].partition(" ")
            return "program" * (scheme.lower() == "bearer" and self._keys.is_program(key))
        start, texts = f"{self.cookie}=", (line.split(";") for line in request.headers.getlist("cookie"))
        # A page on another port of this machine may have set a second cookie with this name.
        keys = (text.strip().removeprefix(start) for line in texts for text in line if text.strip().startswith(start))
        return next((key for key in keys if self._keys.name_of(key) is not None), "")
