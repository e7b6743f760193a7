"""Players of a backtest: agents, similarity to the best, and random choice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

import registry
from agents.contract import Agent, BatchAgent, Prediction
from graph_bandit_campaign.backtest.forest import ForestPlayer
from graph_bandit_env import MoleculeSet
from graph_bandit_lab import AgentSpec
from graph_bandit_lab.episodes import choose

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]
SIMILARITY, FOREST, GREEDY = "similarity to the best", "random forest", "molecule-greedy"


class Player(Protocol):
    """A way to choose the molecules to measure next."""

    def begin(self, molecules: MoleculeSet, seed: int) -> None:
        """Take in K molecules; all randomness comes from `seed`."""

    def choose(self, measured: Indices, rewards: Floats, count: int) -> Sequence[int] | Indices:
        """Return `count` different molecules that were not measured.

        Args:
            measured: `(t,)`, molecules in the order measured; those of earlier calls come first.
            rewards: `(t,)`, their values or, if small ones are wanted, the negatives.
            count: how many molecules to choose.
        """

    def forecast(self) -> Prediction | None:
        """Return the prediction behind the last choice; None: there is none."""


class AgentPlayer:
    """Give an agent each result once, and ask it for a batch.

    `suggest` trains its agent afresh in every round. Here the molecule- agents keep the weights of their kernel until
    there are a tenth more results (`refit_growth`), which takes a third of the time.

    Args:
        text: agent as on the command line.
    """

    def __init__(self, text: str) -> None:
        spec = AgentSpec.parse(text)
        self._agent: Agent = registry.make_agent(spec.name, **spec.settings)

    def begin(self, molecules: MoleculeSet, seed: int) -> None:
        """Reset the agent."""
        self._agent.reset(None, seed=seed, graph_set=molecules)
        self._count, self._told = len(molecules), 0

    def choose(self, measured: Indices, rewards: Floats, count: int) -> Sequence[int]:
        """Return `count` molecules, after giving the agent the new results."""
        self._agent.update(None, measured[self._told :], rewards[self._told :])
        self._told = len(measured)
        mask = np.ones(self._count, np.int8)
        mask[measured] = 0
        return choose(self._agent, None, mask, count)

    def forecast(self) -> Prediction | None:
        """Return what the agent predicts; None if it predicts nothing."""
        return self._agent.predict() if isinstance(self._agent, BatchAgent) else None


class SimilarityPlayer:
    """Choose the molecules most similar to the best one so far, by Tanimoto similarity of Morgan counts."""

    def begin(self, molecules: MoleculeSet, seed: int) -> None:
        """Compute the fingerprints."""
        from rdkit import Chem
        from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator

        generator = GetMorganGenerator(radius=2, fpSize=4096)
        self._prints = [generator.GetCountFingerprint(Chem.MolFromSmiles(text)) for text in molecules.smiles]
        self._generator = np.random.default_rng(seed)

    def choose(self, measured: Indices, rewards: Floats, count: int) -> Indices:
        """Return the most similar molecules; of equally similar ones, some at random, for a table may be sorted."""
        from rdkit.DataStructs import BulkTanimotoSimilarity

        best = int(measured[np.argmax(rewards)])
        similarities = np.array(BulkTanimotoSimilarity(self._prints[best], self._prints), np.float64)
        similarities[measured] = -1.0
        return np.lexsort((self._generator.random(len(similarities)), -similarities))[:count]

    def forecast(self) -> None:
        """Return None: it predicts nothing."""
        return


def make_player(name: str) -> Player:
    """Make a player.

    Args:
        name: `SIMILARITY`, `FOREST`, or an agent as on the command line.

    Raises:
        ValueError: if the agent or a setting is unknown.
        ImportError: if scikit-learn is not installed, for the forest.
    """
    if name == SIMILARITY:
        return SimilarityPlayer()
    return ForestPlayer() if name == FOREST else AgentPlayer(name)
