"""The neural agents by name: each line says the one thing that sets it apart."""

from __future__ import annotations

from typing import Any

from agents.neural.acquisition import ThompsonSampling
from agents.neural.agent import NeuralAgent
from agents.neural.settings import PRESETS, NeuralSettings
from agents.settings import read_settings
from gntk import aggregate_neighbours


def gnn_ts(**settings: Any) -> NeuralAgent:
    """Make GNN Thompson sampling [Wu & Amini 2024, Algorithm 1]. Settings: `NeuralSettings`; preset="paper"."""
    return NeuralAgent(read_settings(NeuralSettings, settings, PRESETS), aggregate_neighbours, ThompsonSampling)
