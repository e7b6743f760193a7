"""Features of graphs for other models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from graph_bandit_env.extras import require

require("sklearn", "`GraphFeatures`")

from sklearn.base import TransformerMixin  # noqa: E402 - after the check for the extra
from sklearn.utils.validation import check_is_fitted  # noqa: E402

from graph_bandit_bridges.scikit_learn.graphs import Form, Graphs, read  # noqa: E402
from graph_bandit_bridges.scikit_learn.inputs import AnyRater, Floats, ProcessOptions, measure, teach  # noqa: E402
from graph_bandit_bridges.scikit_learn.kernel import TakesGraphs  # noqa: E402
from graph_bandit_env.graphs import Edges  # noqa: E402

DEFAULT_OF_GRAPHS = ("subtrees", "nodes", "sums", "structure", "edges", "layers")
DEFAULT_OF_MOLECULES = ("ecfp", "properties", "rdkit")
NO_NUMBERS = ("network", "means", "itself")
"""Parts of the kernel without explicit features."""


class GraphFeatures(TransformerMixin, TakesGraphs):
    """Transform graphs to the features that the agents compare.

    Args:
        parts: names of the parts. For graphs: subtrees, nodes, sums, structure, edges and layers. For molecules: pairs,
            ecfp, torsions, fcfp, properties and rdkit. If None, all parts, but only ecfp of the fingerprints.
        bits: number of columns of each kind of counts: subtrees and fingerprints.
        bins: as in `GraphKernel`.
        stereo: as in `GraphKernel`.
        node_attribute: as in `GraphKernel`.
        edge_attribute: as in `GraphKernel`.
        directed: as in `GraphKernel`.

    Attributes:
        form_: form of the graphs of `fit`.
        rater_: computes the features of other graphs on the same scales.
        widths_: number of features of each part, by name.
        means_: `(D,)`. Mean of each feature over the graphs of `fit`, used to impute missing ones.

    Raises:
        MissingExtraError: if scikit-learn is not installed.
    """

    form_: Form
    rater_: AnyRater
    means_: Floats
    widths_: dict[str, int]

    def __init__(
        self,
        parts: Sequence[str] | None = None,
        *,
        bits: int = 1024,
        bins: int = 4,
        stereo: bool = False,
        node_attribute: str | None = "x",
        edge_attribute: Edges = None,
        directed: bool | None = None,
    ) -> None:
        self.parts, self.bits, self.bins, self.stereo = parts, bits, bins, stereo
        self.node_attribute, self.edge_attribute, self.directed = node_attribute, edge_attribute, directed

    def fit(self, X: object, y: object = None) -> Self:
        """Fit the bins of node features and the means for imputation.

        Args:
            X: n graphs, as in `GraphKernel.fit`.
            y: not used.

        Raises:
            TypeError, ValueError: if graphs cannot be read, or an argument is not valid.
        """
        self._measure_first(X)
        return self

    def fit_transform(self, X: object, y: object = None) -> Floats:
        """Fit to graphs and transform them, with one computation of the features."""
        return self._fill(self._measure_first(X))

    def transform(self, X: object) -> Floats:
        """Return D finite features of each of m graphs, `(m, D)`.

        Raises:
            TypeError, ValueError: if graphs cannot be read, or differ in form from those of `fit`.
            NotFittedError: before `fit`.
        """
        check_is_fitted(self)
        return self._fill(self._measure(read(X, self.reading, self.form_)))

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """Return the names of the features, each from its part and position.

        Args:
            input_features: not used.
        """
        check_is_fitted(self)
        return np.array([f"{name} {k}" for name, width in self.widths_.items() for k in range(width)], object)

    def _measure_first(self, X: object) -> Floats:
        if not (isinstance(self.bits, int) and self.bits >= 1):
            raise ValueError(f"Expected `bits` to be an integer >= 1. Got {self.bits!r}.")
        graphs = read(X, self.reading)
        names = self.parts
        if names is None:
            names = DEFAULT_OF_MOLECULES if graphs.form.molecules else DEFAULT_OF_GRAPHS
        without = [name for name in names if name in NO_NUMBERS]
        if without or not len(names):
            raise ValueError(f"Expected names of parts that are numbers. Got {', '.join(without) or 'none'}.")
        options = ProcessOptions(weights=dict.fromkeys(names, 1.0), bins=self.bins, stereo=self.stereo)
        self.form_, self.rater_ = graphs.form, teach(options, graphs).rater()
        measured = measure(self.rater_, graphs, self.bits)
        if not any(numbers.shape[1] for numbers in measured.values()):
            raise ValueError(f"Expected parts that these graphs have. Got {', '.join(names)}.")
        self.widths_ = {name: numbers.shape[1] for name, numbers in measured.items()}
        numbers = np.concatenate(list(measured.values()), axis=1)[graphs.index]
        known = np.isfinite(numbers)
        self.means_ = np.where(known, numbers, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        return numbers

    def _measure(self, graphs: Graphs) -> Floats:
        measured = measure(self.rater_, graphs, self.bits)
        return np.concatenate(list(measured.values()), axis=1)[graphs.index]

    def _fill(self, numbers: Floats) -> Floats:
        return np.where(np.isfinite(numbers), numbers, self.means_)
