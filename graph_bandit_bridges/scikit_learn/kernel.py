"""The kernel of graphs, for models of others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Self

from graph_bandit_env.extras import require

require("sklearn", "`GraphKernel`")

from sklearn.base import (  # noqa: E402 - after the message for people
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    clone,
)
from sklearn.utils.validation import check_is_fitted  # noqa: E402

from graph_bandit_bridges.scikit_learn.asking import AnyRater, Floats, ProcessOptions, compare, teach  # noqa: E402
from graph_bandit_bridges.scikit_learn.graphs import Graphs, ReadOptions, read  # noqa: E402

if TYPE_CHECKING:
    from sklearn.utils import Tags


class GraphKernel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Compare graphs by a sum of kernels, those of the agents `gp-` and `molecule-`.

        k(G, G') = sum_p w_p k_p(G, G')

    What is chosen for the graphs of `fit`, such as means, standard deviations and widths, stays for others: an entry of
    the kernel depends on its two graphs and on `fit` alone. There the weights add up to 1; those of graphs that are not
    molecules are shares of the variance over these graphs.

    As a step of a pipeline, it turns graphs into their kernel with those of `fit`, for models with
    `kernel="precomputed"`. As a function, `GraphKernel()(graphs, others)` also works without `fit`, as a support vector
    machine calls it: then scales are those of the second list, or of the only one.

    Args:
        weights: weight of each part by its name; parts that are not named are left out. None: the defaults of the
            agents. Parts of graphs are network, means, subtrees, nodes, sums, structure, edges, layers and itself
            (`agents.process.GraphProcessSettings`), those of molecules pairs, morgan, torsions, roles, properties and
            descriptors (`agents.molecule.MoleculeSettings`).
        depth: L of the kernel of a graph network, at least 2.
        bins: number of bins of each feature of nodes, by which subtrees compare features that are not integers.
        stereo: whether fingerprints of molecules tell stereoisomers apart.
        node_attribute: attribute of nodes of networkx graphs that holds their features, read where some node has it.
        edge_attribute: the same of edges.
        directed: whether edges have directions. None: networkx graphs say it, others have each edge in both.

    Attributes:
        graphs_: the graphs of `fit`.
        rater_: compares others with them.

    Raises:
        MissingExtraError: if scikit-learn is not installed.
    """

    graphs_: Graphs
    rater_: AnyRater

    def __init__(
        self,
        weights: Mapping[str, float] | None = None,
        *,
        depth: int = 2,
        bins: int = 4,
        stereo: bool = False,
        node_attribute: str | None = "x",
        edge_attribute: str | None = "weight",
        directed: bool | None = None,
    ) -> None:
        self.weights, self.depth, self.bins, self.stereo = weights, depth, bins, stereo
        self.node_attribute, self.edge_attribute, self.directed = node_attribute, edge_attribute, directed

    def fit(self, X: object, y: object = None) -> Self:
        """Take in the graphs on whose scales others are compared.

        Args:
            X: n graphs: a list or an array of SMILES, of PyG `Data`, or of networkx graphs; or a `GraphSet`.
            y: not used.

        Raises:
            TypeError, ValueError: if graphs cannot be read, or an argument is not valid.
        """
        graphs = read(X, self.reading)
        return self.learn(graphs, teach(self.options, graphs).rater())

    def transform(self, X: object) -> Floats:
        """Return the kernel between m graphs and those of `fit`, `(m, n)`.

        Raises:
            TypeError, ValueError: if graphs cannot be read, or are not like those of `fit`.
            NotFittedError: before `fit`.
        """
        check_is_fitted(self)
        return compare(self.rater_, read(X, self.reading, self.graphs_.form), self.graphs_)

    def __call__(self, X: object, Y: object = None) -> Floats:
        """Return the kernel between n graphs and m others, `(n, m)`; between the n graphs if there are no others.

        Raises:
            TypeError, ValueError: as `transform`.
        """
        others = X if Y is None else Y
        if not hasattr(self, "rater_"):
            fitted: GraphKernel = clone(self).fit(others)
            return fitted(X, Y)
        second = read(others, self.reading, self.graphs_.form)
        first = second if Y is None else read(X, self.reading, self.graphs_.form)
        return compare(self.rater_, first, second)

    @property
    def reading(self) -> ReadOptions:
        """Return how graphs are read."""
        return ReadOptions(
            node_attribute=self.node_attribute, edge_attribute=self.edge_attribute, directed=self.directed
        )

    @property
    def options(self) -> ProcessOptions:
        """Return what the settings of an agent with this kernel are made of."""
        return ProcessOptions(weights=self.weights, depth=self.depth, bins=self.bins, stereo=self.stereo)

    def learn(self, graphs: Graphs, rater: AnyRater) -> Self:
        """Take over graphs, and the weights that an agent has learnt on them."""
        self.graphs_, self.rater_ = graphs, rater
        self._n_features_out = len(graphs)
        return self

    def __sklearn_tags__(self) -> Tags:
        """Return tags: it takes graphs."""
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array, tags.input_tags.two_d_array = True, False
        return tags
