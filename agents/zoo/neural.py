"""Agents with a neural network: the paper's six, and others that play by the same network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

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
from agents.neural.agent import gnn, nn
from agents.neural.flat import FlatNeuralSettings, flat
from agents.neural.settings import NeuralSettings

# The best cell for UCB of those tested in the paper's grid for nu, eta and lambda (docs/evidence/testbed.md).
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


gnn_ts = compose("gnn-ts", gnn, NeuralTS, ThompsonSampling)
gnn_ucb = compose("gnn-ucb", gnn, NeuralUCB, UpperConfidenceBound)
gnn_pe = compose("gnn-pe", gnn, NeuralPE, PhasedElimination)
gnn_ei = compose("gnn-ei", gnn, NeuralEI, ExpectedImprovement)
gnn_greedy = compose("gnn-greedy", gnn, NeuralSettings, Greedy)
epsilon_greedy = compose("epsilon-greedy", gnn, NeuralEpsilon, EpsilonGreedy)

nn_ts = compose("nn-ts", nn, NeuralTS, ThompsonSampling)
nn_ucb = compose("nn-ucb", nn, NeuralUCB, UpperConfidenceBound)
nn_pe = compose("nn-pe", nn, NeuralPE, PhasedElimination)
nn_ei = compose("nn-ei", nn, NeuralEI, ExpectedImprovement)
nn_greedy = compose("nn-greedy", nn, NeuralSettings, Greedy)

neural_ucb = compose("neural-ucb", flat, FlatNeuralSettings, UpperConfidenceBound)
neural_ts = compose("neural-ts", flat, FlatNeuralTS, ThompsonSampling)
