"""Take in the body of a request before the application is asked: of a known size and type, within a limited time.

The application sees whole bodies only. They wait in memory if they are small, and else in a file without a name, which
only its owner can read.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from tempfile import SpooledTemporaryFile
from typing import IO, TYPE_CHECKING

from graph_bandit_serve.access.answers import CLOSE, ShortAnswer
from graph_bandit_serve.access.head import Head
from graph_bandit_serve.settings import ServerLimits

if TYPE_CHECKING:
    from starlette.types import Receive

FORMS = ("application/x-www-form-urlencoded", "application/json")
FILES = ("multipart/form-data", "application/octet-stream")
IN_MEMORY = 262_144  # bytes
OTHER_LENGTH = ShortAnswer(HTTPStatus.BAD_REQUEST, "Expected as many bytes as Content-Length says.", CLOSE)


class BodyError(Exception):
    """A body that did not arrive as it was announced.

    Args:
        answer: what is answered; None: nobody is there any more.
    """

    def __init__(self, answer: ShortAnswer | None) -> None:
        super().__init__(answer.words if answer else "The other side has gone.")
        self.answer = answer


class Bodies:
    """Takes in bodies, so many large ones at once.

    Args:
        limits: the limits.
    """

    def __init__(self, limits: ServerLimits) -> None:
        self._limits, self._large = limits, 0

    def refuse(self, head: Head) -> ShortAnswer | None:
        """Return the answer to a body by what its head says; None: there is none, or it may be sent."""
        if not head.has_body:
            return None
        if head.all_of("transfer-encoding"):
            words = "Expected a body with Content-Length, and not in chunks."
            return ShortAnswer(HTTPStatus.LENGTH_REQUIRED, words, CLOSE)
        if head.length is None:
            return ShortAnswer(HTTPStatus.BAD_REQUEST, "Expected a number as Content-Length.", CLOSE)
        if head.content_type not in (*FORMS, *FILES) or head.all_of("content-encoding"):
            words = f"Expected a body of one of these types, not compressed: {', '.join((*FORMS, *FILES))}."
            return ShortAnswer(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, words, CLOSE)
        most = self._limits.form_bytes if head.content_type in FORMS else self._limits.upload_bytes
        if head.length > most:
            words = f"Expected a body of at most {most} bytes. Send less at once."
            return ShortAnswer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, words, CLOSE)
        if self._is_large(head.length) and self._large >= self._limits.uploads:
            words = "Too many files are being sent at once. Try again."
            return ShortAnswer(HTTPStatus.SERVICE_UNAVAILABLE, words, (("retry-after", "5"), *CLOSE))
        return None

    @asynccontextmanager
    async def take(self, head: Head, receive: Receive) -> AsyncIterator[IO[bytes] | None]:
        """Take in a body that `refuse` has let pass, and keep it for a `with` block. None: there is none.

        Raises:
            BodyError: if it does not arrive in time, or not as it was announced.
        """
        if not head.has_body:
            yield None
            return
        length = head.length or 0
        self._large += self._is_large(length)
        try:
            with SpooledTemporaryFile(max_size=IN_MEMORY) as kept:
                await self._fill(kept, length, receive)
                kept.seek(0)
                yield kept
        finally:
            self._large -= self._is_large(length)

    def _is_large(self, length: int) -> bool:
        return length > self._limits.form_bytes

    async def _fill(self, kept: IO[bytes], length: int, receive: Receive) -> None:
        """Write a body into a file. Each part of it gives it more time, up to the time of a whole body."""
        limits, started = self._limits, asyncio.get_running_loop().time()
        size, is_more = 0, True
        while is_more:
            seconds = min(limits.upload_seconds, limits.head_seconds + size / limits.upload_pace)
            try:
                async with asyncio.timeout_at(started + seconds):
                    message = await receive()
            except TimeoutError as error:
                words = "Expected the body to arrive faster."
                raise BodyError(ShortAnswer(HTTPStatus.REQUEST_TIMEOUT, words, CLOSE)) from error
            if message["type"] == "http.disconnect":
                raise BodyError(None)
            part, is_more = message.get("body", b""), message.get("more_body", False)
            size += len(part)
            if size > length:
                raise BodyError(OTHER_LENGTH)
            try:
                kept.write(part)
            except OSError as error:
                words = "The disk of the server is too full for this body."
                raise BodyError(ShortAnswer(HTTPStatus.INSUFFICIENT_STORAGE, words, CLOSE)) from error
        if size < length:
            raise BodyError(OTHER_LENGTH)
