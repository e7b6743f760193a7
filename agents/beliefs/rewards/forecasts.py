"""Forecast results of graphs that were selected for their high predictions."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from agents.beliefs.rewards.targets import Standardised, Targets, predict
from agents.contract.protocol import Prediction

SHIFT = 0.175  # c, in standard deviations of one result
WIDENING = 0.33  # a, at the number of results given in the next line
RESULTS = 30


def correction(results: int, count: int, offered: int) -> tuple[float, float]:
    """Return the shift of means and the factor of standard deviations that correct for selection.

        c = 0.175 f,   k = 1 + 0.33 f sqrt(30 / q),   f = min(1, (K - n) / n)

    q graphs have results, and n graphs are chosen from K. Means are lowered by c standard deviations of one more
    result, noise included. Choosing all graphs is no selection (f = 0), and f is 1 once half of them are left out.

    The two constants are fitted to replays of campaigns on ten development pools (docs/evidence/reliability.md). They
    minimise the quantile losses of the ends of 90 % intervals plus the log score of "beats the best". The fitted values
    depended on the number of results, but not on the size of a batch, from 1 to 30.

    Args:
        results: q.
        count: n, at least 1.
        offered: K, at least n.
    """
    share = min(1.0, (offered - count) / count)
    return SHIFT * share, 1 + WIDENING * share * (RESULTS / results) ** 0.5


def predict_chosen(
    targets: Targets, mean: Tensor, std: Tensor, noise: float, results: int, count: int, offered: int
) -> Prediction:
    """Predict the rewards of graphs that were chosen for their normal targets.

        mean' = mean - c s,   std'^2 + noise = (k s)^2,   s^2 = std^2 + noise      with c and k of `correction`

    Under normal scores, the mean and the probability to exceed a value are those of mean' and std, because the
    distribution of the probability already has wide tails (Student's): its 90 % interval is that of a normal one with k
    = 1.3. Lowering a mean on the scale of the targets also lowers it in rewards, for any skewness.

    Args:
        targets: the scale on which the rewards are modelled.
        mean: `(K,)` float64. Means of the targets.
        std: `(K,)` float64. Their standard deviations, without noise.
        noise: noise variance of a target.
        results: number of graphs with results.
        count: number of graphs chosen.
        offered: number of graphs to choose from.
    """
    shift, factor = correction(results, count, offered)
    spread = (std**2 + noise).sqrt()
    lowered = mean - shift * spread
    wide = predict(targets, lowered, (std**2 + (factor**2 - 1) * spread**2).sqrt(), noise)
    if isinstance(targets, Standardised):
        return wide
    narrow = predict(targets, lowered, std, noise)
    return replace(wide, mean=narrow.mean, exceeds=narrow.exceeds)
