"""Keys of people and programs: links that are used once, that of guests, sessions of browsers, a key for programs."""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable
from enum import Enum

from graph_bandit_serve.settings import ServerLimits

BYTES = 32  # of randomness: nobody guesses a key


class Access(Enum):
    """Who asks."""

    MEMBER = "member"
    GUEST = "guest"


class TimedKeys:
    """Keys that hold for a time.

    Args:
        seconds: how long each holds.
        clock: returns seconds.
    """

    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        self._seconds, self._clock = seconds, clock
        self._kept: dict[str, tuple[Access, float]] = {}

    def make(self, access: Access) -> str:
        """Return a new key."""
        key = secrets.token_urlsafe(BYTES)
        self._kept[key] = (access, self._clock() + self._seconds)
        return key

    def read(self, key: str) -> Access | None:
        """Return whose key this is; None if there is none, or its time is over."""
        access, until = self._kept.get(key, (None, 0.0))
        return access if self._clock() < until else None

    def use_up(self, key: str) -> Access | None:
        """Return whose key this is, once."""
        access = self.read(key)
        return access if self._kept.pop(key, None) else None


class Keys:
    """The keys of one start of the server, which are new each time and in memory alone.

    Args:
        guests: whether there is a link of guests.
        limits: the limits; of them, how long sessions and invitations last.
        clock: returns seconds.
    """

    def __init__(self, guests: bool, limits: ServerLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self.link = secrets.token_urlsafe(BYTES)
        self.guest_link = secrets.token_urlsafe(BYTES) if guests else ""
        self.program = secrets.token_urlsafe(BYTES)
        self._is_used = False
        self._sessions = TimedKeys(limits.session_seconds, clock)
        self._invitations = TimedKeys(limits.invitation_seconds, clock)

    def invite(self, access: Access) -> str:
        """Return the token of another link, which lets somebody in once. Only members may ask for one.

        Args:
            access: as whom it lets somebody in.
        """
        return self._invitations.make(access)

    def enter(self, token: str) -> str | None:
        """Return the key of a new session for the token of a link; None if it lets nobody in, or not again."""
        if same(token, self.link):
            if self._is_used:
                return None
            self._is_used = True
            return self._sessions.make(Access.MEMBER)
        if self.guest_link and same(token, self.guest_link):
            return self._sessions.make(Access.GUEST)
        access = self._invitations.use_up(token)
        return None if access is None else self._sessions.make(access)

    def of_session(self, key: str) -> Access | None:
        """Return whose session a key is of; None if there is none, or it has ended."""
        return self._sessions.read(key)

    def of_program(self, key: str) -> Access | None:
        """Return who a program is, by its key; None if it is another key."""
        return Access.MEMBER if same(key, self.program) else None


def same(given: str, expected: str) -> bool:
    """Return whether two keys are equal, in a time that tells nothing about either."""
    return hmac.compare_digest(given.encode(), expected.encode())
