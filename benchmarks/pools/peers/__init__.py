"""Other people's optimisers as players of a pool, with their own defaults. Each needs its library."""

from __future__ import annotations

from benchmarks.pools.screening import Player

PEERS = ("tpe", "baybe")
"""Optuna's tree-structured Parzen estimator, and BayBE's default."""


def make_peer(name: str) -> Player:
    """Make a player of `PEERS`.

    Raises:
        ImportError: if its library is not installed.
    """
    if name == "baybe":
        from benchmarks.pools.peers.baybe import Baybe

        return Baybe()
    from benchmarks.pools.peers.snapping import SnappingPlayer
    from benchmarks.pools.peers.tpe import Parzen

    return SnappingPlayer(Parzen())
