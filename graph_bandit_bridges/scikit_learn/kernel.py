"""The kernel of graphs, and a Gaussian process regressor with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from graph_bandit_env.extras import require

require("sklearn", "`GraphKernel`")

from sklearn.base import (  # noqa: E402 - after the check for the extra
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    RegressorMixin,
    TransformerMixin,
    clone,
)
from sklearn.utils import check_array, check_random_state  # noqa: E402
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d  # noqa: E402

from graph_bandit_bridges.scikit_learn.graphs import Graphs, ReadOptions, read  # noqa: E402
from graph_bandit_bridges.scikit_learn.inputs import (  # noqa: E402
    AnyRater,
    Floats,
    ProcessOptions,
    Warp,
    compare,
    inputs_of,
    teach,
)
from graph_bandit_env.graphs import Edges  # noqa: E402

if TYPE_CHECKING:
    from sklearn.utils import Tags


class OfGraphs(BaseEstimator):
    """Estimator with a list of graphs as input."""

    def __sklearn_tags__(self) -> Tags:
        """Return the tags of an estimator of graphs."""
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array, tags.input_tags.two_d_array = True, False
        return tags


class TakesGraphs(OfGraphs):
    """Estimator with options for reading graphs."""

    node_attribute: str | None
    edge_attribute: Edges
    directed: bool | None

    @property
    def reading(self) -> ReadOptions:
        """Return the options for reading graphs."""
        return ReadOptions(
            node_attribute=self.node_attribute, edge_attribute=self.edge_attribute, directed=self.directed
        )


class GraphKernel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, TakesGraphs):
    """Sum of the graph kernels of the agents `gp-` and `molecule-`.

        k(G, G') = sum_p w_p k_p(G, G')

    Scales from the graphs of `fit`, such as means, standard deviations and widths, are also used for others: an entry
    of the kernel depends only on its two graphs and on `fit`. The weights sum to 1 over the graphs of `fit`. For graphs
    other than molecules, they are shares of the variance over these graphs.

    In a pipeline, it computes the kernel between graphs and those of `fit`, for models with `kernel="precomputed"`.
    As a function, `GraphKernel()(graphs, others)` also works without `fit`, as in a support vector machine. The scales
    then come from the second list, or from the only one.

    Args:
        weights: weight of each part by name. Other parts are excluded. If None, the defaults of the agents. Parts of
            graphs are network, means, subtrees, nodes, sums, structure, edges, layers and itself
            (`agents.process.GraphProcessSettings`). Parts of molecules are pairs, ecfp, torsions, fcfp, properties and
            rdkit (`agents.molecule.MoleculeSettings`).
        depth: L of the kernel of a graph network, at least 2.
        bins: number of bins of each node feature. Subtrees compare non-integer features by bin.
        stereo: if True, fingerprints of molecules distinguish stereoisomers.
        node_attribute: attribute of nodes of networkx graphs with their features, read if any node has it.
        edge_attribute: attribute of their edges, as in `graph_bandit_env.from_networkx`.
        directed: True if edges have directions. If None, as in each networkx graph, and other graphs are undirected.

    Attributes:
        graphs_: the graphs of `fit`.
        rater_: compares other graphs with them.

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
        edge_attribute: Edges = None,
        directed: bool | None = None,
    ) -> None:
        self.weights, self.depth, self.bins, self.stereo = weights, depth, bins, stereo
        self.node_attribute, self.edge_attribute, self.directed = node_attribute, edge_attribute, directed

    def fit(self, X: object, y: object = None) -> Self:
        """Fit the scales of the kernel to graphs.

        Args:
            X: n graphs: a list or array of SMILES, PyG `Data` or networkx graphs, or a `GraphSet`.
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
        """Return the kernel between n graphs and m others, `(n, m)`, or among the n graphs without others.

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
    def options(self) -> ProcessOptions:
        """Return the options for the settings of an agent with this kernel."""
        return ProcessOptions(weights=self.weights, depth=self.depth, bins=self.bins, stereo=self.stereo)

    def learn(self, graphs: Graphs, rater: AnyRater) -> Self:
        """Set the graphs, and the weights that an agent has learned on them."""
        self.graphs_, self.rater_ = graphs, rater
        self._n_features_out = len(graphs)
        return self


