"""Settings of the agents with an exact Gaussian process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agents.contract.settings import LARGEST_DEPTH, Warp, check_depth, check_fields, check_warp

LARGEST_BINS = 256


@dataclass(frozen=True, kw_only=True)
class ProcessSettings:
    """Settings of an exact Gaussian process, whatever its kernel."""

    exploration_scale: float = 1.0
    """nu, multiplies sigma."""
    output_scale: float | None = None
    """Factor of the kernel, in squared units of the targets; None: by marginal likelihood, at rounds 1, 2, 4, ..."""
    noise_variance: float | None = None
    """Noise variance of the rewards, in their squared units; None: by marginal likelihood, at rounds 1, 2, 4, ..."""
    standardize: bool = True
    """Standardise rewards before the fit, by mean and standard deviation over the distinct graphs seen so far."""
    warp: Warp = "none"
    """Targets of the fit: the standardised rewards; or normal scores, which depend on the ranks of rewards only, for
    measured values of which a few are far from the others."""
    memory: int = 2000
    """Largest number of graphs played that are remembered, where graphs change from round to round."""
    forget: int | float | None = None
    """What is forgotten of earlier rewards, where mean rewards drift. None: nothing; an integer W: all but the last W;
    a number gamma below 1: the reward told d rewards ago counts gamma^d, and all in sum at most 1 / (1 - gamma)."""
    most_graphs: int = 5000
    """Largest number of graphs whose whole kernel is held: 0.2 GB of 5,000 graphs. It is decomposed where joint rewards
    are drawn, or once there are many rewards, which takes 1.4 GB; twice as many graphs take four times the memory, and
    eight times the time. Of more graphs, only the columns of those played are computed, and rules that draw jointly
    cannot play."""

    @property
    def has_columns(self) -> bool:
        """Return whether the kernel of a graph with all others is computed without that of the others."""
        return True

    def __post_init__(self) -> None:
        check_fields(self)
        for name in ("output_scale", "noise_variance"):
            if getattr(self, name) == 0:
                raise ValueError(f"Expected `{name}` to be positive or None. Got 0.")
        check_warp(self.warp, self.standardize)
        if self.warp != "none" and self.noise_variance is not None:
            raise ValueError(
                "Expected `noise_variance` to be None with `warp`, because rewards of equal noise have "
                f"targets of unequal noise. Got {self.noise_variance}."
            )


@dataclass(frozen=True, kw_only=True)
class KernelSettings(ProcessSettings):
    """Settings of an exact Gaussian process with the kernel of a graph network."""

    kernel: Literal["infinite", "empirical", "custom"] = "infinite"
    """Prior covariance: the infinite-width GNTK, the GNTK of a network of finite width, or a given K x K array."""
    kernel_name: str = ""
    """Name of a given kernel, which identifies it in results."""
    depth: int = 2
    """L, number of weight matrices of the network behind the kernel; at least 2."""
    width: int = 512
    """m of that network, if its width is finite; even."""
    node_count: Literal["largest", "own"] = "largest"
    """N, the divisor of the sum over a graph's nodes: the largest node count of the set, or the graph's own."""

    @property
    def has_columns(self) -> bool:
        """Return whether the kernel of a graph with all others is computed without that of the others."""
        return self.kernel == "infinite"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_depth(self.depth)
        if self.width % 2:
            raise ValueError(f"Expected `width` to be even: the network has two mirrored halves. Got {self.width}.")


@dataclass(frozen=True, kw_only=True)
class SubtreeSettings(ProcessSettings):
    """Settings of an exact Gaussian process with the kernel of Weisfeiler-Lehman subtrees."""

    iterations: int = 1
    """Number of refinements of the labels of nodes: a subtree reaches this many edges from its root."""
    similarity: Literal["cosine", "gaussian"] = "cosine"
    """How counts of subtrees are compared: by their cosine, for which a graph and two copies of it are equal; or by a
    Gaussian of their distance, as wide as the median distance of the graphs of `reset`."""
    bins: int = 4
    """Number of bins of each feature of nodes, chosen so that each holds equally many nodes of the graphs of `reset`;
    not used if all features are integers."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.iterations > LARGEST_DEPTH or not 2 <= self.bins <= LARGEST_BINS:
            raise ValueError(
                f"Expected `iterations` to be at most {LARGEST_DEPTH} and `bins` from 2 to {LARGEST_BINS}. "
                f"Got {self.iterations} and {self.bins}."
            )
