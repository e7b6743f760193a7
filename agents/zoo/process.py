"""Agents with an exact Gaussian process: on kernels of graph networks, of subtrees and of numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, Protocol, cast, overload

from numpy.typing import ArrayLike

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
from agents.kernel import KernelAgent, KernelSettings, LinearSettings, SubtreeSettings, gntk, linear, wl
from agents.process import GraphProcessSettings, gp

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

P = ParamSpec("P")


@dataclass(frozen=True, kw_only=True)
class NetworkKernelTS(JointSampling, KernelSettings):
    """Settings of `gntk-ts`."""


@dataclass(frozen=True, kw_only=True)
class NetworkKernelUCB(KernelSettings):
    """Settings of `gntk-ucb`."""

    exploration_scale: float = 2.0


@dataclass(frozen=True, kw_only=True)
class NetworkKernelPE(EliminationSettings, KernelSettings):
    """Settings of `gntk-pe`."""

    exploration_scale: float = 2.0


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


class KernelFactory(Protocol[P]):
    """Makes an agent from its settings, or with a kernel that is given as an array."""

    @overload
    def __call__(self, *args: P.args, **settings: P.kwargs) -> KernelAgent[KernelSettings]: ...
    @overload
    def __call__(
        self, *, kernel: Literal["custom"], kernel_matrix: ArrayLike, **settings: Any
    ) -> KernelAgent[KernelSettings]: ...


def compose_gntk(
    name: str, settings: Callable[P, DataclassInstance], rule: type[DataclassInstance]
) -> KernelFactory[P]:
    """Join the process on the kernel of a network, or on a given one, and a rule: `compose`."""
    return cast("KernelFactory[P]", compose(name, gntk, settings, rule))


gntk_ts = compose_gntk("gntk-ts", NetworkKernelTS, ThompsonSampling)
gntk_ucb = compose_gntk("gntk-ucb", NetworkKernelUCB, UpperConfidenceBound)
gntk_pe = compose_gntk("gntk-pe", NetworkKernelPE, PhasedElimination)
gntk_ei = compose_gntk("gntk-ei", KernelSettings, ExpectedImprovement)
gntk_greedy = compose_gntk("gntk-greedy", KernelSettings, Greedy)

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
