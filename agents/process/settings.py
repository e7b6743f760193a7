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
"""What graphs are compared by; each has a setting of its weight."""


@dataclass(frozen=True, kw_only=True)
class MixtureSettings:
    """Settings of an exact Gaussian process whose kernel is a sum of parts, whatever these are."""

    weight_spread: Annotated[float, POSITIVE] = 1.0
    """Standard deviation of the logarithm of each weight before any reward; a small one keeps the weights."""
    refit_growth: float = 0.5
    """Learn the weights again when the number of rewards has grown by this share; 0: after every update. The Gaussian
    process uses every reward immediately in either case."""
    warp: Warp = "none"
    """Targets of the fit: rewards as they are, standardised ("none"), or by rank, as if they were normal
    ("normal_scores"), for measured values of which a few are far from the others."""
    exploration_scale: float | None = None
    """nu, multiplies sigma; None: 2 where graphs can be played again, so that none is played for ever because another
    was underrated; and 1 where those played are no longer on offer, as in the search of a pool."""
    short_list: int = 1000
    """Number of graphs to choose among with their joint covariance: those of largest mean + 2 sigma."""
    noise_variance: Annotated[float | None, POSITIVE] = None
    """Noise variance of the rewards, in their squared units; None: by marginal likelihood."""
    forget: int | float | None = None
    """What is forgotten of earlier rewards, where mean rewards drift. None: nothing; an integer W: all but the last W;
    a number gamma below 1: the reward told d rewards ago counts gamma^d, and all in sum at most 1 / (1 - gamma)."""

    parts: ClassVar[tuple[str, ...]] = ()
    """What graphs are compared by; each has a setting of its weight."""

    @property
    def standardize(self) -> bool:
        """Return whether rewards are standardised before the fit."""
        return True

    @property
    def output_scale(self) -> float | None:
        """Return the weight of the only part of the kernel if it is given; None if weights are learnt."""
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
    """Settings of such a process on graphs that may change from round to round."""

    memory: int = 2000
    """Largest number of graphs played that are remembered if graphs change from round to round: the last ones."""


@dataclass(frozen=True, kw_only=True)
class GraphProcessSettings(ChangingSettings):
    """Settings of a Gaussian process on all that can be read of a graph.

    The weights are those before any reward; rewards change them. Only their ratios matter, and 0 leaves a part out. A
    part that is the same for all graphs of a set is left out, too. On molecules, the parts are those of the `molecule-`
    agents.
    """

    network_weight: float = 0.3
    """Weight of the kernel of an infinitely wide graph network (GNTK); 0 leaves a part out."""
    means_weight: float = 0.1
    """Weight of the same kernel with sums over nodes divided by a graph's own node count, where these differ."""
    subtrees_weight: float = 0.15
    """Weight of the counts of Weisfeiler-Lehman subtrees, with labels of edges, and directions."""
    nodes_weight: float = 0.15
    """Weight of means of the features of nodes and of their neighbours."""
    sums_weight: float = 0.1
    """Weight of sums of the features of nodes and of their neighbours."""
    structure_weight: float = 0.1
    """Weight of size, degrees, clustering, distances and spectra, which graphs without features have too."""
    edges_weight: float = 0.3
    """Weight of the features of edges, where they differ."""
    layers_weight: float = 0.15
    """Weight of the features of nodes by their distance from the sources, where edges have directions."""
    itself_weight: float = 0.05
    """Weight of what is a graph's own: it tells graphs apart that are alike by all other parts."""
    depth: Layers = 2
    """L, number of weight matrices of the network; at least 2."""
    bins: Bins = 4
    """Number of bins of each feature of nodes, by which subtrees compare features that are not integers."""

    parts: ClassVar[tuple[str, ...]] = PARTS


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

    itself_weight: float = 0.02
    """Share of what is a graph's own in the prior variance, if the factor of the kernel is learnt; 0: nothing is."""


@dataclass(frozen=True, kw_only=True)
class KernelSettings(OneKernelSettings):
    """Settings of an exact Gaussian process with the kernel of a graph network."""

    kernel: Literal["infinite", "custom"] = "infinite"
    """Prior covariance: the infinite-width GNTK, or a given K x K array."""
    kernel_name: str = ""
    """Name of a given kernel, which identifies it in results."""
    depth: Layers = 2
    """L, number of weight matrices of the network behind the kernel; at least 2."""
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
