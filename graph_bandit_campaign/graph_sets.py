"""What a campaign asks of a pool."""

from __future__ import annotations

from typing import Protocol

from agents.contract import GraphSetLike


class PoolLike(GraphSetLike, Protocol):
    """K graphs that can be counted before they are read."""

    def __len__(self) -> int:
        """Return K."""
