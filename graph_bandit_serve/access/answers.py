"""Headers of every answer, and the short answers of the guard."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

from graph_bandit_serve.access.head import Head

if TYPE_CHECKING:
    from starlette.types import Send

Pairs = list[tuple[bytes, bytes]]

POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # with no-referrer, forms of our own pages would say `Origin: null`
    "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
"""Nothing is loaded or run from elsewhere, framed, guessed, kept, or told to the next site."""
TEXT, PAGE = "text/plain; charset=utf-8", "text/html; charset=utf-8"


@dataclass(frozen=True)
class ShortAnswer:
    """An answer of the guard."""

    status: HTTPStatus
    words: str
    """One line, or a page."""
    more: tuple[tuple[str, str], ...] = ()
    """Further headers."""
    content_type: str = TEXT

    def head(self) -> Pairs:
        """Return all headers."""
        length = str(len(self.body()))
        return to_bytes({"content-type": self.content_type, "content-length": length, **HEADERS}, (*self.more,))

    def body(self) -> bytes:
        """Return the words."""
        return self.words.encode() + b"\n"


def to_bytes(headers: dict[str, str], more: tuple[tuple[str, str], ...] = ()) -> Pairs:
    """Return headers as servers send them."""
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in (*headers.items(), *more)]


def with_headers(pairs: Pairs) -> Pairs:
    """Return the headers of an answer with those of every answer, which win."""
    return [(name, value) for name, value in pairs if name.decode("latin-1").lower() not in HEADERS] + to_bytes(HEADERS)


async def send_answer(answer: ShortAnswer, head: Head, send: Send) -> None:
    """Send a short answer. If the request has a body, which stays unread, the connection is closed."""
    headers = [*answer.head(), *to_bytes({"connection": "close"} if head.has_body else {})]
    await send({"type": "http.response.start", "status": answer.status.value, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body()})
