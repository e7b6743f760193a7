"""Pools to test with."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from graph_bandit_env import GraphPool


@st.composite
def ragged_pools(draw):
    """Draw pools of up to five graphs of up to six nodes, directed or not, perhaps with edge features.

    Some targets are missing.
    """
    numbers = st.floats(-1e6, 1e6, width=32)
    sizes, dim = draw(st.lists(st.integers(1, 6), min_size=1, max_size=5)), draw(st.integers(1, 3))
    nodes = [draw(arrays(np.float32, (n, dim), elements=numbers)) for n in sizes]
    directed = draw(st.booleans())
    order = list if directed else sorted
    pairs = [
        draw(st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).map(order).map(tuple))) for n in sizes
    ]
    links = [np.array(sorted(edges), np.int64).reshape(-1, 2) for edges in pairs]
    features = [draw(arrays(np.float32, (len(edges), 2), elements=numbers)) for edges in links]
    if not any(pairs) or draw(st.booleans()):
        features = None
    targets = draw(st.lists(st.floats(-1e6, 1e6) | st.just(np.nan), min_size=len(sizes), max_size=len(sizes)))
    return GraphPool(nodes, links, features, [f"g{k}" for k in range(len(sizes))], targets, directed)


def assert_equal_pools(first, second):
    """Assert that two pools have equal graphs, identifiers and targets."""
    assert first.ids == second.ids
    np.testing.assert_array_equal(first.targets, second.targets)
    assert len(first) == len(second)
    assert first.directed == second.directed
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one.nodes, other.nodes)
        np.testing.assert_array_equal(one.edge_links, other.edge_links)
        np.testing.assert_array_equal(one.edges, other.edges)
