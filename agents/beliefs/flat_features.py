"""Flat features: one row of numbers for each graph, computed from the graphs or given by the user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from agents.contract.reading import DIRECTIONS, EDGE_FEATURES, NODE_FEATURES
from gntk import aggregate_neighbours

if TYPE_CHECKING:
    from torch_geometric.data import Batch


@dataclass(frozen=True, kw_only=True)
class FlatSettings:
    """Settings of agents that read one row of numbers for each graph."""

    features: Literal["means", "columns", "custom"] = "means"
    """Features of a graph: means of its nodes and its sizes (means), the columns of the graph set as made by
    `from_smiles(..., columns=...)` (columns), or a given K x d array (custom)."""
    features_name: str = ""
    """Name of a given array, which identifies it in results."""
    scale_features: bool = True
    """Scale each number to mean 0 and standard deviation 1 over the graphs of `reset`, and add a constant. If False,
    the numbers are used unscaled."""


@dataclass(frozen=True, eq=False)
class FlatFeatures:
    """One row of numbers for each graph. Later graphs are scaled like those of `reset`."""

    rows: Tensor
    """`(K, d)` float64."""
    middle: Tensor
    """`(d,)` float64. The subtracted values."""
    spread: Tensor
    """`(d,)` float64. The divisors of the differences."""
    computed: bool = True
    """True if the numbers are computed from the graphs. Given numbers cannot describe other graphs."""

    @staticmethod
    def of(rows: Tensor, scale: bool, computed: bool = True) -> FlatFeatures:
        """Wrap numbers `(K, d)` float64, scaled or not. A constant number keeps its unit."""
        middle, spread = rows.mean(0), rows.std(0, correction=0)
        spread = spread.where(spread > 1e-9 * (1 + rows.abs().max(0).values), 1.0)
        if not scale:
            middle, spread = torch.zeros_like(middle), torch.ones_like(spread)
        return FlatFeatures((rows - middle) / spread, middle, spread, computed)

    def exchange(self, kept: Tensor, graphs: Batch | None) -> FlatFeatures:
        """Return the rows of the remaining graphs, then those of new graphs.

        Raises:
            ValueError: if the numbers were given.
        """
        if not self.computed:
            raise ValueError(
                "Expected the graphs of `reset` in each observation, because the given features are those of these "
                'graphs. Got other graphs. Make the agent with features="means".'
            )
        old = self.rows[kept]
        new = old[:0] if graphs is None else (describe(graphs) - self.middle) / self.spread
        return replace(self, rows=torch.cat([old, new]))


class FlatReader:
    """Read one row of numbers for each graph, as chosen by the settings.

    Args:
        settings: choice of features.
        matrix: `(K, d)`, read as float64. Required if `settings.features` is "custom", otherwise None.

    Raises:
        ValueError: if a matrix is given without `features="custom"`, missing with it, or not finite numbers of graphs.
    """

    def __init__(self, settings: FlatSettings, matrix: ArrayLike | None) -> None:
        if (matrix is not None) != (settings.features == "custom"):
            raise ValueError('Expected `feature_matrix` together with `features="custom"`. Got one without the other.')
        self.settings, self._given = settings, None
        if matrix is not None:
            array = np.array(matrix, np.float64)
            if array.ndim != 2 or not array.size or not np.isfinite(array).all():
                count = int((~np.isfinite(array)).sum())
                raise ValueError(
                    f"Expected finite features of shape `(K, d)`. Got shape `{array.shape}`, with {count} entries "
                    "that are not finite."
                )
            self._given = torch.from_numpy(array)

    @property
    def reads(self) -> frozenset[str]:
        """Return the parts of a graph that the numbers may depend on. The user's own numbers may depend on all."""
        own = frozenset({NODE_FEATURES})
        return own if self.settings.features == "means" else own | {EDGE_FEATURES, DIRECTIONS}

    def look(self, graph_set: object) -> None:
        """Read the columns of a graph set, if used, and replace unknown numbers by the mean of the known ones.

        Raises:
            ValueError: if the graph set has no columns.
        """
        if self.settings.features != "columns":
            return
        columns = np.asarray(getattr(graph_set, "columns", np.empty((0, 0))), np.float64)
        if not columns.size or np.isnan(columns).all(axis=0).any():
            raise ValueError(
                'Expected a graph set with columns of numbers for features="columns", as `from_smiles` with `columns` '
                f"makes one. Got columns of shape `{columns.shape}`, or one without a number."
            )
        self._given = torch.from_numpy(np.where(np.isnan(columns), np.nanmean(columns, axis=0), columns))

    def read(self, batch: Batch) -> FlatFeatures:
        """Return the numbers of K graphs.

        Raises:
            ValueError: if given numbers do not have K rows.
        """
        if self._given is None:
            return FlatFeatures.of(describe(batch), self.settings.scale_features)
        if len(self._given) != batch.num_graphs:
            raise ValueError(f"Expected features of {batch.num_graphs} graphs. Got {len(self._given)} rows.")
        return FlatFeatures.of(self._given, self.settings.scale_features, computed=False)


def describe(batch: Batch) -> Tensor:
    """Return the features of graphs: the mean of the aggregated nodes, the mean of the nodes, and the sizes.

        phi(G) = ((1/n) sum_i h_i, (1/n) sum_i X_i, log n, log(1 + e))

    Here h_i is the aggregated node of `gntk.aggregate_neighbours`, n the number of nodes, and e that of edges. An
    undirected edge counts twice, once in each direction.

    Args:
        batch: K graphs.

    Returns:
        `(K, 2 d + 2)` float64.

    Raises:
        ValueError: as `gntk.aggregate_neighbours`.
    """
    graphs = aggregate_neighbours(batch, own_count=True)
    edges = torch.bincount(batch.batch[batch.edge_index[0]], minlength=batch.num_graphs)
    means: Sequence[Tensor] = [
        graphs.sum_over_nodes(nodes.double()) / graphs.sizes.double().unsqueeze(1) for nodes in (graphs.nodes, batch.x)
    ]
    return torch.cat([*means, graphs.sizes.double().log().unsqueeze(1), edges.double().log1p().unsqueeze(1)], dim=1)
