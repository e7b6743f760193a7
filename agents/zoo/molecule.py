"""Agents with an exact Gaussian process on molecules."""

from __future__ import annotations

from dataclasses import dataclass

from agents.beliefs.composition import compose
from agents.beliefs.rules import ExpectedImprovement, Greedy, JointSampling, ThompsonSampling, UpperConfidenceBound
from agents.molecule import MoleculeSettings, molecule


@dataclass(frozen=True, kw_only=True)
class MoleculeTS(JointSampling, MoleculeSettings):
    """Settings of `molecule-ts`."""

    exploration_scale: float = 0.5


molecule_ts = compose("molecule-ts", molecule, MoleculeTS, ThompsonSampling)
molecule_ucb = compose("molecule-ucb", molecule, MoleculeSettings, UpperConfidenceBound)
molecule_ei = compose("molecule-ei", molecule, MoleculeSettings, ExpectedImprovement)
molecule_greedy = compose("molecule-greedy", molecule, MoleculeSettings, Greedy)
