"""Keys of people and programs: the link that is used once, that of guests, sessions of browsers, a key for programs."""

from __future__ import annotations

import hashlib
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


class Keys:
    """The keys of one start of the server, which are new each time and in memory alone.

    They are compared by their digests, in a time that does not depend on where two of them differ.

    Args:
        guests: whether there is a link of guests.
        limits: the limits; of them, how many sessions there are and how long each lasts.
        clock: returns seconds.
    """

    def __init__(self, guests: bool, limits: ServerLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self.link = secrets.token_urlsafe(BYTES)
        self.guest_link = secrets.token_urlsafe(BYTES) if guests else ""
        self.program = secrets.token_urlsafe(BYTES)
        self._limits, self._clock, self._is_used = limits, clock, False
        self._sessions: dict[bytes, tuple[Access, float]] = {}

    def enter(self, token: str) -> str | None:
        """Return the key of a new session for the token of a link; None if it lets nobody in, or not again."""
        if same(token, self.link) and not self._is_used:
            self._is_used = True
            return self._open(Access.MEMBER)
        if self.guest_link and same(token, self.guest_link):
            return self._open(Access.GUEST)
        return None

    def of_session(self, key: str) -> Access | None:
        """Return whose session a key is of; None if there is none, or it has ended."""
        digest = digest_of_key(key)
        access, until = self._sessions.get(digest, (None, 0.0))  # digests tell nothing about keys that are like theirs
        if access is not None and self._clock() >= until:
            del self._sessions[digest]
            return None
        return access

    def of_program(self, key: str) -> Access | None:
        """Return who a program is, by its key; None if it is another key."""
        return Access.MEMBER if same(key, self.program) else None

    def _open(self, access: Access) -> str:
        """Make a session; guests have only so many, and never close those of members."""
        now = self._clock()
        self._sessions = {digest: kept for digest, kept in self._sessions.items() if kept[1] > now}
        if access is Access.GUEST:
            of_guests = [digest for digest, (owner, _) in self._sessions.items() if owner is Access.GUEST]
            for digest in of_guests[: max(0, len(of_guests) + 1 - self._limits.sessions)]:
                del self._sessions[digest]
        key = secrets.token_urlsafe(BYTES)
        self._sessions[digest_of_key(key)] = (access, now + self._limits.session_seconds)
        return key


def same(given: str, expected: str) -> bool:
    """Return whether two keys are equal, in a time that tells nothing about either."""
    return hmac.compare_digest(digest_of_key(given), digest_of_key(expected))


def digest_of_key(key: str) -> bytes:
    """Return a digest of a key, also if it is not text that can be encoded."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()
