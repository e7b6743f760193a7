"""Count what rules that say when to stop would have missed and saved, and whether the outlook came true."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pandas as pd

from benchmarks.pools.screening import Floats
from benchmarks.pools.summary import Table

Rule = Callable[[pd.DataFrame], pd.Series]
BINS = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0)


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


def tables(rounds: pd.DataFrame) -> list[Table]:
    """Return a table of the rules, and of how often the outlook came true.

    Args:
        rounds: the table of `replays.replay_all`.
    """
    replays = [replay for _, replay in rounds.groupby(["pool", "start"], sort=False)]
    pools = rounds["pool"].nunique()
    where = f"{len(replays)} replays of {pools} pools"
    return [
        Table(f"When to stop, {where}", _rows_of_rules(replays)),
        Table(f"A better one is still to be found, {where}", _rows_of_bins(rounds, "better", rounds["regret"] > 0)),
        Table(f"The batch has a better one, {where}", _rows_of_bins(rounds, "batch", rounds["came"] > 0)),
        Table(f"What the batch gains, in sd of the pool, {where}", _rows_of_gains(rounds)),
    ]


def stop_of(replay: pd.DataFrame, rule: Rule) -> pd.Series | None:
    """Return the round in which a rule first says stop, before its batch is measured; None: it never does."""
    said = replay[rule(replay)]
    return None if said.empty else said.iloc[0]


def _rows_of_rules(replays: list[pd.DataFrame]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [
        (
            "stop when",
            "said stop",
            "best in hand",
            "one of the ten best",
            "of the ten best",
            "regret (sd): mean, largest",
            "% measured",
            "% saved, 0 if not stopped",
        )
    ]
    for name, rule in RULES.items():
        found = [stop for stop in (stop_of(replay, rule) for replay in replays) if stop is not None]
        if not found:
            rows.append((name, f"0 of {len(replays)}", *[""] * 5, "0"))
            continue
        stops = pd.DataFrame(found)
        measured = stops["measured"] / stops["molecules"]
        rows.append(
            (
                name,
                f"{len(stops)} of {len(replays)}",
                f"{(stops['regret'] == 0).sum()}",
                f"{(stops['found'] > 0).sum()}",
                f"{stops['found'].mean():.1f}",
                f"{stops['regret'].mean():.2f}, {stops['regret'].max():.2f}",
                f"{100 * measured.mean():.0f}",
                f"{100 * (1 - measured).sum() / len(replays):.0f}",
            )
        )
    return rows


def _rows_of_bins(rounds: pd.DataFrame, column: str, came: pd.Series) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [("told", "mean", "came true [over pools]", "rounds")]
    for low, high in pairwise(BINS):
        inside = _between(rounds[column], low, high)
        if inside.any():
            interval = _interval_over_pools(rounds["pool"][inside], came[inside].astype(float))
            shown = f"{came[inside].mean():.3f} [{interval[0]:.3f}, {interval[1]:.3f}]"
            rows.append((f"{low:.0%} to {high:.0%}", f"{rounds[column][inside].mean():.3f}", shown, str(inside.sum())))
    return rows


def _rows_of_gains(rounds: pd.DataFrame) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [("batch told", "gain told", "gain that came [over pools]", "rounds")]
    gains = rounds["came"].clip(lower=0)
    for low, high in pairwise(BINS):
        inside = _between(rounds["batch"], low, high)
        if inside.any():
            interval = _interval_over_pools(rounds["pool"][inside], gains[inside])
            shown = f"{gains[inside].mean():.3f} [{interval[0]:.3f}, {interval[1]:.3f}]"
            rows.append((f"{low:.0%} to {high:.0%}", f"{rounds['gain'][inside].mean():.3f}", shown, str(inside.sum())))
    return rows


def _between(values: pd.Series, low: float, high: float) -> pd.Series:
    return (values >= low) & ((values < high) | (high == BINS[-1]))


def _interval_over_pools(pools: pd.Series, values: pd.Series) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the mean of all values; a pool that is drawn comes with all its values."""
    sums = values.groupby(pools).sum().to_numpy(np.float64)
    counts = values.groupby(pools).size().to_numpy(np.float64)
    draws = np.random.default_rng(0).multinomial(len(sums), np.full(len(sums), 1 / len(sums)), 2000)
    means: Floats = (draws @ sums) / (draws @ counts)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)
