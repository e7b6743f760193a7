"""Play a finished table: measure it a batch at a time, from a random start; and play many times in parallel."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

import registry
from agents.contract import Agent, BatchAgent, ModelAgent, Prediction, SourceResults, one_thread
from graph_bandit_campaign.backtest.settings import FOREST, SIMILARITY
from graph_bandit_campaign.backtest.table import Table
from graph_bandit_campaign.workers import results_of, say
from graph_bandit_env import MoleculeSet
from graph_bandit_env.extras import require
from graph_bandit_lab import AgentSpec
from graph_bandit_lab.episodes import choose
from graph_bandit_lab.execution import choose_workers

Indices: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Player: TypeAlias = Callable[[Indices, Floats, int], tuple[Sequence[int] | Indices, Prediction | None]]
"""A way to choose the molecules to measure next.

It is given the molecules that were measured, in their order, those of earlier calls first; their values or, if small
ones are wanted, the negatives; and how many to choose. It returns so many that were not measured, and the prediction
behind the choice; None: there is none.
"""
RANDOM = "random"
ALONE = " without other assays"  # ends the name of an agent that plays as if there were no `--also`
TREES, DEPTH = 100, 8  # of the random forest
BITS, SHORTEST, LONGEST = 2048, 1, 3  # of its fingerprints: bits, and bonds between the atoms of a pair
KEPT = "Finished plays are kept: give the same command with fewer --workers."


class Task(NamedTuple):
    """One play."""

    player: str
    """Name of the player: `RANDOM`, `SIMILARITY`, `FOREST`, or an agent with its settings, perhaps with `ALONE`."""
    batch: int
    """How many molecules it chooses at a time."""
    start: int
    """Number of the random start, from 0."""

    @property
    def agent(self) -> str:
        """Return the agent as on the command line; the name of a player that is not an agent as it is."""
        return self.player.removesuffix(ALONE)


@dataclass(frozen=True, eq=False)
class Play:
    """What was measured, in its order."""

    order: Indices
    """`(budget,)`, molecules in the order measured."""
    probabilities: Floats
    """`(budget,)`, probability that the molecule beats the best so far, as told before; NaN where nothing was told."""


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


def random_order(count: int, seed: int, start: int) -> NDArray[np.int64]:
    """Return all molecules in the order of a random start: every player measures the first ones of it first.

    Args:
        count: K, molecules of the table.
        seed: seed of the backtest.
        start: number of the start.
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(start, 0))).permutation(count)


def play(table: Table, task: Task, seed: int) -> Play:
    """Play a table; the result depends on table, task and seed alone.

    Args:
        table: the table.
        task: who plays, and from which start.
        seed: seed of the backtest.

    Raises:
        ValueError: if the player is an agent that cannot learn from the other assays.
        ImportError: if scikit-learn is not installed, for the forest.
    """
    order = random_order(len(table.values), seed, task.start)
    if task.player == RANDOM:
        return Play(order[: table.budget], np.full(table.budget, np.nan))
    order, rewards = order[: table.start], table.rewards
    probabilities = np.full(table.budget, np.nan)
    name = f"{task.agent}/{task.batch}"  # with other assays and without, the random numbers are the same
    digest = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4])
    of_player = int(np.random.SeedSequence(seed, spawn_key=(task.start, 1, digest)).generate_state(1)[0])
    with one_thread():
        if task.player in (SIMILARITY, FOREST):
            player = (similarity_player if task.player == SIMILARITY else forest_player)(table.molecules, of_player)
        else:
            sources = table.sources if task.player == task.agent else ()
            player = agent_player(task.agent, table.molecules, of_player, sources)
        while len(order) < table.budget:
            count = min(task.batch, table.budget - len(order))
            picked, prediction = player(order, rewards[order], count)
            chosen = np.asarray(picked, np.int64)
            if prediction is not None:
                best = float(rewards[order].max())
                probabilities[len(order) : len(order) + count] = prediction.probability_above(best)[chosen]
            order = np.concatenate([order, chosen])
    return Play(order, probabilities)


def play_tasks(table: Table, tasks: Sequence[Task], seed: int, workers: int | None) -> Iterator[tuple[Task, Play]]:
    """Play tasks, and yield each as soon as it is over; the plays do not depend on the number of workers.

    Args:
        table: the table.
        tasks: what to play.
        seed: seed of the backtest.
        workers: processes; 0: one for each core; None: this process.

    Raises:
        ChildProcessError: an OSError, if a process dies.
        ValueError: if a play fails.
    """
    if not tasks:
        return
    open_workers, _ = choose_workers(workers, None)
    calls = ((table, task, seed) for task in tasks)
    plays = results_of(open_workers(), _play_admitted, calls, lambda _, task, __: f"`{task.player}`", KEPT)
    with tqdm(total=len(tasks), unit="play", disable=None, file=sys.stderr) as bar, closing(plays):
        for done, finished in enumerate(plays, start=1):
            yield finished
            bar.update()
            say(f"{done} of {len(tasks)} plays are done.")


def _play_admitted(table: Table, task: Task, seed: int) -> tuple[Task, Play]:
    """Play in a process of its own, whose driver has admitted the agent; return the task, too."""
    AgentSpec.admit([task.agent])
    return task, play(table, task, seed)
