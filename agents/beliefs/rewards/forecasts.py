"""Forecast results: of graphs that were chosen because much is expected of them, and what one more result is worth."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from agents.beliefs.rewards.targets import Standardised, Targets, predict
from agents.contract.protocol import Prediction

SHIFT = 0.175  # c, in standard deviations of one result
WIDENING = 0.33  # a, where there are as many results as the next line says
RESULTS = 30
NODES, REACH = 61, 4.5  # results at which the integral is taken, and how many standard deviations they go


def correction(results: int, count: int, offered: int) -> tuple[float, float]:
    """Return by how much a choice lowers means, and by what it multiplies standard deviations.

        c = 0.175 f,   k = 1 + 0.33 f sqrt(30 / q),   f = min(1, (K - n) / n)

    q graphs have results, and n graphs are chosen from K. Means are lowered by c standard deviations of one more
    result, noise included. Who takes all graphs has not chosen (f = 0); once half of them are left out, f is 1.

    The two constants are fitted to replays of campaigns on ten pools that settings may be chosen on
    (docs/evidence/reliability.md): they minimise the quantile losses of the ends of 90 % intervals plus the log score
    of "beats the best". The number of results changed what fits; the size of a batch, from 1 to 30, did not.

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
    """Return what normal targets tell of the rewards of graphs that were chosen for them.

        mean' = mean - c s,   std'^2 + noise = (k s)^2,   s^2 = std^2 + noise      with c and k of `correction`

    Under normal scores, the mean and the probability to exceed a value are those of mean' and std. The distribution of
    the probability has wide tails already (Student's): its 90 % interval is that of a normal one with k = 1.3. And a
    mean that is lowered on the scale of the targets is lower in rewards, too, however skewed they are.

    Args:
        targets: the scale on which the rewards are modelled.
        mean: `(K,)` float64. Means of the targets.
        std: `(K,)` float64. Their standard deviations, without noise.
        noise: noise variance of a target.
        results: how many graphs have results.
        count: how many graphs were chosen.
        offered: how many graphs they were chosen from.
    """
    shift, factor = correction(results, count, offered)
    spread = (std**2 + noise).sqrt()
    lowered = mean - shift * spread
    wide = predict(targets, lowered, (std**2 + (factor**2 - 1) * spread**2).sqrt(), noise)
    if isinstance(targets, Standardised):
        return wide
    narrow = predict(targets, lowered, std, noise)
    return replace(wide, mean=narrow.mean, exceeds=narrow.exceeds)


def worth_of_results(
    targets: Targets, mean: Tensor, covariance: Tensor, noise: float, graph: int, named: Tensor
) -> float:
    """Return by how much the mean reward of the graph named best is expected to rise by a result of a graph.

        W = E_Z[max_j v_j(Z)] - max_j v_j,   v_j(Z) = E[reward of j | target of i = m_i + sqrt(C_ii + n) Z]

    The graph named best is the one with the largest expected reward. This is the knowledge gradient of graph i [Frazier
    et al. 2009]; if i is measured already, that of a repeat. The integral over Z is a sum on a grid.

    Args:
        targets: the scale on which the rewards are modelled.
        mean: `(n,)` float64. Posterior means of the targets.
        covariance: `(n, n)` float64. Their posterior covariance, without noise.
        noise: noise variance n of the result; that of the mean of several is smaller.
        graph: i, the position of the graph that is measured.
        named: `(m,)` int64. Positions of the graphs that can be named best.

    Returns:
        W >= 0, in reward units.
    """
    result = torch.linspace(-REACH, REACH, NODES, dtype=torch.float64)
    weights = torch.exp(-(result**2) / 2)
    scale = (covariance[graph, graph].clamp(min=0) + noise).sqrt()
    if scale == 0:
        return 0.0
    shift = covariance[named, graph] / scale
    before = covariance.diagonal()[named].clamp(min=0)
    now = targets.moments(mean[named], before.sqrt())[0].argmax()
    moved = mean[named] + result.unsqueeze(1) * shift
    left = (before - shift**2).clamp(min=0).sqrt().expand_as(moved)
    rewards = targets.moments(moved.reshape(-1), left.reshape(-1))[0].reshape(moved.shape)
    risen = rewards.max(dim=1).values - rewards[:, now]
    return float((weights * risen).sum() / weights.sum())
