"""Fit the correction of what is promised of chosen molecules to what came."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.stats import norm, t

from benchmarks.pools.screening import Floats
from benchmarks.pools.summary import Table

ENDS = (0.05, 0.95)  # of 90 % intervals
BEGIN = (0.1, 0.3)
RESULTS, TAIL = 30, 4.0  # as in `agents.beliefs.rewards`, where constants are for so many results


def losses(rows: pd.DataFrame, shift: float, widening: float) -> Floats:
    """Return the loss of each promise, if means are lowered by c and intervals widened by k = 1 + a sqrt(30 / q).

        sum over q = 0.05, 0.95 of rho_q(z - q_q) - log P(what came),   z = (came - mean) / s

    rho_q is the quantile loss, q_q = -c + k Phi^{-1}(q), and P the probability that the result beats the best so far or
    does not, of mean - c s, as `agents.beliefs.rewards.chosen` has it.

    Args:
        rows: the table of `replays.replay_all`.
        shift: c.
        widening: a.
    """
    mean, spread, measured = (rows[name].to_numpy(np.float64) for name in ("mean", "spread", "measured"))
    error = (rows["came"].to_numpy(np.float64) - mean) / spread + shift
    factor = 1 + widening * np.sqrt(RESULTS / measured)
    missed = [error - factor * norm.ppf(end) for end in ENDS]
    quantile = sum(np.maximum(end * miss, (end - 1) * miss) for end, miss in zip(ENDS, missed, strict=True))
    plain = rows["plain_probability"].to_numpy(np.float64)
    barrier = mean - spread * t.ppf(plain, TAIL)  # the target that beats the best, as `NormalScores.exceeded` has it
    probability = t.cdf((mean - shift * spread - barrier) / spread, TAIL)
    came = np.where(rows["beat"] > 0, probability, 1 - probability)
    return np.asarray(quantile - np.log(np.maximum(came, 1e-9)), np.float64)


def fit(rows: pd.DataFrame) -> tuple[float, float]:
    """Return c and a; each pool, size of batch, and number of first results counts alike."""
    cells = rows.groupby(["pool", "size", "results"])["mean"].transform("size")
    weights = 1 / cells.to_numpy(np.float64)

    def loss(values: Floats) -> float:
        return float(np.average(losses(rows, *values), weights=weights))

    shift, widening = minimize(loss, BEGIN, method="Nelder-Mead").x
    return float(shift), float(widening)


def table_of_fits(rows: pd.DataFrame) -> Table:
    """Return the constants fitted to all pools, and to all but one."""
    cells: list[tuple[str, ...]] = [("fitted to", "c", "a")]
    parts = {"all pools": rows}
    if rows["pool"].nunique() > 1:
        parts |= {f"all but {pool}": rows[rows["pool"] != pool] for pool in rows["pool"].unique()}
    cells += [(name, *(f"{value:.3f}" for value in fit(part))) for name, part in parts.items()]
    return Table("Constants of the correction", cells)
