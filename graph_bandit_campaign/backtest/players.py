"""Players of a backtest: agents, similarity to the best, and a random forest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

import registry
from agents.contract import Agent, BatchAgent, ModelAgent, Prediction, SourceResults
from graph_bandit_env import MoleculeSet
from graph_bandit_env.extras import require
from graph_bandit_lab import AgentSpec
from graph_bandit_lab.episodes import choose

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]
SIMILARITY, FOREST, GREEDY = "similarity to the best", "random forest", "molecule-greedy"
ALONE = " without other assays"  # ends the name of an agent that plays as if there were no `--also`
TREES, DEPTH = 100, 8  # of the random forest
BITS, SHORTEST, LONGEST = 2048, 1, 3  # of its fingerprints: bits, and bonds between the atoms of a pair


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
        sources: results of other assays, which it learns from before all others.
    """

    def __init__(self, text: str, sources: Sequence[SourceResults] = ()) -> None:
        spec = AgentSpec.parse(text)
        self._agent: Agent = registry.make_agent(spec.name, **spec.settings)
        self._text, self._sources = text, sources

    def begin(self, molecules: MoleculeSet, seed: int) -> None:
        """Reset the agent, and give it the results of other assays.

        Raises:
            ValueError: if it cannot learn from them.
        """
        self._agent.reset(None, seed=seed, graph_set=molecules)
        if self._sources and isinstance(self._agent, ModelAgent):
            try:
                self._agent.learn_sources(self._sources)
            except ValueError as error:
                raise ValueError(
                    f"Agent `{self._text}` cannot learn from these results of other assays: {error} Choose another "
                    "agent, such as `molecule-ucb`, or leave out --also."
                ) from error
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


class ForestPlayer:
    """Choose the molecules with the largest predictions of a random forest, refitted in every round.

    The settings are MolPAL's [Graff et al. 2021]: 100 trees of depth 8, all bits at each split, on 2,048 bits of atom
    pairs that are one to three bonds apart.

    Raises:
        MissingExtraError: if scikit-learn is not installed.
    """

    def __init__(self) -> None:
        require("sklearn", "A random forest")

    def begin(self, molecules: MoleculeSet, seed: int) -> None:
        """Compute the fingerprints."""
        from rdkit import Chem
        from rdkit.Chem.rdFingerprintGenerator import GetAtomPairGenerator

        generator = GetAtomPairGenerator(minDistance=SHORTEST, maxDistance=LONGEST, fpSize=BITS)
        prints = [generator.GetFingerprintAsNumPy(Chem.MolFromSmiles(text)) for text in molecules.smiles]
        self._bits = np.stack(prints).astype(np.float32)
        self._generator = np.random.default_rng(seed)

    def choose(self, measured: Indices, rewards: Floats, count: int) -> Indices:
        """Return the molecules with the largest predictions; of equal ones, some at random."""
        from sklearn.ensemble import RandomForestRegressor

        seed = int(self._generator.integers(2**31))
        forest = RandomForestRegressor(TREES, max_depth=DEPTH, n_jobs=1, random_state=seed)
        forest.fit(self._bits[measured], rewards)
        left = np.setdiff1d(np.arange(len(self._bits)), measured)
        means = forest.predict(self._bits[left])
        return left[np.lexsort((self._generator.random(len(left)), -means))[:count]]

    def forecast(self) -> None:
        """Return None: its spread is not a forecast."""
        return


def agent_of(name: str) -> str:
    """Return the agent of a player as on the command line; the name of a player that is not an agent as it is."""
    return name.removesuffix(ALONE)


def make_player(name: str, sources: Sequence[SourceResults] = ()) -> Player:
    """Make a player.

    Args:
        name: `SIMILARITY`, `FOREST`, or an agent as on the command line, perhaps with `ALONE` after it.
        sources: results of other assays, for an agent without `ALONE`.

    Raises:
        ValueError: if the agent or a setting is unknown.
        ImportError: if scikit-learn is not installed, for the forest.
    """
    if name == SIMILARITY:
        return SimilarityPlayer()
    return ForestPlayer() if name == FOREST else AgentPlayer(agent_of(name), () if name.endswith(ALONE) else sources)
