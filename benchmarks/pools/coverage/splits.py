"""Choose the graphs of a pool that are measured, and those on which predictions are tested."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from benchmarks.pools.screening import Indices

Split = Literal["random", "scaffold"]
MOST_TESTED, LEAST_TESTED = 500, 50  # graphs


class Parts(NamedTuple):
    """Two parts of a pool without common graphs."""

    measured: Indices
    tested: Indices


def split_at_random(num_graphs: int, results: int, generator: np.random.Generator) -> Parts:
    """Draw the measured graphs, and test on up to 500 of the others.

    For a generator in the same state, more results contain fewer ones, and the graphs tested are the same while enough
    are left.
    """
    order = generator.permutation(num_graphs)
    return Parts(order[:results], order[max(results, num_graphs - MOST_TESTED) :])


def split_by_scaffold(scaffolds: Sequence[str], results: int, generator: np.random.Generator) -> Parts:
    """Measure one scaffold after the other, and test on up to 500 molecules whose scaffold was not measured.

    The scaffolds are in random order. The last one may be measured in part, so that results are as many as asked for;
    the rest of it is not tested.

    Args:
        scaffolds: K texts, the scaffold of each molecule.
        results: how many molecules are measured.
        generator: generator of the order.
    """
    names, number_of = np.unique(np.asarray(scaffolds), return_inverse=True)
    rank = generator.permutation(len(names))[number_of]
    mixed = generator.permutation(len(rank))
    order = mixed[np.argsort(rank[mixed], kind="stable")]
    last = rank[order[:results][-1]]
    return Parts(order[:results], mixed[rank[mixed] > last][:MOST_TESTED])
