"""The exact Gaussian process as a model: with the infinite-width GNTK, an empirical GNTK, or the user's kernel."""

from __future__ import annotations

from collections.abc import Callable

from numpy.typing import ArrayLike

from agents.beliefs.rules.rule import AcquisitionRule
from agents.kernel.agent import KernelAgent
from agents.kernel.settings import KernelSettings


def gntk(
    settings: KernelSettings, make_rule: Callable[[], AcquisitionRule], *, kernel_matrix: ArrayLike | None = None
) -> KernelAgent:
    """The exact posterior of a Gaussian process on the graph set.

    Args:
        settings: settings of kernel and likelihood.
        make_rule: makes the acquisition rule.
        kernel_matrix: `(K, K)`, read as float64, if `settings.kernel` is "custom"; else None.

    Raises:
        ValueError: as `KernelAgent`.
    """
    return KernelAgent(settings, make_rule, kernel_matrix)
