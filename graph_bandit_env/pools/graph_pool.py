"""A graph set with an identifier and an optional measured value for each graph, or with only a kernel."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graph_bandit_env.checks import check_names
from graph_bandit_env.graphs.graph_set import GraphSet


class GraphPool(GraphSet):
    """K graphs, each with an identifier and an optional measured value.

    Args:
        nodes, edge_links, edge_features: as in `GraphSet`.
        ids: K unique texts. If None, "0", "1", and so on.
        targets: K measured values, NaN if missing. None if there are none.
        directed: as in `GraphSet`.

    Raises:
        ValueError: as in `GraphSet`, or if there is not one identifier or target for each graph, two identifiers are
            equal, or a target is infinite.
        TypeError: if an identifier is not a text, or a target is not a number.
    """

    ids: tuple[str, ...]
    """Unique identifiers."""
    targets: NDArray[np.float64]
    """`(K,)`, read-only: measured values, NaN if missing."""

    def __init__(
        self,
        nodes: Sequence[ArrayLike],
        edge_links: Sequence[ArrayLike],
        edge_features: Sequence[ArrayLike] | None = None,
        ids: Sequence[str] | None = None,
        targets: ArrayLike | None = None,
        directed: bool | None = None,
    ) -> None:
        super().__init__(nodes, edge_links, edge_features, directed)
        self._label(ids, targets)

    @staticmethod
    def from_graph_set(
        graphs: GraphSet, ids: Sequence[str] | None = None, targets: ArrayLike | None = None
    ) -> GraphPool:
        """Create a pool from a graph set."""
        pool = GraphPool.__new__(GraphPool)
        pool._packed = graphs._packed
        pool._label(ids, targets)
        return pool

    def _label(self, ids: Sequence[str] | None, targets: ArrayLike | None) -> None:
        self.ids = check_names("ids", list(map(str, range(len(self)))) if ids is None else ids)
        if len(self.ids) != len(self):
            raise ValueError(f"Expected an identifier for each of {len(self)} graphs. Got {len(self.ids)}.")
        try:
            checked = np.array(np.full(len(self), np.nan) if targets is None else np.asarray(targets), np.float64)
        except (TypeError, ValueError) as error:
            raise TypeError(f"Expected `targets` to be numbers, NaN where nothing was measured. Got {error}.") from None
        if checked.shape != (len(self),):
            raise ValueError(f"Expected `targets` of shape `({len(self)},)`. Got `{checked.shape}`.")
        if (bad := np.flatnonzero(np.isinf(checked))).size:
            raise ValueError(
                f"Expected finite `targets`, or NaN where nothing was measured. Got inf for graph {bad[0]}."
            )
        checked.flags.writeable = False
        self.targets = checked

    def take(self, index: Sequence[int] | NDArray[np.integer]) -> GraphPool:
        """Return the graphs with these indices, in this order, with their identifiers and measured values."""
        taken = super().take(index)
        return GraphPool.from_graph_set(taken, [self.ids[k] for k in index], self.targets[np.asarray(index, np.int64)])

    def without_targets(self) -> Self:
        """Return the graphs with their identifiers, without measured values."""
        bare = copy.copy(self)
        bare._label(self.ids, None)
        return bare

    @property
    def known(self) -> NDArray[np.bool_]:
        """Return the mask of the graphs with a measured value, `(K,)`."""
        return ~np.isnan(self.targets)

    def _notes(self) -> list[str]:
        return [*super()._notes(), f"{self.known.sum()} measured"]


class KernelPool(GraphPool):
    """K items with a kernel and no features. Each is a graph of one node.

    Agents with `kernel="custom"` use the kernel, as do campaigns by default. Other agents cannot distinguish the
    graphs, and a campaign rejects those that need features.

    Args:
        kernel: `(K, K)`. Prior covariance of the mean rewards, up to a factor.
        ids: K unique texts. If None, "0", "1", and so on.
        targets: as in `GraphPool`.

    Raises:
        ValueError: as in `GraphPool`, or if the kernel is not square, finite and symmetric with a positive diagonal.
    """

    kernel: NDArray[np.float64]
    """`(K, K)`, read-only."""

    def __init__(self, kernel: ArrayLike, ids: Sequence[str] | None = None, targets: ArrayLike | None = None) -> None:
        matrix = np.array(kernel, np.float64)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.isfinite(matrix).all():
            raise ValueError(f"Expected a finite kernel of shape `(K, K)`. Got an array of shape `{matrix.shape}`.")
        if not np.allclose(matrix, matrix.T) or not (matrix.diagonal() > 0).all():
            raise ValueError("Expected a symmetric kernel with a positive diagonal. Got another, such as distances.")
        matrix.flags.writeable = False
        self.kernel = matrix
        nodes = [np.ones((1, 1), np.float32)] * len(matrix)
        super().__init__(nodes, [np.empty((0, 2), np.int64)] * len(matrix), ids=ids, targets=targets)

    def take(self, index: Sequence[int] | NDArray[np.integer]) -> KernelPool:
        """Return the items with these indices, in this order, with their part of the kernel."""
        chosen = np.asarray(index, np.int64)
        ids = [self.ids[k] for k in chosen]
        return KernelPool(self.kernel[np.ix_(chosen, chosen)], ids, self.targets[chosen])
