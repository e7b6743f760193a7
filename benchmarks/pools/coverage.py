"""Test how many values lie in the intervals that a model predicts from some results."""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from agents.contract import Prediction
from benchmarks.pools.catalogue import find_pools
from benchmarks.pools.players import make_forecaster
from benchmarks.pools.screening import Floats, Indices
from benchmarks.pools.study import Cells, Study, Table, read_pool
from graph_bandit_campaign import murcko_scaffolds

Split = Literal["random", "scaffold"]
MOST_TESTED, LEAST_TESTED = 500, 50  # graphs
SCORES = ("% in 90 %", "% in 50 %", "rank correlation", "width of 90 % (sd)")
CASE = ["split", "results", "player"]


class Parts(NamedTuple):
    """Two parts of a pool without common graphs."""

    measured: Indices
    tested: Indices


@dataclass(frozen=True, kw_only=True)
class CoverageStudy(Study):
    """Test how many values lie in the intervals that a model predicts from some results.

    More results than leave 50 molecules to test are left out.
    """

    players: tuple[str, ...] = ("tanimoto",)
    """forest, tanimoto, or agents that predict, by name, with settings after a colon."""
    pools: tuple[str, ...] = ("affinity", "zinc", "chembl")
    """Names of pools and groups (affinity, zinc, chembl, adme, esol, switches, own-columns), or docking-D, draw D."""
    results: tuple[int, ...] = (50, 100, 300)
    """How many graphs are measured, told at once."""
    splits: tuple[Split, ...] = ("random", "scaffold")
    """How the graphs measured are drawn: at random, or one Murcko scaffold after the other. Up to 500 of the others,
    or of those with other scaffolds, are tested."""
    draws: int = 20
    """Draws of the graphs measured, the same for every player."""
    by_pool: bool = False
    """Print a row for each pool, too."""

    key = ("pool", "player", "split", "results", "draw")
    scores = ("tested", "seconds", *SCORES)

    def __post_init__(self) -> None:
        super().__post_init__()
        if min(self.results) < 2:
            raise ValueError(f"Expected `results` of at least 2. Got {min(self.results)}.")
        for player in self.players:
            make_forecaster(player)  # refuses before anything is tested

    def tasks(self) -> Iterator[tuple[str, str, Split, int, int]]:
        """Yield what each player is tested on."""
        for pool in find_pools(self.pools):
            for draw in range(self.draws):
                for split in self.splits:
                    for player in self.players:
                        yield from ((pool.name, player, split, results, draw) for results in self.results)

    def play(self, name: str, player: str, split: Split, results: int, draw: int) -> Iterator[tuple[float, ...]]:
        """Tell a player some results at once, and test its predictions on other graphs; none if there are too few.

        The player is given the graphs measured and tested and no others, so that a large pool takes no longer than a
        small one.
        """
        whole, forecaster, (pool,) = read_pool(name, self.data), make_forecaster(player), find_pools([name])
        of_split, of_player = np.random.SeedSequence([draw, zlib.crc32(pool.molecules.encode())]).spawn(2)
        generator = np.random.default_rng(of_split)
        if split == "random":
            parts = split_at_random(len(whole), results, generator)
        else:
            parts = split_by_scaffold(_scaffolds_of(name, self.data), results, generator)
        if len(parts.measured) < results or len(parts.tested) < LEAST_TESTED:
            return
        graphs = whole.take(np.concatenate(parts))
        begin = time.perf_counter()
        forecaster.begin(graphs, int(of_player.generate_state(1)[0]))
        prediction = forecaster.predict(np.arange(results), graphs.targets[:results])
        seconds = time.perf_counter() - begin
        yield len(parts.tested), seconds, *score(prediction, graphs.targets, results, float(whole.targets.std()))

    def tables(self, rows: pd.DataFrame) -> Iterator[Table]:
        """Yield tables for computed and measured values apart; one pool has rows by pool alone."""
        kinds = {pool.name: pool.kind for pool in find_pools([*rows["pool"].unique()])}
        rows = rows.astype({"results": int})
        rows["player"] = pd.Categorical(rows["player"], self.players)
        for kind, part in rows.groupby(rows["pool"].map(kinds), sort=False):
            by_draws = part.groupby(["pool", *CASE], observed=True)[[*SCORES]]
            if part["pool"].nunique() > 1:
                title = f"Coverage over pools, {kind}: mean (smallest to largest) of the means over draws"
                yield Table(title, list(_rows_over_pools(by_draws.mean())))
            if self.by_pool or part["pool"].nunique() == 1:
                cells: list[Cells] = [("pool", *CASE, *SCORES, "draws")]
                for case, draws in by_draws:
                    means = (f"{draws[name].mean():{_form(name)}}" for name in SCORES)
                    cells.append((*map(str, case), *means, str(len(draws))))
                yield Table(f"Coverage by pool, {kind}: mean over draws", cells)


