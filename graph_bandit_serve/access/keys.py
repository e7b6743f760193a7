"""Keys of people and programs: links that are used once, sessions of browsers, a key for programs."""

from __future__ import annotations

import hmac
import math
import secrets
import time
from collections.abc import Callable
from contextvars import ContextVar

from graph_bandit_serve.settings import ServerLimits

PERSON: ContextVar[str] = ContextVar("PERSON", default="program")
"""Who asks: a session of a browser, or all programs."""
NAME: ContextVar[str] = ContextVar("NAME", default="")
"""What this person is called, as the invitation said; empty: it is not known."""
BYTES = 32  # of randomness: nobody guesses a key


class Keys:
    """The keys of one start of the server, which are new each time and in memory alone.

    Args:
        limits: the limits; of them, how long sessions and invitations last.
        clock: returns seconds.
    """

    def __init__(self, limits: ServerLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self.link, self.program = secrets.token_urlsafe(BYTES), secrets.token_urlsafe(BYTES)
        self._limits, self._clock = limits, clock
        self._links = {self.link: (math.inf, "")}
        self._sessions: dict[str, tuple[float, str]] = {}

    def invite(self, name: str = "") -> str:
        """Return the token of another link, which lets somebody in once.

        Args:
            name: what they are called in what they change; empty: they say so themselves.
        """
        token = secrets.token_urlsafe(BYTES)
        self._links[token] = (self._clock() + self._limits.invitation_seconds, name)
        return token

    def enter(self, token: str) -> str | None:
        """Return the key of a new session for the token of a link; None if it lets nobody in, or not again."""
        until, name = self._links.pop(token, (0.0, ""))
        if self._clock() >= until:
            return None
        session = secrets.token_urlsafe(BYTES)
        self._sessions[session] = (self._clock() + self._limits.session_seconds, name)
        return session

    def name_of(self, session: str) -> str | None:
        """Return what the person of a session is called; None if there is no such session, or it has ended."""
        until, name = self._sessions.get(session, (0.0, ""))
        return name if self._clock() < until else None

    def is_program(self, key: str) -> bool:
        """Return whether a key is that of programs, in a time that tells nothing about it."""
        return hmac.compare_digest(key.encode(), self.program.encode())
