"""Agents with an exact Gaussian process: on kernels of graph networks, of subtrees and of numbers."""

from __future__ import annotations

from dataclasses import dataclass

from agents.beliefs.composition import compose
from agents.beliefs.rules import (
    EliminationSettings,
    ExpectedImprovement,
    GapSettings,
    Greedy,
    InverseGapWeighting,
    JointSampling,
    PhasedElimination,
    ThompsonSampling,
    UpperConfidenceBound,
)
from agents.process import (
    GraphProcessSettings,
    KernelSettings,
    LinearSettings,
    SubtreeSettings,
    gntk,
    gp,
    linear,
    wl,
)


@dataclass(frozen=True, kw_only=True)
class NetworkKernelTS(JointSampling, KernelSettings):
    """Settings of `gntk-ts`."""


@dataclass(frozen=True, kw_only=True)
class NetworkKernelUCB(KernelSettings):
    """Settings of `gntk-ucb`."""

    exploration_scale: float = 2.0


@dataclass(frozen=True, kw_only=True)
class NetworkKernelPE(EliminationSettings, NetworkKernelUCB):
    """Settings of `gntk-pe`."""


@dataclass(frozen=True, kw_only=True)
class SubtreeTS(JointSampling, SubtreeSettings):
    """Settings of `wl-ts`."""


@dataclass(frozen=True, kw_only=True)
class SubtreeUCB(SubtreeSettings):
    """Settings of `wl-ucb`."""

    exploration_scale: float = 2.0


@dataclass(frozen=True, kw_only=True)
class LinearTS(JointSampling, LinearSettings):
    """Settings of `lin-ts`."""


@dataclass(frozen=True, kw_only=True)
class LinearUCB(LinearSettings):
    """Settings of `lin-ucb`."""

    exploration_scale: float = 2.0


@dataclass(frozen=True, kw_only=True)
class LinearSquareCB(GapSettings, LinearSettings):
    """Settings of `squarecb`."""


@dataclass(frozen=True, kw_only=True)
class GraphProcessTS(JointSampling, GraphProcessSettings):
    """Settings of `gp-ts`."""

    exploration_scale: float | None = 1.0


@dataclass(frozen=True, kw_only=True)
class GraphProcessEI(GraphProcessSettings):
    """Settings of `gp-ei`."""

    exploration_scale: float | None = 1.0


gntk_ts = compose("gntk-ts", gntk, NetworkKernelTS, ThompsonSampling)
gntk_ucb = compose("gntk-ucb", gntk, NetworkKernelUCB, UpperConfidenceBound)
gntk_pe = compose("gntk-pe", gntk, NetworkKernelPE, PhasedElimination)
gntk_ei = compose("gntk-ei", gntk, KernelSettings, ExpectedImprovement)
gntk_greedy = compose("gntk-greedy", gntk, KernelSettings, Greedy)

wl_ts = compose("wl-ts", wl, SubtreeTS, ThompsonSampling)
wl_ucb = compose("wl-ucb", wl, SubtreeUCB, UpperConfidenceBound)
wl_ei = compose("wl-ei", wl, SubtreeSettings, ExpectedImprovement)

lin_ts = compose("lin-ts", linear, LinearTS, ThompsonSampling)
lin_ucb = compose("lin-ucb", linear, LinearUCB, UpperConfidenceBound)
squarecb = compose("squarecb", linear, LinearSquareCB, InverseGapWeighting)

gp_ts = compose("gp-ts", gp, GraphProcessTS, ThompsonSampling)
gp_ucb = compose("gp-ucb", gp, GraphProcessSettings, UpperConfidenceBound)
gp_ei = compose("gp-ei", gp, GraphProcessEI, ExpectedImprovement)
gp_greedy = compose("gp-greedy", gp, GraphProcessSettings, Greedy)
