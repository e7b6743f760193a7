import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import norm

from agents.descriptors import Moments, Ranks

VALUES = np.random.default_rng(0).normal(size=(9, 4)) * [1, 10, 0.1, 1000] + 5


def points(values):
    return Moments.of(values).scale().points(values)


def test_numbers_are_standardised_and_those_that_all_share_are_left_out():
    np.testing.assert_allclose(points(VALUES).mean(0), 0, atol=1e-5)
    np.testing.assert_allclose(points(VALUES).std(0), 1, rtol=1e-6)
    same = np.concatenate([VALUES, np.full((9, 2), 0.1)], axis=1)
    assert np.array_equal(points(same.astype(np.float32)), points(VALUES.astype(np.float32)))
    assert Moments.of(same).scale().dimension == 4


def test_a_number_that_is_not_known_is_the_mean_of_the_others_and_one_far_off_is_cut():
    values = VALUES.copy()
    values[[2, 5], 1] = np.nan, np.inf
    found, known = points(values), points(np.delete(VALUES, [2, 5], axis=0))
    assert found[[2, 5], 1].tolist() == [0, 0]
    np.testing.assert_allclose(np.delete(found[:, 1], [2, 5]), known[:, 1])
    assert np.abs(points(np.append(np.arange(40.0), 1e9)[:, None])).max() <= 5


@given(
    arrays(np.float32, (12, 3), elements=st.floats(-1e6, 1e6, width=32) | st.just(np.nan)),
    st.lists(st.integers(0, 12), max_size=4),
)
def test_merged_moments_are_those_of_all_and_give_the_same_scale_to_the_last_bit(values, cuts):
    whole, merged = Moments.of(values), Moments.of(values[:0])
    for begin, end in zip([0, *sorted(cuts)], [*sorted(cuts), 12], strict=True):
        merged = merged.merge(Moments.of(values[begin:end]))
    np.testing.assert_array_equal(merged.count, whole.count)
    np.testing.assert_allclose(merged.mean, whole.mean, rtol=1e-9, atol=1e-9 * np.abs(np.nan_to_num(values)).max())
    np.testing.assert_allclose(merged.squares, whole.squares, rtol=1e-9, atol=1e-6)
    np.testing.assert_array_equal(merged.largest, whole.largest)


def by_rank(values):
    return Ranks.of(values).scores(values)


def test_ranks_become_normal_scores_column_by_column():
    values = np.array([[3.0, 1.0], [9999.0, np.nan], [-2.0, 1.0], [5.0, 7.0]])
    expected = norm.ppf([[3 / 8, 2 / 6], [7 / 8, np.nan], [1 / 8, 2 / 6], [5 / 8, 5 / 6]])
    np.testing.assert_allclose(by_rank(values), expected)


@given(arrays(np.float64, (6, 2), elements=st.integers(-50, 50).map(float)))
def test_only_the_order_of_numbers_counts(values):
    np.testing.assert_array_equal(by_rank(values), by_rank(np.exp(values / 10)))


def test_a_value_that_no_ranked_molecule_has_lies_between_its_neighbours():
    scores = Ranks.of(np.array([[1.0], [2.0], [3.0]])).scores(np.array([[-9.0], [1.0], [1.5], [2.0], [9.0]]))[:, 0]
    assert scores[0] == scores[1] < scores[2] < scores[3] < scores[4] < np.inf
