"""Summarise plays in tables: the mean score of each player, and its difference from a reference."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from graph_bandit_lab.analysis import bootstrap_interval

NO_SCORES = ("screen", "player", "seed", "seconds")


def tables(plays: pd.DataFrame, players: Sequence[str], reference: str) -> list[list[tuple[str, ...]]]:
    """Return the header and rows of a table for each score.

    Intervals are 95 % bootstrap intervals over seeds. A difference is taken over the seeds that both players have
    played; both begin with the same measurements.

    Args:
        plays: the table from `campaign.play_all`.
        players: names in the order of the rows; players without plays are left out.
        reference: the player to subtract.
    """
    return [
        _table(plays, [name for name in players if (plays["player"] == name).any()], reference, str(score))
        for score in plays
        if score not in NO_SCORES
    ]


def _table(plays: pd.DataFrame, players: Sequence[str], reference: str, score: str) -> list[tuple[str, ...]]:
    by_seed = plays.pivot_table(index="seed", columns="player", values=score)
    header = "player", f"{score} [95 % interval]", f"less {reference} [95 % interval]", "seeds", "seconds a seed"
    rows: list[tuple[str, ...]] = [header]
    for player in players:
        values = by_seed[player].dropna()
        pairs = by_seed[player].sub(by_seed[reference]).dropna() if reference in by_seed else values[:0]
        difference = "" if player == reference or pairs.empty else _with_interval(pairs, "+.1f")
        seconds = plays.loc[plays["player"] == player, "seconds"].mean()
        rows.append((player, _with_interval(values, ".1f"), difference, str(len(values)), f"{seconds:.1f}"))
    return rows


def _with_interval(values: pd.Series[float], form: str) -> str:
    low, high = bootstrap_interval(np.asarray(values, np.float64))
    return f"{values.mean():{form}} [{low:{form}}, {high:{form}}]"