def split_at_random(num_graphs: int, results: int, generator: np.random.Generator) -> Parts:
    """Draw the measured graphs, and test on up to 500 of the others.

    For a generator in the same state, more results contain fewer ones, and the graphs tested are the same while enough
    are left.
    """
    order = generator.permutation(num_graphs)
    return Parts(order[:results], order[max(results, num_graphs - MOST_TESTED) :])


def split_by_scaffold(scaffolds: Sequence[str], results: int, generator: np.random.Generator) -> Parts:
    """Measure one scaffold after the other, and test on up to 500 molecules whose scaffold was not measured.

    The scaffolds are in random order. The last one may be measured in part, so that results are as many as asked for;
    the rest of it is not tested.

    Args:
        scaffolds: K texts, the scaffold of each molecule.
        results: how many molecules are measured.
        generator: generator of the order.
    """
    names, number_of = np.unique(np.asarray(scaffolds), return_inverse=True)
    rank = generator.permutation(len(names))[number_of]
    mixed = generator.permutation(len(rank))
    order = mixed[np.argsort(rank[mixed], kind="stable")]
    last = rank[order[:results][-1]]
    return Parts(order[:results], mixed[rank[mixed] > last][:MOST_TESTED])


def score(prediction: Prediction, values: Floats, results: int, unit: float) -> tuple[float, ...]:
    """Return the scores of a prediction, in the order of their names.

    Args:
        prediction: of the `(K,)` graphs.
        values: `(K,)`, their values.
        results: how many of the graphs, from the first, were measured; the others are tested.
        unit: standard deviation of the pool, in units of the values.

    Raises:
        ValueError: if a bound is not a number.
    """
    covered, widths, tested = [], [], values[results:]
    for level in (0.9, 0.5):
        low, high = (bound[results:] for bound in prediction.interval(level))
        if not (low <= high).all():
            raise ValueError(f"Expected intervals of all graphs. Got {(~(low <= high)).sum()} that are none.")
        covered.append(100 * float(np.mean((low <= tested) & (tested <= high))))
        widths.append(float(np.mean(high - low)) / unit)
    means = prediction.mean[results:]
    ordered = np.ptp(means) > 0 and np.ptp(tested) > 0  # equal means order nothing
    return *covered, float(spearmanr(means, tested).statistic) if ordered else 0.0, widths[0]


def _rows_over_pools(by_pool: pd.DataFrame) -> Iterator[Cells]:
    yield *CASE, *SCORES, "pools"
    for case, scores in by_pool.groupby(CASE, observed=True):
        means = [(scores[name], _form(name)) for name in SCORES]
        cells = (f"{mean.mean():{form}} ({mean.min():{form}} to {mean.max():{form}})" for mean, form in means)
        yield *map(str, case), *cells, str(len(scores))


def _form(score: str) -> str:
    return ".1f" if score.startswith("%") else ".2f"


@lru_cache(maxsize=1)
def _scaffolds_of(name: str, folder: Path) -> list[str]:
    return murcko_scaffolds(read_pool(name, folder).smiles)  # type: ignore[attr-defined]
