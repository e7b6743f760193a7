"""Rates of one core on a prepared pool, and what they make of pools that nobody has here."""

from __future__ import annotations

import pickle
import time
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agents.molecule import MoleculeAgent, Ranks, Rater, Scales
from benchmarks.pools.streamed.values import Values
from graph_bandit_campaign import Campaign
from graph_bandit_campaign.pool import DescribedMolecules
from graph_bandit_campaign.pool.prepared import PreparedPool
from graph_bandit_env import from_smiles

BLOCKS = 12  # that are timed


class Rates(NamedTuple):
    """What a molecule costs on one core."""

    bytes: float
    """On disk."""
    reading: float
    """Seconds to read it."""
    rating: float
    """Seconds to rate it."""
    travels: int
    """Bytes that go to each part: what the results have taught."""


def make_rater(folder: Path, values: Values, count: int) -> Rater:
    """Return what rates molecules, given results of some that are drawn at random."""
    pool, places, begin = PreparedPool.open(folder), [], 0
    drawn = np.sort(values.draw(count, seed=0))
    for block in pool.blocks((), ()):
        here = drawn[np.searchsorted(drawn, begin) : np.searchsorted(drawn, begin + len(block))] - begin
        places.append(block.places[here])
        begin += len(block)
    block = pool.take(np.concatenate(places))
    plain = from_smiles(block.smiles, ids=block.ids)
    molecules = DescribedMolecules.of(plain, block.traits, Scales(pool.moments, Ranks.of(np.empty((0, 0)))))
    campaign = Campaign(molecules, "molecule-ucb")
    campaign.tell_many(dict(zip(block.ids, values.values[drawn].tolist(), strict=True)))
    agent = campaign.model()
    if not isinstance(agent, MoleculeAgent):
        raise TypeError(f"Expected a `molecule-` agent. Got {type(agent).__name__}.")
    return agent.rater()


def measure_rates(folder: Path, rater: Rater) -> Rates:
    """Time reading and rating of some blocks, in this process on one thread."""
    pool = PreparedPool.open(folder)
    first = next(pool.blocks())
    rater(first.traits)  # compiles what is not compiled yet
    count = reading = rating = 0.0
    blocks = pool.blocks()
    while True:
        begin = time.perf_counter()
        block = next(islice(blocks, 1), None)
        reading += time.perf_counter() - begin
        if block is None or count > BLOCKS * len(first):
            break
        begin = time.perf_counter()
        rater(block.traits)
        rating += time.perf_counter() - begin
        count += len(block)
    size = sum(part.record.bytes for part in pool.parts) / len(pool)
    return Rates(size, reading / count, rating / count, len(pickle.dumps(rater)))
