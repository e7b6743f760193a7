"""Ask the application for an answer: for a limited time, so many at once, and saying nothing of its errors.

An answer that goes on, of server-sent events, has a longer time, and does not take up the room of the others.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from http import HTTPStatus
from typing import IO, TYPE_CHECKING

from graph_bandit_serve.access.answers import Pairs, ShortAnswer, send_answer, with_headers
from graph_bandit_serve.access.head import Head
from graph_bandit_serve.settings import ServerLimits

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

EVENTS = "text/event-stream"
PART = 65_536  # bytes
TOLD_SECONDS = 1.0  # for an application to end by itself
LOG = logging.getLogger("graph_bandit_serve")


class Incoming:
    """Give an application the body that has arrived, and tell it later when the browser has gone.

    Args:
        receive: receives what the server has.
        body: the body; None: there is none.
        length: its bytes.
    """

    def __init__(self, receive: Receive, body: IO[bytes] | None, length: int) -> None:
        self._receive, self._body, self._left = receive, body, length
        self._is_read = False
        self._gone: asyncio.Task[None] | None = None

    async def receive(self) -> Message:
        """Return a part of the body; after the last one, wait until the browser has gone."""
        if self._is_read:
            await asyncio.shield(self.watch())
            return {"type": "http.disconnect"}
        part = self._body.read(PART) if self._body is not None else b""
        self._left -= len(part)
        self._is_read = self._body is None or self._left <= 0
        return {"type": "http.request", "body": part, "more_body": not self._is_read}

    def watch(self) -> asyncio.Task[None]:
        """Return a task that ends when the browser has gone."""
        if self._gone is None:
            self._gone = asyncio.ensure_future(self._wait())
        return self._gone

    def close(self) -> None:
        """Watch no longer."""
        if self._gone is not None:
            self._gone.cancel()

    async def _wait(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass


class Outgoing:
    """Pass on to the browser what an application sends, with the headers of every answer.

    Args:
        head: of the request.
        send: sends to the browser.
        has_room: asked once, when an answer of events begins.
    """

    def __init__(self, head: Head, send: Send, has_room: Callable[[], bool]) -> None:
        self._head, self._send, self._has_room = head, send, has_room
        self.has_started = self.has_finished = self.is_given_up = self.is_refused = False
        self.goes_on: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def send(self, message: Message) -> None:
        """Send on what the application sends."""
        if self.is_given_up:
            raise ConnectionAbortedError("Another answer was sent.")
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", []))
            if is_of_events(headers):
                if not self._has_room():
                    self.is_given_up = self.is_refused = True
                    raise ConnectionAbortedError("Too many answers go on.")
                self.goes_on.set_result(None)
            self.has_started = True
            message = {**message, "headers": with_headers(headers)}
        else:
            self.has_finished = not message.get("more_body", False)
            message = {**message, "body": b""} if self._head.method == "HEAD" else message
        await self._send(message)

    async def finish(self) -> None:
        """End an answer of events as if the application had."""
        async with asyncio.timeout(TOLD_SECONDS):  # a browser that does not read could keep it from being sent
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
        self.has_finished = True


class Exchanges:
    """Requests that the application answers.

    Args:
        app: the application.
        limits: the limits.
    """

    def __init__(self, app: ASGIApp, limits: ServerLimits) -> None:
        self._app, self._limits = app, limits
        self._requests: set[asyncio.Task[None]] = set()
        self._streams: set[asyncio.Task[None]] = set()

    def refuse(self) -> ShortAnswer | None:
        """Return the answer if there are too many requests."""
        if len(self._requests) < self._limits.requests:
            return None
        words = "Too many requests at once. Try again."
        return ShortAnswer(HTTPStatus.SERVICE_UNAVAILABLE, words, (("retry-after", "1"),))

    async def ask(self, head: Head, scope: Scope, incoming: Incoming, send: Send) -> None:
        """Ask the application, and send its answer or another one.

        Raises:
            ConnectionAbortedError: if the answer had begun and stops in the middle.
        """

        def has_room() -> bool:
            if len(self._streams) >= self._limits.streams:
                return False
            self._requests.discard(task)
            self._streams.add(task)
            scope["state"]["goes_on"] = True  # the connection ends it if the server stops
            return True

        outgoing = Outgoing(head, send, has_room)
        inner = {**scope, "method": "GET"} if head.method == "HEAD" else scope
        task = asyncio.ensure_future(self._run(inner, incoming.receive, outgoing.send))
        self._requests.add(task)  # until it has ended: a thread cannot be stopped, and takes up the room of a request
        task.add_done_callback(self._forget)
        try:
            waits = (task, outgoing.goes_on)
            await asyncio.wait(waits, timeout=self._limits.request_seconds, return_when=asyncio.FIRST_COMPLETED)
            if outgoing.goes_on.done() and not task.done():
                await self._follow(task, incoming, outgoing, head)
            else:
                await self._answer_for(task, head, outgoing, send)
        finally:
            task.cancel()
            incoming.close()

    async def _answer_for(self, task: asyncio.Task[None], head: Head, outgoing: Outgoing, send: Send) -> None:
        """Answer for an application that takes too long or has failed."""
        answer = None
        if not task.done():
            outgoing.is_given_up = True
            log(head, "took too long")
            answer = ShortAnswer(HTTPStatus.SERVICE_UNAVAILABLE, "This takes too long.", (("retry-after", "5"),))
        elif outgoing.is_refused:
            answer = ShortAnswer(HTTPStatus.SERVICE_UNAVAILABLE, "Too many open pages.", (("retry-after", "5"),))
        elif error := task.exception():
            log(head, f"{type(error).__name__}: {error}")
            answer = ShortAnswer(HTTPStatus.INTERNAL_SERVER_ERROR, "An error. The terminal of the server says more.")
        if answer is not None and not outgoing.has_started:
            await send_answer(answer, head, send)
        elif outgoing.has_started and not outgoing.has_finished:
            raise ConnectionAbortedError("The answer was cut off.")

    async def _follow(self, task: asyncio.Task[None], incoming: Incoming, outgoing: Outgoing, head: Head) -> None:
        """Let an answer go on until it ends, its time is over, or the browser has gone."""
        gone = incoming.watch()
        await asyncio.wait((task, gone), timeout=self._limits.stream_seconds, return_when=asyncio.FIRST_COMPLETED)
        if gone.done():
            await asyncio.wait((task,), timeout=TOLD_SECONDS)  # the application was told
            return
        if not task.done():
            outgoing.is_given_up = True
            task.cancel()
            await asyncio.wait((task,), timeout=TOLD_SECONDS)
        elif error := task.exception():
            log(head, f"{type(error).__name__}: {error}")
        if not outgoing.has_finished:
            await outgoing.finish()

    async def _run(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._requests.discard(task)
        self._streams.discard(task)
        if not task.cancelled():
            task.exception()  # which nobody else may ask for


def is_of_events(headers: Pairs) -> bool:
    """Return whether an answer is one of server-sent events."""
    types = [value.decode("latin-1") for name, value in headers if name.lower() == b"content-type"]
    return any(text.partition(";")[0].strip().lower() == EVENTS for text in types)


def log(head: Head, reason: str) -> None:
    """Tell the server's terminal in one line."""
    LOG.error("%s %s: %s", ascii(head.method)[1:-1], ascii(head.path[:200])[1:-1], ascii(reason[:300])[1:-1])
