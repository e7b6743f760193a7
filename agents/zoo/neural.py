"""Agents with a neural network: the paper's six, and others that play by the same network."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, Protocol, cast, overload

from agents.beliefs.composition import compose
from agents.beliefs.rules import (
    EliminationSettings,
    EpsilonGreedy,
    ExpectedImprovement,
    Greedy,
    PhasedElimination,
    SamplingSettings,
    ThompsonSampling,
    UpperConfidenceBound,
)
from agents.neural import FlatNeuralSettings, NeuralAgent, NeuralSettings, flat, gnn, nn
from gntk.engines import ModuleOrFactory

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

P = ParamSpec("P")
# The best cell for UCB of those tried in the paper's grid for nu, eta and lambda (docs/evidence/testbed.md).
PAPER_UCB = {"exploration_scale": 0.1, "learning_rate": 0.001, "regularization": 0.001}


@dataclass(frozen=True, kw_only=True)
class NeuralTS(SamplingSettings, NeuralSettings):
    """Settings of `gnn-ts` and `nn-ts`."""


@dataclass(frozen=True, kw_only=True)
class NeuralUCB(NeuralSettings):
    """Settings of `gnn-ucb` and `nn-ucb`."""

    exploration_scale: float = 1.0
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {
        name: {**values, **PAPER_UCB} for name, values in NeuralSettings.presets.items()
    }


@dataclass(frozen=True, kw_only=True)
class NeuralPE(EliminationSettings, NeuralSettings):
    """Settings of `gnn-pe` and `nn-pe`."""


@dataclass(frozen=True, kw_only=True)
class NeuralEI(NeuralSettings):
    """Settings of `gnn-ei` and `nn-ei`."""

    exploration_scale: float = 1.0
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {
        name: {**values, "exploration_scale": 1.0} for name, values in NeuralSettings.presets.items()
    }


@dataclass(frozen=True, kw_only=True)
class NeuralEpsilon(NeuralSettings):
    """Settings of `epsilon-greedy`."""

    epsilon: float = 0.1
    """Probability of playing a random graph."""


@dataclass(frozen=True, kw_only=True)
class FlatNeuralTS(SamplingSettings, FlatNeuralSettings):
    """Settings of `neural-ts`."""

    exploration_scale: float = 0.3


class NetworkFactory(Protocol[P]):
    """Makes an agent from its settings, from a preset, or with a module of the user's own."""

    @overload
    def __call__(self, *args: P.args, **settings: P.kwargs) -> NeuralAgent: ...
    @overload
    def __call__(self, *, preset: str, **settings: Any) -> NeuralAgent: ...
    @overload
    def __call__(self, *, network: ModuleOrFactory, network_name: str = "", **settings: Any) -> NeuralAgent: ...


def compose_gnn(
    name: str, settings: Callable[P, DataclassInstance], rule: type[DataclassInstance]
) -> NetworkFactory[P]:
    """Join the network that reads edges, or a module in its place, and a rule: `compose`."""
    return cast("NetworkFactory[P]", compose(name, gnn, settings, rule))


gnn_ts = compose_gnn("gnn-ts", NeuralTS, ThompsonSampling)
gnn_ucb = compose_gnn("gnn-ucb", NeuralUCB, UpperConfidenceBound)
gnn_pe = compose_gnn("gnn-pe", NeuralPE, PhasedElimination)
gnn_ei = compose_gnn("gnn-ei", NeuralEI, ExpectedImprovement)
gnn_greedy = compose_gnn("gnn-greedy", NeuralSettings, Greedy)
epsilon_greedy = compose_gnn("epsilon-greedy", NeuralEpsilon, EpsilonGreedy)

nn_ts = compose("nn-ts", nn, NeuralTS, ThompsonSampling)
nn_ucb = compose("nn-ucb", nn, NeuralUCB, UpperConfidenceBound)
nn_pe = compose("nn-pe", nn, NeuralPE, PhasedElimination)
nn_ei = compose("nn-ei", nn, NeuralEI, ExpectedImprovement)
nn_greedy = compose("nn-greedy", nn, NeuralSettings, Greedy)

neural_ucb = compose("neural-ucb", flat, FlatNeuralSettings, UpperConfidenceBound)
neural_ts = compose("neural-ts", flat, FlatNeuralTS, ThompsonSampling)
