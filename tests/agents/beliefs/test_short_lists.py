import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from agents.beliefs import short_list

NAMES = [f"molecule {k}" for k in range(60)]
levels = st.lists(st.integers(0, 3).map(float), min_size=1, max_size=60)


def test_keeps_the_largest_in_the_order_of_the_set():
    assert short_list(np.array([1.0, 5.0, -2.0, 4.0]), NAMES[:4], 2, 0).tolist() == [1, 3]
    assert short_list(np.array([1.0, -np.inf]), NAMES[:2], 1, 0).tolist() == [0]


@given(levels, st.integers(0, 60), st.integers(0, 5), st.randoms())
def test_the_order_of_the_set_chooses_no_other_molecules(values, size, seed, random):
    kept = {NAMES[k] for k in short_list(np.array(values), NAMES[: len(values)], size, seed)}
    assert len(kept) == min(size, len(values))
    order = list(range(len(values)))
    random.shuffle(order)
    moved = short_list(np.array(values)[order], [NAMES[k] for k in order], size, seed)
    assert {NAMES[order[k]] for k in moved} == kept


@given(levels, st.lists(st.integers(0, 60), max_size=4), st.integers(1, 30), st.integers(0, 5))
def test_the_short_list_of_those_of_parts_is_that_of_all(values, cuts, size, seed):
    values, ends = np.array(values), sorted({min(cut, len(values)) for cut in [*cuts, len(values)]})
    kept = []
    for begin, end in zip([0, *ends], ends, strict=False):
        kept += (begin + short_list(values[begin:end], NAMES[begin:end], size, seed)).tolist()
    again = short_list(values[kept], [NAMES[k] for k in kept], size, seed)
    assert [kept[k] for k in again] == short_list(values, NAMES[: len(values)], size, seed).tolist()


def test_rounding_errors_decide_nothing():
    values = np.full(60, 0.3) + 1e-12 * np.random.default_rng(0).normal(size=60)
    assert np.array_equal(short_list(values, NAMES, 9, 4), short_list(np.full(60, 0.3), NAMES, 9, 4))
    assert not np.array_equal(short_list(values, NAMES, 9, 4), short_list(values, NAMES, 9, 5))
