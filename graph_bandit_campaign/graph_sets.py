"""What a campaign asks of a pool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from torch_geometric.data import Data


class GraphSetLike(Protocol):
    """K graphs, in the form in which agents are handed graph sets."""

    def __len__(self) -> int:
        """Return K."""

    def to_pyg(self) -> list[Data]:
        """Return the graphs as PyG `Data`."""


@runtime_checkable
class MoleculeSetLike(GraphSetLike, Protocol):
    """K molecules, as `graph_bandit_env.MoleculeSet` holds them."""

    @property
    def smiles(self) -> Sequence[str]:
        """Return the SMILES of each molecule."""
