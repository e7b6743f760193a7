"""Tables of plays: what players found on average, and what sets them apart from one of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from graph_bandit_lab.analysis import bootstrap_interval

NO_SCORES = ("screen", "player", "seed", "seconds")


def tables(plays: pd.DataFrame, players: Sequence[str], reference: str) -> list[list[tuple[str, ...]]]:
    """Return header and rows of a table for each score.

    Intervals are 95 % bootstrap intervals over seeds. A difference is that of the seeds which both have played, which
    begin with the same measurements.

    Args:
        plays: of `campaign.play_all`.
        players: in the order of the rows; those without plays are left out.
        reference: player that is subtracted.
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
