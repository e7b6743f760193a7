"""The exact Gaussian process as a model: the infinite-width GNTK, an empirical one, or a kernel of the user's."""

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
        settings: of kernel and likelihood.
        make_rule: makes the acquisition rule.
        kernel_matrix: `(K, K)`, where `settings.kernel` is "custom".

    Raises:
        ValueError: if a kernel is given and not asked for, or asked for and not given, or is no kernel.
    """
    return KernelAgent(settings, make_rule, kernel_matrix)
