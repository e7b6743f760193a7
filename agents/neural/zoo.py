"""The neural agents by name: each says the one thing that sets it apart. Settings are those of its settings class."""

from __future__ import annotations

from functools import partial
from typing import Any

from agents.acquisition import EpsilonGreedy, Greedy, PhasedElimination, ThompsonSampling, UpperConfidenceBound
from agents.neural.agent import Encoder, NeuralAgent
from agents.neural.settings import (
    ConfidenceSettings,
    EliminationSettings,
    EpsilonSettings,
    NeuralSettings,
    ThompsonSettings,
)
from agents.settings import read_settings
from gntk import aggregate_neighbours, keep_nodes


def gnn_ts(**settings: Any) -> NeuralAgent:
    """Make GNN Thompson sampling [Wu & Amini 2024, Algorithm 1]."""
    return _thompson(aggregate_neighbours, settings)


def gnn_ucb(**settings: Any) -> NeuralAgent:
    """Make GNN-UCB [Kassraie et al. 2022]."""
    return _confidence(aggregate_neighbours, settings)


def gnn_pe(**settings: Any) -> NeuralAgent:
    """Make GNN phased elimination [Kassraie et al. 2022, Algorithm 2]."""
    return _elimination(aggregate_neighbours, settings)


def nn_ts(**settings: Any) -> NeuralAgent:
    """Make Thompson sampling on nodes without their edges [Zhang et al. 2021]."""
    return _thompson(keep_nodes, settings)


def nn_ucb(**settings: Any) -> NeuralAgent:
    """Make UCB on nodes without their edges [Zhou et al. 2020]."""
    return _confidence(keep_nodes, settings)


def nn_pe(**settings: Any) -> NeuralAgent:
    """Make phased elimination on nodes without their edges."""
    return _elimination(keep_nodes, settings)


def gnn_greedy(**settings: Any) -> NeuralAgent:
    """Make greedy play on the GNN's mean."""
    return NeuralAgent(read_settings(NeuralSettings, settings), aggregate_neighbours, Greedy)


def epsilon_greedy(**settings: Any) -> NeuralAgent:
    """Make epsilon-greedy play on the GNN's mean."""
    chosen = read_settings(EpsilonSettings, settings)
    return NeuralAgent(chosen, aggregate_neighbours, partial(EpsilonGreedy, chosen.epsilon))


def _thompson(encode: Encoder, settings: dict[str, Any]) -> NeuralAgent:
    chosen = read_settings(ThompsonSettings, settings)
    return NeuralAgent(chosen, encode, partial(ThompsonSampling, chosen.sampling))


def _confidence(encode: Encoder, settings: dict[str, Any]) -> NeuralAgent:
    return NeuralAgent(read_settings(ConfidenceSettings, settings), encode, UpperConfidenceBound)


def _elimination(encode: Encoder, settings: dict[str, Any]) -> NeuralAgent:
    chosen = read_settings(EliminationSettings, settings)
    return NeuralAgent(chosen, encode, partial(PhasedElimination, chosen.elimination))
