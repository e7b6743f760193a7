"""Settings of the agents with an exact Gaussian process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from agents.beliefs.flat_features import FlatSettings
from agents.contract.settings import (
    POSITIVE,
    Bins,
    Layers,
    NodeCount,
    NodeFeaturesName,
    Warp,
    between,
    check_fields,
    check_warp,
)

PARTS = ("network", "means", "subtrees", "nodes", "sums", "structure", "edges", "layers", "itself")
"""The compared features. Each has a setting for its weight."""


@dataclass(frozen=True, kw_only=True)
class MixtureSettings:
    """Settings of an exact Gaussian process whose kernel is a sum of parts."""

    weight_spread: Annotated[float, POSITIVE] = 1.0
    """Prior standard deviation of the logarithm of each weight. Small values keep the weights."""
    refit_growth: float = 0.5
    """Relearn the weights when the number of rewards has grown by this share. 0: after every update. The Gaussian
    process uses every reward immediately in either case."""
    warp: Warp = "none"
    """Targets of the fit: standardised rewards ("none"), or normal scores of the ranks of rewards ("normal_scores"),
    which are robust to outliers."""
    exploration_scale: float | None = None
    """nu, multiplies sigma. None: 2 if graphs can be played again, so that an underrated graph is not ignored forever,
    and 1 if played graphs are no longer on offer, as in the search of a pool."""
    short_list: int = 1000
    """Number of graphs to choose among with their joint covariance: those with the largest mean + 2 sigma."""
    noise_variance: Annotated[float | None, POSITIVE] = None
    """Noise variance of the rewards, in their squared units. None: by marginal likelihood."""
    forget: int | float | None = None
    """Forgetting of earlier rewards, if mean rewards drift. None: no forgetting. An integer W: only the last W count. A
    number gamma below 1: a reward observed d rewards ago has weight gamma^d, with a sum of at most 1 / (1 - gamma)."""

    parts: ClassVar[tuple[str, ...]] = ()
    """The compared features. Each has a setting for its weight."""

    @property
    def standardize(self) -> bool:
        """Return True if rewards are standardised before the fit."""
        return True

    @property
    def output_scale(self) -> float | None:
        """Return the given weight of the only part of the kernel, or None if weights are learned."""
        return None

    def __post_init__(self) -> None:
        check_fields(self)
        check_warp(self.warp, self.standardize)
        if self.parts and not any(getattr(self, f"{name}_weight") for name in self.parts):
            raise ValueError("Expected at least one of the weights of the kernel to be positive. Got zeros.")
        if self.warp != "none" and self.noise_variance is not None:
            raise ValueError(
                "Expected `noise_variance` to be None with `warp`, because normal scores have no unit. Got "
                f'{self.noise_variance}. Also pass `warp="none"`.'
            )


@dataclass(frozen=True, kw_only=True)
class ChangingSettings(MixtureSettings):
    """Settings of such a process on graphs that may change between rounds."""

    memory: int = 2000
    """Largest number of played graphs to remember if graphs change between rounds: the most recent ones."""


@dataclass(frozen=True, kw_only=True)
class GraphProcessSettings(ChangingSettings):
    """Settings of a Gaussian process on all readable parts of a graph.

    The weights are prior weights, which rewards change. Only their ratios matter. A weight of 0 removes a part. Parts
    that are constant over the graphs of a set are removed as well. On molecules, the parts are those of the `molecule-`
    agents.
    """

    network_weight: float = 0.3
    """Weight of the kernel of an infinitely wide graph network (GNTK). 0 removes the part."""
    means_weight: float = 0.1
    """Weight of the same kernel with sums over nodes divided by a graph's own node count, if node counts differ."""
    subtrees_weight: float = 0.15
    """Weight of the counts of Weisfeiler-Lehman subtrees, with labels of edges, and directions."""
    nodes_weight: float = 0.15
    """Weight of means of the features of nodes and of their neighbours."""
    sums_weight: float = 0.1
    """Weight of sums of the features of nodes and of their neighbours."""
    structure_weight: float = 0.1
    """Weight of size, degrees, clustering, distances and spectra, also for graphs without features."""
    edges_weight: float = 0.3
    """Weight of the features of edges, if they differ."""
    layers_weight: float = 0.15
    """Weight of the features of nodes by their distance from the sources, if edges have directions."""
    itself_weight: float = 0.05
    """Weight of the graph-specific part, which distinguishes graphs that are equal in all other parts."""
    depth: Layers = 2
    """L, number of weight matrices of the network, at least 2."""
    bins: Bins = 4
    """Number of bins of each feature of nodes, by which subtrees compare features that are not integers."""

    parts: ClassVar[tuple[str, ...]] = PARTS


@dataclass(frozen=True, kw_only=True)
class OneKernelSettings(ChangingSettings):
    """Settings of an exact Gaussian process with any single kernel."""

    exploration_scale: float = 1.0
    """nu, multiplies sigma."""
    output_scale: Annotated[float | None, POSITIVE] = None
    """Factor of the kernel, in squared units of the targets. None: by marginal likelihood."""
    standardize: bool = True
    """Standardise rewards before the fit, by mean and standard deviation over the distinct graphs seen so far."""
    refit_growth: float = 1.0
    """Relearn scale and noise when the number of rewards has grown by this share. 0: after every update. The Gaussian
    process uses every reward immediately in either case."""

    itself_weight: float = 0.02
    """Share of the graph-specific part in the prior variance, if the factor of the kernel is learned. 0 disables it."""


@dataclass(frozen=True, kw_only=True)
class KernelSettings(OneKernelSettings):
    """Settings of an exact Gaussian process with the kernel of a graph network."""

    kernel: Literal["infinite", "custom"] = "infinite"
    """Prior covariance: the infinite-width GNTK, or a given K x K array."""
    kernel_name: str = ""
    """Name of a given kernel, which identifies it in results."""
    depth: Layers = 2
    """L, number of weight matrices of the network behind the kernel, at least 2."""
    node_features: NodeFeaturesName = "auto"
    """Features of nodes. Given: only the given ones. Auto: also the degree of each node and the size of its graph,
    one-hot in bins, if the given ones make aggregated nodes nearly alike."""
    node_count: NodeCount = "auto"
    """N, the divisor of the sum over a graph's nodes: the largest node count of the set, or the graph's own. Auto: the
    graph's own if its size is among the features, otherwise the largest."""


@dataclass(frozen=True, kw_only=True)
class LinearSettings(FlatSettings, OneKernelSettings):
    """Settings of Bayesian linear regression. `preset=paper` selects LinUCB and linear Thompson sampling as published.

    The published algorithms assume known noise and prior of the weights (A = I + sum_i x_i x_i^T), and use rewards and
    features unscaled.
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
    """Number of refinements of node labels: a subtree extends this many edges from its root."""
    similarity: Literal["cosine", "gaussian"] = "cosine"
    """Comparison of subtree counts: by their cosine, under which a graph and two copies of it are equal, or by a
    Gaussian of their distance, as wide as the median distance of the graphs of `reset`."""
    bins: Bins = 4
    """Number of bins of each node feature, with equal numbers of nodes of the graphs of `reset`. It is ignored if all
    features are integers."""
