"""The agents for molecules by name. They play on a MoleculeSet only, with `reset(..., graph_set=molecules)`."""

from __future__ import annotations

from functools import partial
from typing import Any

from agents.beliefs.acquisition import Greedy, ThompsonSampling, UpperConfidenceBound
from agents.contract.settings import read_settings
from agents.molecule.agent import MoleculeAgent
from agents.molecule.settings import MoleculeSettings, MoleculeThompsonSettings


def molecule_ts(**settings: Any) -> MoleculeAgent:
    """Make Thompson sampling on fingerprints and a molecular network."""
    chosen = read_settings(MoleculeThompsonSettings, settings)
    return MoleculeAgent(chosen, partial(ThompsonSampling, chosen.sampling))


def molecule_ucb(**settings: Any) -> MoleculeAgent:
    """Make upper confidence bounds on fingerprints and a molecular network."""
    return MoleculeAgent(read_settings(MoleculeSettings, settings), UpperConfidenceBound)


def molecule_greedy(**settings: Any) -> MoleculeAgent:
    """Make greedy play by the mean of fingerprints and a molecular network."""
    return MoleculeAgent(read_settings(MoleculeSettings, settings), Greedy)
