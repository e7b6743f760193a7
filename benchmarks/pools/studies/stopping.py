"""Replay campaigns, and count what rules that say when to stop would have missed and saved."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

from benchmarks.pools.catalogue import find_pools
from benchmarks.pools.study import Cells, Study, Table, read_molecules
from graph_bandit_campaign import Campaign

START, SIZE, MOST, TOP = 30, 20, 0.6, 10
Rule = Callable[[pd.DataFrame], pd.Series]
BINS = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0)
HEADER = (
    "stop when", "said stop", "best in hand", "one of the ten best", "of the ten best", "regret (sd): mean, largest",
    "% measured", "% saved, 0 if not stopped",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class StoppingStudy(Study):
    """Replay campaigns, and count what rules that say when to stop would have missed and saved.

    30 molecules are measured at random, then batches of 20, until 60 % of the pool is measured.
    """

    pools: tuple[str, ...]
    """Names of pools and groups (affinity, zinc, chembl, adme, esol, switches)."""
    starts: int = 2
    """Replays of each pool, each from 30 other random molecules."""

    key = ("pool", "start")
    scores = (
        "round",
        "molecules",
        "measured",
        "better",  # as `Outlook` has it before the batch is measured, as are the next two
        "batch",
        "gain",  # in standard deviations of the pool, as are the next two
        "came",  # the best of the batch less the best so far
        "regret",  # the best of the pool less the best so far
        "found",  # how many of the ten best
    )

    def tasks(self) -> Iterator[tuple[str, int]]:
        """Yield each pool and start."""
        for pool in find_pools(self.pools):
            yield from ((pool.name, start) for start in range(self.starts))

    def play(self, name: str, start: int) -> Iterator[tuple[float, ...]]:
        """Replay a campaign by the default agent, and yield a row for each round, before its batch is measured."""
        molecules = read_molecules(name, self.data)
        order = np.random.default_rng([start, zlib.crc32(name.encode())]).permutation(len(molecules))
        molecules = molecules.take(order)
        values = molecules.targets
        value_of = dict(zip(molecules.ids, values.tolist(), strict=True))
        unit, largest, tenth = values.std(), values.max(), np.partition(values, -TOP)[-TOP]
        campaign, number = Campaign(molecules, maximize=True, seed=start), 1
        campaign.tell_many({key: value_of[key] for key in molecules.ids[:START]})
        while len(campaign.state.measured) + SIZE <= MOST * len(values):
            measured = np.array([measurement.value for measurement in campaign.state.measured])
            came = {suggestion.id: value_of[suggestion.id] for suggestion in campaign.ask(SIZE)}
            outlook = campaign.outlook()
            if outlook is None:
                raise ValueError(f"Expected an outlook on {name}. The first {START} values are equal.")
            gains = (outlook.gain, max(came.values()) - measured.max(), largest - measured.max())
            counts, number_found = (number, len(values), len(measured)), min(TOP, (measured >= tenth).sum())
            yield *counts, outlook.better, outlook.batch, *(gain / unit for gain in gains), number_found
            campaign.tell_many(came)
            number += 1

    def tables(self, rows: pd.DataFrame) -> Iterator[Table]:
        """Yield a table of the rules, and those of how often the outlook came true."""
        replays = [replay for _, replay in rows.groupby(["pool", "start"], sort=False)]
        where = f"{len(replays)} replays of {rows['pool'].nunique()} pools"
        yield Table(f"When to stop, {where}", [HEADER, *(_row_of(name, rule, replays) for name, rule in RULES.items())])
        better, beats = (rows["regret"] > 0).astype(float), (rows["came"] > 0).astype(float)
        came = ("told", "mean", "came true [over pools]", "rounds")
        gain = ("batch told", "gain told", "gain that came [over pools]", "rounds")
        for title, header, promised, mean, values in (
            ("A better one is still to be found", came, "better", "better", better),
            ("The batch has a better one", came, "batch", "batch", beats),
            ("What the batch gains, in sd of the pool", gain, "batch", "gain", rows["came"].clip(lower=0)),
        ):
            yield Table(f"{title}, {where}", [header, *_rows_of_bins(rows, rows[promised], rows[mean], values)])


def below(column: str, threshold: float, rounds: int = 1) -> Rule:
    """Return the rule to stop when a number was below a threshold in some rounds in a row."""

    def rule(replay: pd.DataFrame) -> pd.Series:
        return (replay[column] < threshold).rolling(rounds).sum() == rounds

    return rule


def without_success(results: int) -> Rule:
    """Return the rule to stop when so many results have come in since the best one did."""

    def rule(replay: pd.DataFrame) -> pd.Series:
        first = replay.groupby("regret")["measured"].transform("min")
        return replay["measured"] - first >= results

    return rule


RULES: dict[str, Rule] = {
    **{f"batch below {threshold:.0%}": below("batch", threshold) for threshold in (0.1, 0.05, 0.02, 0.01)},
    **{f"batch below 5%, {rounds} times in a row": below("batch", 0.05, rounds) for rounds in (2, 3)},
    **{f"better below {threshold:.0%}": below("better", threshold) for threshold in (0.25, 0.2, 0.15, 0.1, 0.05)},
    **{f"{results} results without a better one": without_success(results) for results in (60, 100, 140)},
}


def stop_of(replay: pd.DataFrame, rule: Rule) -> pd.Series | None:
    """Return the round in which a rule first says stop, before its batch is measured; None: it never does."""
    said = replay[rule(replay)]
    return None if said.empty else said.iloc[0]


def _row_of(name: str, rule: Rule, replays: list[pd.DataFrame]) -> Cells:
    stopped = [stop for stop in (stop_of(replay, rule) for replay in replays) if stop is not None]
    if not stopped:
        return name, f"0 of {len(replays)}", *[""] * 5, "0"
    stops = pd.DataFrame(stopped)
    measured = stops["measured"] / stops["molecules"]
    return (
        name,
        f"{len(stops)} of {len(replays)}",
        f"{(stops['regret'] == 0).sum()}",
        f"{(stops['found'] > 0).sum()}",
        f"{stops['found'].mean():.1f}",
        f"{stops['regret'].mean():.2f}, {stops['regret'].max():.2f}",
        f"{100 * measured.mean():.0f}",
        f"{100 * (1 - measured).sum() / len(replays):.0f}",
    )


def _rows_of_bins(rows: pd.DataFrame, promised: pd.Series, mean: pd.Series, came: pd.Series) -> Iterator[Cells]:
    for low, high in pairwise(BINS):
        inside = (promised >= low) & ((promised < high) | (high == BINS[-1]))
        if inside.any():
            ends = _interval_over_pools(rows["pool"][inside], came[inside])
            shown = f"{came[inside].mean():.3f} [{ends[0]:.3f}, {ends[1]:.3f}]"
            yield f"{low:.0%} to {high:.0%}", f"{mean[inside].mean():.3f}", shown, str(inside.sum())


def _interval_over_pools(pools: pd.Series, values: pd.Series) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the mean of all values; a pool that is drawn comes with all its values."""
    sums = values.groupby(pools).sum().to_numpy(np.float64)
    counts = values.groupby(pools).size().to_numpy(np.float64)
    draws = np.random.default_rng(0).multinomial(len(sums), np.full(len(sums), 1 / len(sums)), 2000)
    low, high = np.quantile((draws @ sums) / (draws @ counts), [0.025, 0.975])
    return float(low), float(high)
