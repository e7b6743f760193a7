"""The exact Gaussian-process agents by name. Settings are those of each settings class, and `kernel_matrix`."""

from __future__ import annotations

from functools import partial
from typing import Any

from agents.beliefs.acquisition import PhasedElimination, ThompsonSampling, UpperConfidenceBound
from agents.contract.settings import read_settings
from agents.kernel.agent import KernelAgent
from agents.kernel.settings import KernelConfidenceSettings, KernelEliminationSettings, KernelThompsonSettings


def gntk_ts(kernel_matrix: Any = None, **settings: Any) -> KernelAgent:
    """Make Thompson sampling from the exact posterior."""
    chosen = read_settings(KernelThompsonSettings, settings)
    return KernelAgent(chosen, partial(ThompsonSampling, chosen.sampling), kernel_matrix)


def gntk_ucb(kernel_matrix: Any = None, **settings: Any) -> KernelAgent:
    """Make upper confidence bounds of the exact posterior."""
    return KernelAgent(read_settings(KernelConfidenceSettings, settings), UpperConfidenceBound, kernel_matrix)


def gntk_pe(kernel_matrix: Any = None, **settings: Any) -> KernelAgent:
    """Make phased elimination by the exact posterior."""
    chosen = read_settings(KernelEliminationSettings, settings)
    return KernelAgent(chosen, partial(PhasedElimination, chosen.elimination), kernel_matrix)
