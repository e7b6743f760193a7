"""Players of a backtest: agents, similarity to the best, and a random forest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

import registry
from agents.contract import Agent, BatchAgent, ModelAgent, Prediction, SourceResults
from graph_bandit_env import MoleculeSet
from graph_bandit_env.extras import require
from graph_bandit_lab import AgentSpec
from graph_bandit_lab.episodes import choose

Indices: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Player: TypeAlias = Callable[[Indices, Floats, int], tuple[Sequence[int] | Indices, Prediction | None]]
"""A way to choose the molecules to measure next.

It is given the molecules that were measured, in their order, those of earlier calls first; their values or, if small
ones are wanted, the negatives; and how many to choose. It returns so many that were not measured, and the prediction
behind the choice; None: there is none.
"""
SIMILARITY, FOREST, GREEDY = "similarity to the best", "random forest", "molecule-greedy"
ALONE = " without other assays"  # ends the name of an agent that plays as if there were no `--also`
TREES, DEPTH = 100, 8  # of the random forest
BITS, SHORTEST, LONGEST = 2048, 1, 3  # of its fingerprints: bits, and bonds between the atoms of a pair


def agent_player(text: str, molecules: MoleculeSet, seed: int, sources: Sequence[SourceResults]) -> Player:
    """Give an agent each result once, and ask it for a batch.

    `suggest` trains its agent afresh in every round. Here the molecule- agents keep the weights of their kernel until
    there are a tenth more results (`refit_growth`), which takes a third of the time.
    """
    spec = AgentSpec.parse(text)
    agent: Agent = registry.make_agent(spec.name, **spec.settings)
    agent.reset(None, seed=seed, graph_set=molecules)
    if sources and isinstance(agent, ModelAgent):
        try:
            agent.learn_sources(sources)
        except ValueError as error:
            raise ValueError(
                f"Agent `{text}` cannot learn from these results of other assays: {error} Choose another agent, such "
                "as `molecule-ucb`, or leave out --also."
            ) from error
    known = 0

    def player(measured: Indices, rewards: Floats, count: int) -> tuple[Sequence[int], Prediction | None]:
        nonlocal known
        agent.update(None, measured[known:], rewards[known:])
        known = len(measured)
        mask = np.ones(len(molecules), np.int8)
        mask[measured] = 0
        chosen = choose(agent, None, mask, count)
        differ = np.ptp(rewards) > 0  # if not, `suggest` predicts nothing either
        return chosen, agent.predict() if isinstance(agent, BatchAgent) and differ else None

    return player


def similarity_player(molecules: MoleculeSet, seed: int) -> Player:
    """Choose the molecules most similar to the best one so far, by Tanimoto similarity of Morgan counts.

    Of equally similar ones it takes some at random, for a table may be sorted.
    """
    from rdkit import Chem
    from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator
    from rdkit.DataStructs import BulkTanimotoSimilarity

    morgan, generator = GetMorganGenerator(radius=2, fpSize=4096), np.random.default_rng(seed)
    prints = [morgan.GetCountFingerprint(Chem.MolFromSmiles(text)) for text in molecules.smiles]

    def player(measured: Indices, rewards: Floats, count: int) -> tuple[Indices, None]:
        best = int(measured[np.argmax(rewards)])
        similarities = np.array(BulkTanimotoSimilarity(prints[best], prints), np.float64)
        similarities[measured] = -1.0
        return np.lexsort((generator.random(len(similarities)), -similarities))[:count], None

    return player


def forest_player(molecules: MoleculeSet, seed: int) -> Player:
    """Choose the molecules with the largest predictions of a random forest, refitted in every round.

    The settings are MolPAL's [Graff et al. 2021]: 100 trees of depth 8, all bits at each split, on 2,048 bits of atom
    pairs that are one to three bonds apart. Of equal predictions it takes some at random.
    """
    require("sklearn", "A random forest")
    from rdkit import Chem
    from rdkit.Chem.rdFingerprintGenerator import GetAtomPairGenerator
    from sklearn.ensemble import RandomForestRegressor

    pairs = GetAtomPairGenerator(minDistance=SHORTEST, maxDistance=LONGEST, fpSize=BITS)
    bits = np.stack([pairs.GetFingerprintAsNumPy(Chem.MolFromSmiles(text)) for text in molecules.smiles])
    bits, generator = bits.astype(np.float32), np.random.default_rng(seed)

    def player(measured: Indices, rewards: Floats, count: int) -> tuple[Indices, None]:
        tree_seed = int(generator.integers(2**31))
        forest = RandomForestRegressor(TREES, max_depth=DEPTH, n_jobs=1, random_state=tree_seed)
        forest.fit(bits[measured], rewards)
        left = np.setdiff1d(np.arange(len(bits)), measured)
        means = forest.predict(bits[left])
        return left[np.lexsort((generator.random(len(left)), -means))[:count]], None

    return player


def agent_of(name: str) -> str:
    """Return the agent of a player as on the command line; the name of a player that is not an agent as it is."""
    return name.removesuffix(ALONE)


def make_player(name: str, molecules: MoleculeSet, seed: int, sources: Sequence[SourceResults] = ()) -> Player:
    """Make a player.

    Args:
        name: `SIMILARITY`, `FOREST`, or an agent as on the command line, perhaps with `ALONE` after it.
        molecules: K molecules, which are chosen from.
        seed: seed of all randomness.
        sources: results of other assays, for an agent without `ALONE`.

    Raises:
        ValueError: if the agent or a setting is unknown, or it cannot learn from other assays.
        ImportError: if scikit-learn is not installed, for the forest.
    """
    if name in (SIMILARITY, FOREST):
        return (similarity_player if name == SIMILARITY else forest_player)(molecules, seed)
    return agent_player(agent_of(name), molecules, seed, () if name.endswith(ALONE) else sources)
