"""Settings of the exact Gaussian-process agents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agents.contract.settings import check_depth, check_fields


@dataclass(frozen=True, kw_only=True)
class KernelSettings:
    """Settings of an exact Gaussian process on the graph set."""

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
    exploration_scale: float = 1.0
    """nu, multiplies sigma."""
    output_scale: float | None = None
    """Factor of the kernel, in squared units of the targets; None: by marginal likelihood, at rounds 1, 2, 4, ..."""
    noise_variance: float | None = None
    """Noise variance of the rewards, in their squared units; None: by marginal likelihood, at rounds 1, 2, 4, ..."""
    standardize: bool = True
    """Standardise rewards before the fit, by mean and standard deviation over the distinct graphs seen so far."""
    memory: int = 2000
    """Largest number of graphs played that are remembered, where graphs change from round to round."""

    def __post_init__(self) -> None:
        check_fields(self)
        check_depth(self.depth)
        if self.width % 2:
            raise ValueError(f"Expected `width` to be even: the network has two mirrored halves. Got {self.width}.")
        for name in ("output_scale", "noise_variance"):
            if getattr(self, name) == 0:
                raise ValueError(f"Expected `{name}` to be positive or None. Got 0.")
