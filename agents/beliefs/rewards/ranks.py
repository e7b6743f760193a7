"""Censored results: the bounds of each graph, and the estimated distribution of results."""

from __future__ import annotations

import torch
from torch import Tensor

MOST_ROUNDS = 1000
TOLERANCE = 1e-9  # of a mass, in results


def estimate_ranks(levels: Tensor, sizes: Tensor, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Estimate the ranks of values among n results, some of which are interval-censored.

    Args:
        levels: `(q,)` float64, q >= 1. Exact values that occur, increasing.
        sizes: `(q,)` float64. Multiplicity of each value.
        low: `(m,)` float64. Start of each interval, -inf if unbounded.
        high: `(m,)` float64. End of each interval, inf if unbounded.

    Returns:
        Values, `(q,)` to `(q + 2,)`: the levels, preceded by the upper bound of the smallest results if it is smaller,
        and followed by the lower bound of the largest results if it is larger. The number of results smaller than each
        value, with equal ones counted half. The number of results smaller or equal.
    """
    masses = share_out(levels, sizes, low, high)
    ends = masses.cumsum(0)
    ranks, ends = (ends - masses / 2)[1::2].contiguous(), ends[1::2].contiguous()
    if masses[0] > 0 and high.min() < levels[0]:
        first = masses[:1]
        levels, ranks, ends = torch.cat([high.min()[None], levels]), torch.cat([first, ranks]), torch.cat([first, ends])
    if masses[-1] > 0 and low.max() > levels[-1]:
        last = ends[-1:]
        levels, ranks, ends = torch.cat([levels, low.max()[None]]), torch.cat([ranks, last]), torch.cat([ends, last])
    return levels, ranks, ends


def share_out(levels: Tensor, sizes: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """Estimate the number of results at each value, given n results, some of which are interval-censored.

    The estimate is self-consistent: an interval-censored result is distributed over the levels inside its interval in
    proportion to their total weight [Efron 1967; Turnbull 1974]. If no level is inside, it lies in a gap: below,
    between or above the levels. Without intervals these are the counts. With exact and right-censored results only,
    this is the Kaplan-Meier estimate.

    Args:
        levels: `(q,)` float64. Exact values that occur, increasing.
        sizes: `(q,)` float64. Multiplicity of each value.
        low: `(n,)` float64. Start of each interval, -inf if unbounded.
        high: `(n,)` float64. End of each interval, inf if unbounded.

    Returns:
        `(2 q + 1,)` float64: the number of results in the gap below the first level, at that level, in the gap above
        it, and so on. The sum is the number of results and intervals.
    """
    exact = torch.zeros(2 * len(levels) + 1, dtype=torch.float64)
    exact[1::2] = sizes
    first = torch.searchsorted(levels, low, right=True)  # a level at a bound is not inside
    last = torch.searchsorted(levels, high)
    last = torch.maximum(first, last)
    begin, end = 2 * first, 2 * last + 1  # including both gaps, which may contain other results
    masses = exact.clone()
    masses[begin[first == last]] = 1.0
    for _ in range(MOST_ROUNDS if len(low) else 0):
        sums = torch.nn.functional.pad(masses.cumsum(0), (1, 0))
        shares = 1 / (sums[end] - sums[begin])
        density = torch.zeros(len(masses) + 1, dtype=torch.float64)
        density.index_add_(0, begin, shares).index_add_(0, end, -shares)
        shared = exact + masses * density.cumsum(0)[:-1]
        change = (shared - masses).abs().max().item()
        masses = shared.clamp(min=0)
        if change < TOLERANCE:
            break
    return masses
