"""Search tables of trained networks one at a time, and predict the whole of them from some random results."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import optuna
import pandas as pd
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.trial import TrialState, create_trial
from scipy.stats import spearmanr

import registry
from agents.contract import BatchAgent
from benchmarks.pools.catalogue import find_pools
from benchmarks.pools.players import make_forecaster, make_player
from benchmarks.pools.screening import Floats, Indices, Plan, Player, play
from benchmarks.pools.study import Study, Table, interval, read_pool
from graph_bandit_env import GraphPool
from graph_bandit_lab import AgentSpec

TPE = "tpe"
START = 10  # random results that come first, the same ones for every player of a seed
AFTER, KNOWN = (20, 50, 100), (50, 100, 300)  # results after which a search is looked at, and those to predict from
TITLES = {"found": "best found", "short": "simple regret", "correlation": "rank correlation of predictions"}
TRIES = 50  # of a suggestion that is in the table and new; then any network is taken


@dataclass(frozen=True, kw_only=True)
class ArchitecturesStudy(Study):
    """Search tables of trained networks, ten at random and then one at a time, and predict the whole of them."""

    pools: tuple[str, ...] = ("citeseer",)
    """Names of pools and groups (architectures, cells)."""
    players: tuple[str, ...] = ("random", TPE, "wl-ei")
    """"tpe" (Optuna, on the words of a network's text), or agents by name, with settings after a colon."""
    seeds: int = 20
    """Searches and draws of random results, the same ones for every player."""

    key = ("pool", "player", "asked", "seed")
    scores = ("results", "found", "short", "correlation")

    def __post_init__(self) -> None:
        super().__post_init__()
        for player in self.players:
            make_searcher(player)  # refuses unknown names before anything is played

    def tasks(self) -> Iterator[tuple[str, str, str, int]]:
        """Yield a search by each player and seed, and a prediction by those that predict."""
        for pool in find_pools(self.pools):
            for seed in range(self.seeds):
                for player in self.players:
                    yield pool.name, player, "found", seed
                    if player != TPE and isinstance(_agent_of(player), BatchAgent):
                        yield pool.name, player, "predicted", seed

    def play(
        self, name: str, player: str, asked: Literal["found", "predicted"], seed: int
    ) -> Iterator[tuple[float, ...]]:
        """Search a pool, and yield the best found after some results; or predict it from some that are told at once."""
        pool = read_pool(name, self.data)
        if asked == "predicted":
            order = np.random.default_rng(seed).permutation(len(pool))
            for number in KNOWN:
                forecaster = make_forecaster(player)
                forecaster.begin(pool.without_targets(), seed)
                means = forecaster.predict(order[:number], pool.targets[order[:number]]).mean
                yield number, np.nan, np.nan, float(spearmanr(means, pool.targets).statistic)
        else:
            order = play(pool, Plan(START, 1, max(AFTER) - START), make_searcher(player), seed)
            best = np.maximum.accumulate(pool.targets[order])
            yield from ((n, float(best[n - 1]), float(pool.targets.max() - best[n - 1]), np.nan) for n in AFTER)

    def tables(self, rows: pd.DataFrame) -> Iterator[Table]:
        """Yield the means of each score of a pool after each number of results, with intervals over seeds."""
        for pool, part in rows.groupby("pool", sort=False):
            for score, title in TITLES.items():
                scored = part[part[score].notna()]
                if scored.empty:
                    continue
                numbers = sorted(scored["results"].unique())
                cells = [("player", *(f"after {number:g} [95 %]" for number in numbers), "seeds")]
                for player, own in scored.groupby("player", sort=False):
                    by_number = (own[own["results"] == number][score] for number in numbers)
                    shown = (interval(values, ".4g") for values in by_number)
                    cells.append((str(player), *shown, str(own["seed"].nunique())))
                yield Table(f"{pool}: {title}, with 95 % intervals over seeds", cells)


class TreeParzen:
    """Choose networks by Optuna's TPE with its defaults, each word of a network's text being a category.

    A suggestion that is not in the table, or was measured, is told as failed, which TPE leaves out, and another one is
    asked for.
    """

    def begin(self, graphs: GraphPool, seed: int) -> None:
        """Read the texts of the networks."""
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        words = zip(*(re.findall(r"\w+", text) for text in graphs.ids), strict=True)
        columns = [column for column in words if len(set(column)) > 1]
        self._rows = list(zip(*columns, strict=True))
        self._index_of = {row: k for k, row in enumerate(self._rows)}
        self._space: dict[str, BaseDistribution] = {
            f"word {k}": CategoricalDistribution(sorted(set(column))) for k, column in enumerate(columns)
        }
        self._study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
        self._generator, self._num_told = np.random.default_rng(seed), 0

    def choose(self, measured: Indices, values: Floats, count: int) -> Sequence[int]:
        """Learn from new results, and choose one network that was not measured, whatever the count."""
        for k, value in zip(measured[self._num_told :].tolist(), values[self._num_told :].tolist(), strict=True):
            params = dict(zip(self._space, self._rows[k], strict=True))
            self._study.add_trial(create_trial(params=params, distributions=self._space, value=value))
        self._num_told = len(measured)
        left = np.setdiff1d(np.arange(len(self._rows)), measured)
        allowed = set(left.tolist())
        for _ in range(TRIES):
            trial = self._study.ask(self._space)
            suggested = self._index_of.get(tuple(trial.params[name] for name in self._space), -1)
            self._study.tell(trial, state=TrialState.FAIL)
            if suggested in allowed:
                return [suggested]
        return [int(self._generator.choice(left))]


def make_searcher(player: str) -> Player:
    """Make a player by its name."""
    return TreeParzen() if player == TPE else make_player(player)


def _agent_of(player: str) -> object:
    spec = AgentSpec.parse(player)
    return registry.make_agent(spec.name, **spec.settings)
