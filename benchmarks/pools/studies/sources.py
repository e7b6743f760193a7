"""Results of another assay that are there: what they add to predictions, and to the batch that is suggested."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

import registry
from agents.contract import SourceResults
from agents.molecule import MoleculeAgent
from benchmarks.pools.screening import Floats
from benchmarks.pools.study import Cells, Study, Table, interval, read_molecules
from graph_bandit_env import MoleculeSet
from graph_bandit_lab.analysis import bootstrap_interval

Purpose = Literal["choose", "report"]
PAIRS: dict[Purpose, tuple[str, ...]] = {
    "choose": (
        *("HLM:RLM", "CHEMBL2835_Ki:CHEMBL2971_Ki", "CHEMBL235_EC50:CHEMBL239_EC50", "CHEMBL237_EC50:CHEMBL233_Ki"),
        "CHEMBL236_Ki:CHEMBL237_Ki",
    ),
    "report": (
        *("CHEMBL204_Ki:CHEMBL244_Ki", "CHEMBL219_Ki:CHEMBL234_Ki", "CHEMBL238_Ki:CHEMBL228_Ki"),
        *("CHEMBL4203_Ki:CHEMBL262_Ki", "CHEMBL1862_Ki:CHEMBL2147_Ki", "CHEMBL1871_Ki:CHEMBL2034_Ki"),
        *("CHEMBL231_Ki:CHEMBL264_Ki", "CHEMBL287_Ki:CHEMBL214_Ki", "CHEMBL2047_EC50:CHEMBL3979_EC50"),
        *("unbound-human:unbound-rat", "solubility:efflux"),
    ),
}
"""The assay that is asked for, and the other one. No assay is in both lists; within a pair they share a family of
targets, or molecules."""
PLAYERS = {
    "alone": "",
    "with": "the other assay",
    "shuffled": "the other assay, shuffled,",
    "classes": "the other assay in two classes",
    "censored": "the other assay, half of it censored,",
}
MOST, MOST_OF_SOURCE, BATCH, TOP, LEVEL = 1500, 1000, 50, 0.05, 0.9
UPPER, CENSORED = 0.8, 0.5  # shares of the other results that are below the upper class, and below what is known


@dataclass(frozen=True, kw_only=True)
class SourcesStudy(Study):
    """Predict one assay from a few of its results, with and without those of another assay.

    Up to 1,500 molecules of a set, and up to 1,000 results of the other assay, are drawn at random.
    """

    purpose: Purpose = "report"
    """Pairs of assays on which settings were chosen, or others."""
    players: tuple[str, ...] = ("alone", "with", "shuffled")
    """`molecule-ucb` alone; with the results of the other assay; with these shuffled among its molecules; with classes
    alone, whether a result is among the best 20 %; or censored, where the lower half is only known to be that."""
    results: tuple[int, ...] = (10, 30, 100)
    """How many results of the assay that is asked for there are, drawn at random."""
    seeds: int = 20
    """Draws of each."""

    key = ("pair", "results", "player", "seed")
    scores = ("seconds", "rank correlation", "% of the top 5 % in 50", "% in 90 %", "correlation")

    def __post_init__(self) -> None:
        super().__post_init__()
        if unknown := set(self.players) - {*PLAYERS}:
            raise ValueError(f"Unknown player `{unknown.pop()}`. There are {', '.join(PLAYERS)}.")

    def tasks(self) -> Iterator[tuple[str, int, str, int]]:
        """Yield every pair with every number of results, player and seed."""
        for pair in PAIRS[self.purpose]:
            for results in self.results:
                yield from ((pair, results, player, seed) for seed in range(self.seeds) for player in self.players)

    def play(self, pair: str, results: int, player: str, seed: int) -> Iterator[tuple[float, ...]]:
        """Learn, predict all other molecules, and suggest 50 of them."""
        other, (model, molecules, source) = pair.partition(":")[2], _read(pair, self.data)
        values, of_source = np.asarray(molecules.targets, np.float64), np.asarray(source.targets, np.float64)
        generator = np.random.default_rng([results, seed])
        order, shuffled = generator.permutation(len(values)), generator.permutation(of_source)
        known, left = order[:results], np.sort(order[results:])
        begin, agent = time.perf_counter(), model.blank()
        agent.reset(None, seed=seed, graph_set=molecules)
        if player != "alone":
            told = _results_of(player, shuffled if player == "shuffled" else of_source)
            agent.learn_sources([SourceResults(other, source.smiles, *told)])
        agent.update(None, known, values[known])
        prediction = agent.predict()
        offered = np.isin(np.arange(len(values)), left)
        batch = agent.select_batch(None, BATCH, offered)
        seconds = time.perf_counter() - begin
        low, high = prediction.interval(LEVEL)
        top = values >= np.sort(values)[-max(1, round(TOP * len(values)))]
        correlation = agent.correlations()[other].value if player != "alone" else np.nan
        yield (
            seconds,
            float(spearmanr(prediction.mean[left], values[left]).statistic),
            100 * float(top[batch].sum() / top[left].sum()),
            100 * float(np.mean((low[left] <= values[left]) & (values[left] <= high[left]))),
            correlation,
        )

    def tables(self, rows: pd.DataFrame) -> Iterator[Table]:
        """Yield what the other assay adds on each pair, and over all; the first two scores, with intervals of both."""
        for player in (player for player in [*PLAYERS][1:] if player in set(rows["player"])):
            gains = _gains(rows, player)
            heads = [f"{name} {results}" for results in self.results for name in ("rho", "top 5 %")]
            cells: list[Cells] = [("pair", "correlation", *heads)]
            for pair, some in gains.groupby("pair", sort=False):
                texts = [_difference(some[some["results"] == str(n)]) for n in self.results]
                cells.append(
                    (str(pair), f"{some['correlation'].mean():+.2f}", *(text for two in texts for text in two))
                )
            means = gains.groupby(["pair", "results"], sort=False)[["rho", "top"]].mean().reset_index()
            texts = [_difference(means[means["results"] == str(n)]) for n in self.results]
            cells.append(("all, over pairs", "", *(text for two in texts for text in two)))
            yield Table(f"What {PLAYERS[player]} adds, with 95 % intervals over starts", cells)
        cells = [("player", *(f"{score} {n}" for n in self.results for score in self.scores[:4]))]
        rows = rows.assign(results=rows["results"].astype(str))
        for label, some in rows.groupby("player", sort=False):
            parts = [some[some["results"] == str(n)] for n in self.results]
            cells.append((str(label), *(f"{part[score].mean():.3g}" for part in parts for score in self.scores[:4])))
        yield Table("Means over pairs and starts", cells)


@lru_cache(maxsize=1)
def _read(pair: str, folder: Path) -> tuple[MoleculeAgent, MoleculeSet, MoleculeSet]:
    """Return an agent that has read the molecules of both assays, and these."""
    generator = np.random.default_rng(0)
    wanted, source = (read_molecules(name, folder) for name in pair.split(":"))
    wanted = wanted.take(generator.permutation(len(wanted))[:MOST])
    source = source.take(generator.permutation(len(source))[:MOST_OF_SOURCE])
    agent = registry.make_agent("molecule-ucb")
    if not isinstance(agent, MoleculeAgent):
        raise TypeError(f"Expected an agent for molecules. Got {type(agent).__name__}.")
    agent.reset(None, graph_set=wanted)
    agent.learn_sources([SourceResults(pair.partition(":")[2], source.smiles, np.asarray(source.targets))])
    return agent, wanted, source


def _results_of(player: str, values: Floats) -> tuple[Floats, Floats]:
    """Return the values of a source and their sides, as `SourceResults` has them."""
    if player == "classes":
        return np.zeros_like(values), np.where(values >= np.quantile(values, UPPER), 1.0, -1.0)
    if player == "censored":
        known = float(np.quantile(values, CENSORED))
        return np.maximum(values, known), np.where(values < known, -1.0, 0.0)
    return values, np.zeros_like(values)


def _gains(rows: pd.DataFrame, player: str) -> pd.DataFrame:
    """Return by how much a player is ahead of "alone", for each pair, number of results and seed."""
    index = ["pair", "results", "seed"]
    rows = rows.assign(results=rows["results"].astype(str))
    own, alone = (rows[rows["player"] == name].set_index(index) for name in (player, "alone"))
    gains = pd.DataFrame({"rho": own["rank correlation"] - alone["rank correlation"]})
    gains["top"] = own["% of the top 5 % in 50"] - alone["% of the top 5 % in 50"]
    return gains.assign(correlation=own["correlation"]).reset_index()


def _difference(gains: pd.DataFrame) -> tuple[str, str]:
    """Return means with intervals over rows."""
    low, high = bootstrap_interval(gains["rho"].to_numpy())
    return f"{gains['rho'].mean():+.3f} [{low:+.3f}, {high:+.3f}]", interval(gains["top"].to_numpy(), "+.1f")
