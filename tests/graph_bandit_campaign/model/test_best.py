"""The best of many do not depend on the portions in which they come."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from agents.beliefs import short_list
from graph_bandit_campaign.model.scan import Best

SEED = 3


def best_of_all(keys, names, groups, size, max_per_group):
    """Take the best of each group, then the best of these."""
    kept = np.array([k for k, group in enumerate(groups) if group is not None], np.int64)
    for group in set(groups) - {None, ""}:
        own = np.array([k for k in kept if groups[k] == group])
        best = own[short_list(keys[own], [names[k] for k in own], max_per_group, SEED)]
        kept = np.array([k for k in kept if groups[k] != group or k in best], np.int64)
    return kept[short_list(keys[kept], [names[k] for k in kept], size, SEED)]


@given(
    st.integers(0, 1000),
    st.integers(1, 40),
    st.integers(1, 9),
    st.integers(1, 700),
    st.lists(st.integers(0, 700), max_size=5),
)
def test_any_portions_in_any_order_keep_the_largest_keys_and_no_more_of_a_group(seed, size, max_per_group, count, cuts):
    generator = np.random.default_rng(seed)
    keys = generator.integers(0, max(2, count // 3), count).astype(np.float64)  # many are equal
    names, places = [f"name{k}" for k in range(count)], [(k % 3, k) for k in range(count)]
    groups = [("", None, "a", "b")[k] for k in generator.integers(0, 4, count)]
    merged = Best(size, SEED, max_per_group)
    for portion in reversed(np.split(np.arange(count), sorted(cuts))):
        part, own = Best(size, SEED, max_per_group), [groups[k] for k in portion]
        part.add(
            keys[portion],
            [names[k] for k in portion],
            [places[k] for k in portion],
            lambda some, own=own: [own[k] for k in some],
        )
        merged.merge(part.keys, part.entries)
    expected = best_of_all(keys, names, groups, size, max_per_group).tolist()
    assert sorted((part, row) for _, part, row, _ in merged.entries) == sorted(places[k] for k in expected)
