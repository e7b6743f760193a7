"""Choose the graphs that an agent forgets where graphs change and its memory is full."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

SHARE = 0.1  # of the memory that is freed at a time


def remember(played: Tensor, memory: int, least_needed: Callable[[int], Tensor]) -> Tensor:
    """Choose the graphs that stay: all of them while they fit, else enough to leave a tenth of the memory free.

    Args:
        played: `(q,)` int64. Slots of the graphs played.
        memory: the largest number of them.
        least_needed: chooses so many positions among the q graphs, to be forgotten.

    Returns:
        The slots of the graphs that stay, in their order.
    """
    if len(played) <= memory:
        return played
    stays = torch.ones(len(played), dtype=torch.bool)
    stays[least_needed(len(played) - memory + math.floor(SHARE * memory))] = False
    return played[stays]


def least_informative(covariance: Tensor, noise: Tensor, count: int) -> Tensor:
    """Choose, one after the other, the graphs whose rewards tell least given those of the others.

        I_i = (1/2) log(1 + sigma^2_{-i} / s_i) = -(1/2) log(s_i P_ii),   P = (covariance + diag(s))^{-1}

    Here sigma^2_{-i} is the variance of graph i given the rewards of the others. Without graph i the rest of P becomes
    P - P_i P_i^T / P_ii, so that each further choice costs O(q^2).

    Args:
        covariance: `(q, q)` float64. Prior covariance of the graphs played.
        noise: `(q,)` float64. Noise variance of the mean of each graph's rewards.
        count: how many to choose, at most q.

    Returns:
        `(count,)` int64. Positions among the q graphs.
    """
    precision = torch.cholesky_inverse(torch.linalg.cholesky(covariance + torch.diag(noise)))
    chosen: list[int] = []
    for _ in range(count):
        information = -(noise * precision.diagonal().clamp(min=torch.finfo(torch.float64).tiny)).log()
        information[chosen] = torch.inf
        chosen.append(int(information.argmin()))
        column = precision[:, chosen[-1]].clone()
        precision -= torch.outer(column, column / column[chosen[-1]])
    return torch.tensor(chosen, dtype=torch.int64)
