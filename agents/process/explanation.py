"""Say what each part of the kernel, and each result, adds to a prediction."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from agents.beliefs.posterior import DualPosterior
from agents.contract.abilities import Explanation
from agents.process.parts.part import Part


def explain_means(
    posterior: DualPosterior, parts: Sequence[Part], weights: Sequence[float], index: Tensor, by_rank: bool
) -> Explanation:
    """Return what the posterior means of some graphs are sums of, over the parts and over the results.

        m = sum_p w_p k_p(., seen) alpha,   alpha = A^{-1} y,   A = k(seen, seen) + noise
        m = sum_i (A^{-1} k(seen, .))_i y_i

    Both are exact. The terms k(., i) alpha_i would also add up to m, but alpha_i is not the result of a graph: it is
    what the other results leave over, so that large terms of like graphs cancel each other.

    Parts of one name are added, and so are the results of one graph, as with a bound on either side.

    Args:
        posterior: posterior of the sum of the parts; its scale is 1.
        parts: the parts of the kernel.
        weights: w, one for each part.
        index: `(n,)` int64. The graphs.
        by_rank: whether targets are normal scores of ranks.
    """
    alpha, added = posterior.dual_weights(), dict[str, Tensor]()
    for part, weight in zip(parts, weights, strict=True):
        term = weight * (alpha @ part.kernel.columns(posterior.seen, index))
        added[part.name] = added.get(part.name, 0.0) + term
    seen, row = posterior.seen.unique(return_inverse=True)
    terms = posterior.target_weights(index) * posterior.targets.unsqueeze(1)
    pulls = torch.zeros(len(seen), len(index), dtype=torch.float64).index_add(0, row, terms)
    return Explanation({name: term.numpy() for name, term in added.items()}, seen.numpy(), pulls.numpy(), by_rank)
