"""Keys of people and programs: single-use links, browser sessions and one key for programs."""

from __future__ import annotations

import hmac
import math
import secrets
import time
from collections.abc import Callable
from contextvars import ContextVar

from graph_bandit_serve.settings import ServerLimits

PERSON: ContextVar[str] = ContextVar("PERSON", default="program")
"""Sender of the request: the key of a browser session, or `program` for all programs."""
NAME: ContextVar[str] = ContextVar("NAME", default="")
"""Name of this person from the invitation. Empty if unknown."""
BYTES = 32  # of randomness, so that a key cannot be guessed


class Keys:
    """The keys of a running server. They are new at each start and exist only in memory.

    Args:
        limits: the limits. The lifetimes of sessions and invitations are used.
        clock: returns seconds.
    """

    def __init__(self, limits: ServerLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self.link, self.program = secrets.token_urlsafe(BYTES), secrets.token_urlsafe(BYTES)
        self._limits, self._clock = limits, clock
        self._links = {self.link: (math.inf, "")}
        self._sessions: dict[str, tuple[float, str]] = {}

    def invite(self, name: str = "") -> str:
        """Return the token of a new link for a single login.

        Args:
            name: name of the person in the history of changes. If empty, the person enters a name.
        """
        token = secrets.token_urlsafe(BYTES)
        self._links[token] = (self._clock() + self._limits.invitation_seconds, name)
        return token

    def enter(self, token: str) -> str | None:
        """Exchange the token of a link for the key of a new session. Return None if it is unknown, used or expired."""
        until, name = self._links.pop(token, (0.0, ""))
        if self._clock() >= until:
            return None
        session = secrets.token_urlsafe(BYTES)
        self._sessions[session] = (self._clock() + self._limits.session_seconds, name)
        return session

    def name_of(self, session: str) -> str | None:
        """Return the name of a session's person, or None if the session is unknown or has ended."""
        until, name = self._sessions.get(session, (0.0, ""))
        return name if self._clock() < until else None

    def is_program(self, key: str) -> bool:
        """Return True if a key is the key of programs. The comparison takes constant time."""
        return hmac.compare_digest(key.encode(), self.program.encode())
