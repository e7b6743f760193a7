"""The worth of one more result of a graph: how much better the graph is that is named best afterwards."""

from __future__ import annotations

import torch
from torch import Tensor

from agents.beliefs.rewards.targets import Targets

NODES, REACH = 61, 4.5  # results at which the integral is taken, and how many standard deviations they go


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
