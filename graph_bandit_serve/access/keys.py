"""Keys of people and programs: links that are used once, that of guests, sessions of browsers, a key for programs."""

from __future__ import annotations

import hmac
import math
import secrets
import time
from collections.abc import Callable
from contextvars import ContextVar
from enum import Enum

from graph_bandit_serve.settings import ServerLimits

PERSON: ContextVar[str] = ContextVar("PERSON", default="program")
"""Who asks: a session of a browser, all guests, or all programs."""
NAME: ContextVar[str] = ContextVar("NAME", default="")
"""What this person is called, as the invitation said; empty: it is not known."""
BYTES = 32  # of randomness: nobody guesses a key


class Access(Enum):
    """Who asks."""

    MEMBER = "member"
    GUEST = "guest"


class Keys:
    """The keys of one start of the server, which are new each time and in memory alone.

    Args:
        guests: whether there is a link of guests.
        limits: the limits; of them, how long sessions and invitations last.
        clock: returns seconds.
    """

    def __init__(self, guests: bool, limits: ServerLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self.link, self.program = secrets.token_urlsafe(BYTES), secrets.token_urlsafe(BYTES)
        self.guest_link = secrets.token_urlsafe(BYTES) if guests else ""
        self._limits, self._clock = limits, clock
        self._links = {self.link: (Access.MEMBER, math.inf, "")}
        self._sessions: dict[str, tuple[Access, float, str]] = {}

    def invite(self, access: Access, name: str = "") -> str:
        """Return the token of another link, which lets somebody in once. Only members may ask for one.

        Args:
            access: as whom it lets somebody in.
            name: what they are called in what they change; empty: they say so themselves.
        """
        token = secrets.token_urlsafe(BYTES)
        self._links[token] = (access, self._clock() + self._limits.invitation_seconds, name)
        return token

    def enter(self, token: str) -> str | None:
        """Return the key of a new session for the token of a link; None if it lets nobody in, or not again."""
        is_guest = bool(self.guest_link) and same(token, self.guest_link)
        access, until, name = (Access.GUEST, math.inf, "") if is_guest else self._links.pop(token, (None, 0.0, ""))
        if access is None or self._clock() >= until:
            return None
        session = secrets.token_urlsafe(BYTES)
        self._sessions[session] = (access, self._clock() + self._limits.session_seconds, name)
        return session

    def of_session(self, key: str) -> Access | None:
        """Return whose session a key is of; None if there is none, or it has ended."""
        access, until, _ = self._sessions.get(key, (None, 0.0, ""))
        return access if self._clock() < until else None

    def name_of(self, session: str) -> str:
        """Return what the person of a session is called; empty if it is not known."""
        return self._sessions.get(session, (None, 0.0, ""))[2]

    def of_program(self, key: str) -> Access | None:
        """Return who a program is, by its key; None if it is another key."""
        return Access.MEMBER if same(key, self.program) else None


def same(given: str, expected: str) -> bool:
    """Return whether two keys are equal, in a time that tells nothing about either."""
    return hmac.compare_digest(given.encode(), expected.encode())
