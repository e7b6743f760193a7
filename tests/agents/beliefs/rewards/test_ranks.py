import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from agents.beliefs.rewards.ranks import estimate_ranks, share_out


def tensors(*lists):
    return [torch.tensor(given, dtype=torch.float64) for given in lists]


def kaplan_meier(values, lower):
    """Mass at each exact value, in order, where the others are known to lie above `lower`; and what is above all."""
    order = sorted([(value, 0) for value in values] + [(value, 1) for value in lower])
    survival, masses = 1.0, []
    for position, (_, censored) in enumerate(order):
        if not censored:
            left = len(order) - position
            masses.append(survival / left)
            survival *= 1 - 1 / left
    return np.array(masses), survival


@given(st.lists(st.integers(0, 30), min_size=1, max_size=12, unique=True), st.lists(st.integers(-2, 32), max_size=8))
def test_with_one_side_it_is_the_estimate_of_kaplan_and_meier(values, lower):
    levels, sizes = tensors(sorted(values), [1] * len(values))
    low, high = tensors([value + 0.5 for value in lower], [np.inf] * len(lower))
    masses = share_out(levels, sizes, low, high) / (len(values) + len(lower))
    expected, rest = kaplan_meier(values, [value + 0.5 for value in lower])
    np.testing.assert_allclose(masses[1::2], expected, atol=1e-6)
    np.testing.assert_allclose(masses[-1], rest, atol=1e-6)


@given(
    st.lists(st.integers(0, 20), min_size=1, max_size=10, unique=True),
    st.lists(st.tuples(st.integers(-3, 23), st.integers(0, 10), st.sampled_from(["both", "low", "high"])), max_size=10),
)
def test_it_is_self_consistent(values, intervals):
    """Each result counts where it is known to lie, in proportion to what is there: no cumulative sums in sight."""
    low = [-np.inf if kind == "high" else begin + 0.5 for begin, _, kind in intervals]
    high = [np.inf if kind == "low" else begin + width + 0.5 for begin, width, kind in intervals]
    levels, sizes = tensors(sorted(values), [1] * len(values))
    masses = share_out(levels, sizes, *tensors(low, high)).numpy()
    ends = [-np.inf, *np.repeat(sorted(values), 2), np.inf]
    atoms = [(ends[k], ends[k + 1]) if k % 2 == 0 else (ends[k], ends[k]) for k in range(len(masses))]
    expected = np.array([float(k % 2) for k in range(len(masses))])
    for begin, end in zip(low, high, strict=True):
        inside = [k for k, (a, b) in enumerate(atoms) if k % 2 and begin < a < end]
        gaps = [
            k
            for k, (a, b) in enumerate(atoms)
            if (k % 2 == 0 and max(a, begin) < min(b, end)) or (a <= begin <= end <= b)
        ]
        every = sorted({*inside, *gaps})
        expected[every] += masses[every] / masses[every].sum()
    np.testing.assert_allclose(masses, expected, atol=1e-6)
    assert masses.sum() == pytest.approx(len(values) + len(intervals))


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (3.0, torch.inf, ([1, 2, 3], [0.5, 1.5, 2], [1, 2, 2])),
        (-torch.inf, 0.5, ([0.5, 1, 2], [1, 1.5, 2.5], [1, 2, 3])),
        (2.0, torch.inf, ([1, 2], [0.5, 1.5], [1, 2])),  # a level at the bound stands for it
        (-torch.inf, 1.0, ([1, 2], [1.5, 2.5], [2, 3])),
        (-torch.inf, 1.5, ([1, 2], [1, 2.5], [2, 3])),
    ],
)
def test_one_bound_beyond_all_levels_adds_its_number(low, high, expected):
    levels = torch.tensor([1.0, 2.0], dtype=torch.float64)
    told = estimate_ranks(levels, torch.ones_like(levels), levels.new_tensor([low]), levels.new_tensor([high]))
    for found, wanted in zip(told, expected, strict=True):
        assert found.tolist() == pytest.approx(wanted)
