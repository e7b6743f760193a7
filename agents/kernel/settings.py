"""Settings of the agents with an exact Gaussian process of one kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from agents.contract.settings import POSITIVE, Bins, Layers, NodeCount, NodeFeaturesName, Width, between
from agents.kernel.features import FlatSettings
from agents.process.settings import ChangingSettings


@dataclass(frozen=True, kw_only=True)
class OneKernelSettings(ChangingSettings):
    """Settings of an exact Gaussian process, whatever its kernel."""

    exploration_scale: float = 1.0
    """nu, multiplies sigma."""
    output_scale: Annotated[float | None, POSITIVE] = None
    """Factor of the kernel, in squared units of the targets; None: by marginal likelihood."""
    standardize: bool = True
    """Standardise rewards before the fit, by mean and standard deviation over the distinct graphs seen so far."""
    refit_growth: float = 1.0
    """Learn scale and noise again when the number of rewards has grown by this share; 0: after every update. The
    Gaussian process uses every reward immediately in either case."""

    itself_weight: float = 0.05
    """Share of what is a graph's own in the prior variance, if the factor of the kernel is learnt; 0: nothing is."""

    @property
    def standardizes(self) -> bool:
        """Return whether rewards are standardised before the fit."""
        return self.standardize

    @property
    def known_weight(self) -> float | None:
        """Return the factor of the kernel if it is given."""
        return self.output_scale


@dataclass(frozen=True, kw_only=True)
class KernelSettings(OneKernelSettings):
    """Settings of an exact Gaussian process with the kernel of a graph network."""

    kernel: Literal["infinite", "empirical", "custom"] = "infinite"
    """Prior covariance: the infinite-width GNTK, the GNTK of a network of finite width, or a given K x K array."""
    kernel_name: str = ""
    """Name of a given kernel, which identifies it in results."""
    depth: Layers = 2
    """L, number of weight matrices of the network behind the kernel; at least 2."""
    width: Width = 512
    """m of that network, if its width is finite; even."""
    node_features: NodeFeaturesName = "auto"
    """Features of nodes: the given ones; or, if these make aggregated nodes nearly alike, also the degree of each node
    and the size of its graph, one-hot in bins."""
    node_count: NodeCount = "auto"
    """N, the divisor of the sum over a graph's nodes: the largest node count of the set, or the graph's own. Auto: the
    graph's own if its size is among the features, else the largest."""


@dataclass(frozen=True, kw_only=True)
class LinearSettings(FlatSettings, OneKernelSettings):
    """Settings of Bayesian linear regression. `preset=paper` selects LinUCB and linear Thompson sampling as published.

    These know the noise and the prior of the weights (A = I + sum_i x_i x_i^T), and take rewards and features as they
    are.
    """

    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {
        "paper": {
            "exploration_scale": 1.0,
            "output_scale": 1.0,
            "noise_variance": 1.0,
            "standardize": False,
            "scale_features": False,
        }
    }


@dataclass(frozen=True, kw_only=True)
class SubtreeSettings(OneKernelSettings):
    """Settings of an exact Gaussian process with the kernel of Weisfeiler-Lehman subtrees."""

    iterations: Annotated[int, between(1, 100)] = 1
    """Number of refinements of the labels of nodes: a subtree reaches this many edges from its root."""
    similarity: Literal["cosine", "gaussian"] = "cosine"
    """How counts of subtrees are compared: by their cosine, for which a graph and two copies of it are equal; or by a
    Gaussian of their distance, as wide as the median distance of the graphs of `reset`."""
    bins: Bins = 4
    """Number of bins of each feature of nodes, chosen so that each holds equally many nodes of the graphs of `reset`;
    not used if all features are integers."""
