"""Connections with limits: how many there are, how long a head is, and how long it takes to arrive."""

from __future__ import annotations

import asyncio
from http import HTTPStatus

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from graph_bandit_serve.access.answers import ShortAnswer
from graph_bandit_serve.settings import ServerLimits


class Connection(H11Protocol):
    """A connection as uvicorn handles it, which is closed if the head of a request does not arrive.

    uvicorn waits for a first head as long as the other side likes. The answer to what is not HTTP has the headers of
    every answer.
    """

    limits: ServerLimits
    """The limits; `connections_within` sets them."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
        """Accept a connection, unless there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            self._say(ShortAnswer(HTTPStatus.SERVICE_UNAVAILABLE, "Too many connections.", (("connection", "close"),)))
        else:
            self._watch()

    def data_received(self, data: bytes) -> None:
        """Take in a part of a request."""
        if self.transport.is_closing():
            return
        try:
            super().data_received(data)
        except h11.LocalProtocolError:  # an answer is under way already
            self.transport.abort()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_watching()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP."""
        self._say(ShortAnswer(HTTPStatus.BAD_REQUEST, "Expected HTTP.", (("connection", "close"),)))

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
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if is_answering or self.transport.is_closing() or self.timeout_keep_alive_task is not None:
            self._stop_watching()
        elif self._waiting is None:
            self._waiting = self.loop.call_later(self.limits.head_seconds, self.transport.abort)

    def _stop_watching(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None


def connections_within(limits: ServerLimits) -> type[Connection]:
    """Return the class of connections with these limits."""
    return type("Connection", (Connection,), {"limits": limits})
