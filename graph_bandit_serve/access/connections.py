"""Connections with limits: how many there are, how long a head takes to arrive, and how long an answer to be read."""

from __future__ import annotations

import asyncio
from http import HTTPStatus

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from graph_bandit_serve.access.answers import CLOSE, ShortAnswer
from graph_bandit_serve.access.bodies import OTHER_LENGTH
from graph_bandit_serve.settings import ServerLimits


class Connection(H11Protocol):
    """A connection as uvicorn handles it, which is closed if the head of a request does not arrive.

    uvicorn waits for a first head, and for an answer to be read, as long as the other side likes. The answer to what is
    not HTTP has the headers of every answer.
    """

    limits: ServerLimits
    """The limits; `connections_within` sets them."""

    _waiting: asyncio.TimerHandle | None = None
    _stuck: asyncio.TimerHandle | None = None
    _idle_since: float = 0.0

    @property
    def is_idle(self) -> bool:
        """Return whether no request is being answered, nor its body taken in."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
        """Accept a connection. If there are too many, the one that has been idle longest goes, or else this one."""
        super().connection_made(transport)
        self._idle_since = self.loop.time()
        if len(self.connections) > self.limits.connections:
            others = [other for other in self.connections if isinstance(other, Connection) and other is not self]
            idle = [other for other in others if other.is_idle and not other.transport.is_closing()]
            if not idle:
                words = "Too many connections."
                self._say(ShortAnswer(HTTPStatus.SERVICE_UNAVAILABLE, words, CLOSE))
                return
            min(idle, key=lambda other: other._idle_since).transport.abort()
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Take in a part of a request."""
        if self.transport.is_closing():
            return
        try:
            super().data_received(data)
            if not self.is_idle and self.scope["method"] == "POST" and self.conn.trailing_data[0]:
                self._say(OTHER_LENGTH)  # what follows a body is not taken for another request
        except h11.LocalProtocolError:  # an answer is under way already
            self.transport.abort()
        self._watch()

    def on_response_complete(self) -> None:
        """Wait for another request."""
        self._idle_since = self.loop.time()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Wait for the other side to read, for a limited time."""
        super().pause_writing()
        self._stuck = self._stuck or self.loop.call_later(self.limits.request_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on to write."""
        self._stop_writing_clock()
        super().resume_writing()

    def shutdown(self) -> None:
        """Close as the server stops. An answer that goes on ends: its application learns that the browser has gone."""
        super().shutdown()
        if not self.is_idle and self.scope["state"].get("goes_on"):
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_watching()
        self._stop_writing_clock()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP."""
        self._say(ShortAnswer(HTTPStatus.BAD_REQUEST, "Expected HTTP.", CLOSE))

    def _say(self, answer: ShortAnswer) -> None:
        """Send an answer in place of that of the application, and close."""
        if self.cycle is not None:
            self.cycle.disconnected = True  # what the application answers to an earlier part is not sent any more
        response = h11.Response(status_code=answer.status.value, headers=answer.head(), reason=answer.status.phrase)
        for event in (response, h11.Data(data=answer.body()), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _watch(self) -> None:
        """Give a head that is under way a limited time, from its first byte."""
        if not self.is_idle or self.transport.is_closing() or self.timeout_keep_alive_task is not None:
            self._stop_watching()
        elif self._waiting is None:
            self._waiting = self.loop.call_later(self.limits.head_seconds, self.transport.abort)

    def _stop_watching(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _stop_writing_clock(self) -> None:
        if self._stuck is not None:
            self._stuck.cancel()
            self._stuck = None


def connections_within(limits: ServerLimits) -> type[Connection]:
    """Return the class of connections with these limits."""
    return type("Connection", (Connection,), {"limits": limits})
