"""Replay campaigns, and compare what was promised of each suggestion with what came."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from scipy.optimize import minimize
from scipy.stats import norm, t

from agents.molecule import MoleculeAgent
from benchmarks.pools.catalogue import find_pools
from benchmarks.pools.screening import Floats
from benchmarks.pools.study import Cells, Study, Table, interval, read_molecules
from graph_bandit_campaign import Campaign

FIRST = (10, 30, 100)  # how many molecules are measured first, at random
BATCHES = ((1, 15), (8, 4), (30, 3))  # sizes, and how many batches of each
HEADER = (
    "suggestions", "% in 90 %, as predicted", "% in 90 %, as suggested", "promised to beat the best, as predicted",
    "as suggested", "came",
)  # fmt: skip
ENDS = (0.05, 0.95)  # of 90 % intervals
BEGIN = (0.1, 0.3)
RESULTS, TAIL = 30, 4.0  # as in `agents.beliefs.rewards`, where constants are for so many results


@dataclass(frozen=True, kw_only=True)
class PromisesStudy(Study):
    """Replay campaigns, and compare what was promised of each suggestion with what came.

    10, 30 or 100 molecules are measured at random, then 15 one at a time, four batches of 8, or three of 30.
    """

    pools: tuple[str, ...]
    """Names of pools and groups (affinity, zinc, chembl, adme, esol, switches)."""
    starts: int = 2
    """Replays of each pool, each from other random molecules."""
    fit: bool = False
    """Fit the constants of the correction to these pools, too."""
    by_pool: bool = False
    """Print a row for each pool, too."""

    key = ("pool", "start", "results", "size", "rounds")
    scores = (
        "round",
        "measured",  # how many results there were before the batch
        "mean",  # of the target, as the model predicts it; so the next one
        "spread",  # standard deviation of the target of one result, with noise
        "came",  # target of the result
        "beat",  # 1 if the result beats the best so far
        "plain_low",  # bounds of the interval as `Campaign.predict` has them, in standard deviations of the pool
        "plain_high",
        "plain_probability",
        "low",  # as `Campaign.ask` says it
        "high",
        "probability",
        "value",  # the result, in standard deviations of the pool
    )

    def tasks(self) -> Iterator[tuple[str, int, int, int, int]]:
        """Yield each pool, start, number of first results and size of batch."""
        for start in range(self.starts):
            for pool in find_pools(self.pools):
                yield from ((pool.name, start, results, *batch) for results in FIRST for batch in BATCHES)

    def play(self, name: str, start: int, results: int, size: int, rounds: int) -> Iterator[tuple[float, ...]]:
        """Replay a campaign by the default agent, and yield a row for each suggestion, in their order."""
        molecules = read_molecules(name, self.data)
        order = np.random.default_rng([start, zlib.crc32(name.encode())]).permutation(len(molecules))
        molecules = molecules.take(order)
        value_of = dict(zip(molecules.ids, molecules.targets.tolist(), strict=True))
        place_of, unit = {key: k for k, key in enumerate(molecules.ids)}, float(molecules.targets.std())
        campaign = Campaign(molecules, maximize=True, seed=start)
        campaign.tell_many({key: value_of[key] for key in molecules.ids[:results]})
        for number in range(1, rounds + 1):
            measured, best = len(campaign.state.measured), campaign.best
            suggested = campaign.ask(size)
            agent = campaign.model()
            if best is None or not isinstance(agent, MoleculeAgent):
                raise TypeError(f"Expected a `molecule-` agent with results. Got {type(agent).__name__}.")
            came = np.array([value_of[suggestion.id] for suggestion in suggested])
            plain = campaign.predict()
            promised = [(suggestion.low, suggestion.high, suggestion.probability) for suggestion in suggested]
            if None in promised[0]:
                raise ValueError(f"Expected predictions on {name}. Its first {results} values are equal.")
            predicted = [
                (plain[suggestion.id].low, plain[suggestion.id].high, plain[suggestion.id].probability)
                for suggestion in suggested
            ]
            index = torch.tensor([place_of[suggestion.id] for suggestion in suggested])
            mean, variance = agent.posterior.mean_and_variance(index)
            columns = (
                mean.numpy(),
                (variance + agent.result_noise).sqrt().numpy(),
                agent.targets.of(torch.from_numpy(came)).numpy(),
                (came > best).astype(np.float64),
                *(np.array(predicted, np.float64) / [unit, unit, 1]).T,
                *(np.array(promised, np.float64) / [unit, unit, 1]).T,
                came / unit,
            )
            yield from ((number, measured, *row) for row in zip(*columns, strict=True))
            campaign.tell_many(dict(zip([suggestion.id for suggestion in suggested], came.tolist(), strict=True)))

    def tables(self, rows: pd.DataFrame) -> Iterator[Table]:
        """Yield tables by size of batch and number of first results, of first rounds, and by pool.

        Shares are means over pools, with 95 % bootstrap intervals that draw whole pools.
        """
        rows = rows.astype({"size": int, "results": int})
        where = f"{rows['pool'].nunique()} pools"
        both = ("batch", "first results")
        first = rows[rows["round"] == 1]
        yield Table(f"By size of batch, {where}", _rows_of(("batch",), rows.groupby(["size"])))
        yield Table(f"By size of batch and first results, {where}", _rows_of(both, rows.groupby(["size", "results"])))
        yield Table(f"The first round alone, {where}", _rows_of(both, first.groupby(["size", "results"])))
        if self.by_pool:
            yield Table("By pool", _rows_of(("pool", "batch"), rows.groupby(["pool", "size"], sort=False)))
        if self.fit:
            yield table_of_fits(rows)


def _rows_of(names: Cells, parts: Iterable[tuple[tuple[object, ...], pd.DataFrame]]) -> list[Cells]:
    cells: list[Cells] = [(*names, *HEADER)]
    for key, part in parts:
        inside = [_share_inside(part, part[f"{prefix}low"], part[f"{prefix}high"]) for prefix in ("plain_", "")]
        sums = (f"{part[name].sum():.1f}" for name in ("plain_probability", "probability"))
        cells.append((*map(str, key), str(len(part)), *inside, *sums, f"{part['beat'].sum():.0f}"))
    return cells


def _share_inside(rows: pd.DataFrame, low: pd.Series, high: pd.Series) -> str:
    inside = 100.0 * ((rows["value"] >= low) & (rows["value"] <= high))
    means = inside.groupby(rows["pool"]).mean()
    return interval(means) if len(means) > 1 else f"{means.iloc[0]:.1f}"


def losses(rows: pd.DataFrame, shift: float, widening: float) -> Floats:
    """Return the loss of each promise, if means are lowered by c and intervals widened by k = 1 + a sqrt(30 / q).

        sum over q = 0.05, 0.95 of rho_q(z - q_q) - log P(what came),   z = (came - mean) / s

    rho_q is the quantile loss, q_q = -c + k Phi^{-1}(q), and P the probability that the result beats the best so far or
    does not, of mean - c s, as `agents.beliefs.rewards.chosen` has it.

    Args:
        rows: a row for each suggestion.
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
    parts = {"all pools": rows}
    if rows["pool"].nunique() > 1:
        parts |= {f"all but {pool}": rows[rows["pool"] != pool] for pool in rows["pool"].unique()}
    cells = [(name, *(f"{value:.3f}" for value in fit(part))) for name, part in parts.items()]
    return Table("Constants of the correction", [("fitted to", "c", "a"), *cells])