class GraphProcessRegressor(RegressorMixin, OfGraphs):
    """Exact Gaussian process regression of graphs with a learned kernel, the model of the agents.

        k = sum_p w_p k_p

    The weights w and the noise maximize the marginal likelihood of the values of `fit` (`agents.process`). Graphs are
    SMILES of molecules, PyG `Data` or networkx graphs. Duplicates in `fit` are replicates of one graph.

    Args:
        kernel: kernel with prior weights and options for reading graphs. If None, `GraphKernel()`.
        warp: "none" standardizes the values. "normal_scores" replaces them by normal scores of their ranks, for data
            with outliers.
        weight_spread: prior standard deviation of the logarithm of each weight. A small one keeps the weights.
        noise_variance: noise variance of the values, in their squared units. If None, by marginal likelihood.

    Attributes:
        kernel_: the `GraphKernel` with the learned weights.
        noise_std_: standard deviation of the noise of a value, in its units.
        shares_: share of each part of the kernel in the prior variance, by the compared property.

    Raises:
        MissingExtraError: if scikit-learn is not installed.
    """

    kernel_: GraphKernel
    noise_std_: float
    shares_: dict[str, float]

    def __init__(
        self,
        kernel: GraphKernel | None = None,
        *,
        warp: Warp = "none",
        weight_spread: float = 1.0,
        noise_variance: float | None = None,
    ) -> None:
        self.kernel, self.warp = kernel, warp
        self.weight_spread, self.noise_variance = weight_spread, noise_variance

    def fit(self, X: object, y: ArrayLike) -> Self:
        """Fit the weights and the noise.

        Args:
            X: n graphs, as in `GraphKernel.fit`.
            y: `(n,)`. Values of the graphs.

        Raises:
            TypeError, ValueError: if graphs cannot be read, an argument is not valid, or a value is not finite.
            DivergedError: if the weights could not be fitted.
        """
        kernel: GraphKernel = GraphKernel() if self.kernel is None else clone(self.kernel)
        values = check_array(column_or_1d(y, warn=True), ensure_2d=False, dtype=np.float64, input_name="y")
        graphs = read(X, kernel.reading)
        check_consistent_length(graphs.index, values)
        own: dict[str, Any] = {name: getattr(self, name) for name in ("warp", "weight_spread", "noise_variance")}
        options = replace(kernel.options, **own)
        agent = teach(options, graphs, values)
        self.kernel_, self.shares_ = kernel.learn(graphs, agent.rater()), agent.shares()
        self.noise_std_ = agent.predict().noise_std
        return self

    def predict(self, X: object, return_std: bool = False, return_cov: bool = False) -> Floats | tuple[Floats, Floats]:
        """Return the expected values of m graphs, `(m,)`.

        The prediction of a graph does not depend on the other graphs in `X`.

        Args:
            X: m graphs.
            return_std: if True, also return the standard deviations of the values without measurement noise, `(m,)`.
            return_cov: if True, also return the joint covariance, `(m, m)`.

        Raises:
            TypeError, ValueError: if graphs cannot be read, differ in form from those of `fit`, or both are requested.
            NotFittedError: before `fit`.
        """
        if return_std and return_cov:
            raise ValueError("Expected `return_std` or `return_cov`. Got both: the diagonal has the variances.")
        index, inputs = self._read(X)
        prediction = self.kernel_.rater_(inputs).prediction
        if return_cov:
            joint = self.kernel_.rater_.joint(inputs)
            return prediction.mean[index], joint.covariance_of_rewards()[np.ix_(index, index)]
        return (prediction.mean[index], prediction.std[index]) if return_std else prediction.mean[index]

    def predict_interval(self, X: object, level: float = 0.9) -> Floats:
        """Return prediction intervals for a new value of each of m graphs, including noise.

        Args:
            X: m graphs.
            level: coverage probability, between 0 and 1, both excluded.

        Returns:
            `(m, 2)`: lower and upper bounds.

        Raises:
            TypeError, ValueError, NotFittedError: as `predict`, or if `level` is not between 0 and 1.
        """
        index, inputs = self._read(X)
        return np.stack(self.kernel_.rater_(inputs).prediction.interval(level), axis=1)[index]

    def sample_y(self, X: object, n_samples: int = 1, random_state: int | np.random.RandomState | None = 0) -> Floats:
        """Draw joint samples of the values of m graphs without measurement noise, `(m, n_samples)`.

        Args:
            X: m graphs.
            n_samples: number of draws.
            random_state: a seed or a NumPy generator.

        Raises:
            TypeError, ValueError, NotFittedError: as `predict`.
        """
        index, inputs = self._read(X)
        seed = int(check_random_state(random_state).randint(2**31 - 1))
        drawn = self.kernel_.rater_.joint(inputs).draw_rewards(n_samples, torch.Generator().manual_seed(seed))
        return drawn.T[index]

    def _read(self, X: object) -> tuple[NDArray[np.int64], Any]:
        """Return the index of each of m graphs among the distinct ones, and these as inputs of the rater."""
        check_is_fitted(self)
        graphs = read(X, self.kernel_.reading, self.kernel_.graphs_.form)
        return graphs.index, inputs_of(self.kernel_.rater_, graphs)
