"""The interface of a pool that a campaign needs."""

from __future__ import annotations

from typing import Protocol

from agents.contract import GraphSetLike


class PoolLike(GraphSetLike, Protocol):
    """A graph set that knows its length before its graphs are read."""

    def __len__(self) -> int:
        """Return K."""
