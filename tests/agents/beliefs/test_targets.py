import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm, rankdata
from support.posterior import bounded

from agents.beliefs.rewards import History, NormalScores, Standardised, make_targets
from agents.beliefs.rewards.ranks import estimate_ranks, share_out

REWARDS = torch.tensor([91.0, 10.0, 90.0, 85.0, 90.0, 89.5, 60.0], dtype=torch.float64)


def scores_of(rewards):
    scores = norm.ppf((rankdata(rewards) - 0.5) / len(rewards))
    return scores / scores.std()


def warp(rewards=REWARDS):
    return NormalScores(rewards, rewards.std(correction=0).item())


finite = st.floats(-1e6, 1e6).map(lambda value: round(value, 3))


@given(st.lists(finite, min_size=2, max_size=30, unique=True) | st.just(REWARDS.tolist()))  # 90 twice
def test_targets_of_the_rewards_are_their_normal_scores(rewards):
    rewards = torch.tensor(rewards, dtype=torch.float64)
    np.testing.assert_allclose(warp(rewards).of(rewards), scores_of(rewards), rtol=1e-7, atol=1e-9)


@given(st.lists(finite, min_size=1, max_size=20), st.lists(st.floats(-5, 5), min_size=1, max_size=5))
def test_rewards_of_targets_have_these_targets(rewards, targets):
    rewards, targets = (torch.tensor(values, dtype=torch.float64) for values in (rewards, targets))
    warped = NormalScores(rewards, max(1.0, rewards.std(correction=0).item()))
    np.testing.assert_allclose(warped.of(warped.to_rewards(targets)), targets, rtol=1e-5, atol=1e-5)


def test_beyond_the_largest_reward_targets_go_on_with_the_slope_from_the_median():
    warped, scores = warp(torch.tensor([0.0, 50.0, 60.0, 61.0, 62.0])), None
    scores = warped.of(torch.tensor([0.0, 60.0, 62.0]))
    above, below = (62 - 60) / (scores[2] - scores[1]), (60 - 0) / (scores[1] - scores[0])
    beyond = torch.stack([scores[2] + 1, scores[0] - 1])
    np.testing.assert_allclose(warped.to_rewards(beyond), [62 + above, 0 - below], rtol=1e-6)


@pytest.mark.parametrize("targets", [Standardised(3.0, 2.0), warp(), NormalScores(torch.tensor([4.0]), 1.5)])
@pytest.mark.parametrize(("mean", "std"), [(0.3, 0.8), (-2.5, 0.1), (4.0, 2.0), (1.0, 1e-3)])
def test_moments_are_those_of_the_rewards_of_normal_targets(targets, mean, std):
    def integrate(power, centre):
        def density(target):
            reward = targets.to_rewards(torch.tensor([target], dtype=torch.float64)).item()
            return (reward - centre) ** power * norm.pdf(target, mean, std)

        kinks = np.clip(targets.of(REWARDS).numpy(), mean - 9 * std, mean + 9 * std)
        return quad(density, mean - 9 * std, mean + 9 * std, points=np.unique(kinks), limit=200)[0]

    expected = integrate(1, 0.0)
    found = targets.moments(*torch.tensor([[mean], [std]], dtype=torch.float64))
    assert found[0].item() == pytest.approx(expected, rel=1e-7)
    assert found[1].item() == pytest.approx(integrate(2, expected) ** 0.5, rel=1e-5)


def history_of(rewards):
    history = History(len(rewards))
    history.add(torch.arange(len(rewards)), torch.tensor(rewards))
    return history


def test_targets_are_what_the_settings_say():
    rewards = [3.0, 1.0, 8.0]
    seen, history = torch.tensor(rewards, dtype=torch.float64), history_of(rewards)
    assert make_targets(history, standardize=False).of(seen).tolist() == rewards
    np.testing.assert_allclose(make_targets(history, standardize=True).of(seen), (seen - 4) / np.std(rewards))
    np.testing.assert_allclose(make_targets(history, True, "normal_scores").of(seen), scores_of(rewards))


def test_the_unit_of_normal_scores_is_that_of_the_middle_half():
    rewards = torch.linspace(4, 8, 41, dtype=torch.float64)
    unit = NormalScores(rewards, rewards.std().item()).unit
    broken = torch.cat([rewards[:-1], torch.tensor([1000.0], dtype=torch.float64)])
    assert NormalScores(broken, broken.std().item()).unit == pytest.approx(unit, rel=0.02)
    normal = torch.special.ndtri(torch.linspace(0.005, 0.995, 100, dtype=torch.float64))
    assert NormalScores(3 * normal, 3.0).unit == pytest.approx(3.0, rel=0.05)
    assert NormalScores(torch.full((3,), 2.0, dtype=torch.float64), 1.5).unit == pytest.approx(1.5)


def test_a_result_above_all_others_is_exceeded_as_often_as_there_are_bounds_above_it():
    """Of ten results of equal graphs two lie above 3, so the eleventh does with probability 3 / 11, nearly."""
    history = History(10)
    history.add(torch.arange(8), torch.arange(-5.0, 3.0, dtype=torch.float64))
    targets = make_targets(history, True, "normal_scores", bounded(10, [(8, 3.0, True), (9, 3.0, True)]))
    chance = targets.exceeded(3.0, *torch.tensor([[0.0], [1.0]], dtype=torch.float64))
    assert chance.item() == pytest.approx(3 / 11, abs=0.03)


@pytest.mark.parametrize("targets", [warp(), Standardised(60.0, 30.0)], ids=["scores", "standardised"])
@pytest.mark.parametrize("value", [88.0, 95.0])
def test_gains_are_drawn_as_often_as_the_value_is_exceeded(targets, value):
    mean, root = torch.tensor([0.3, -0.5], dtype=torch.float64), torch.tensor([[0.6, 0.0], [0.3, 1.1]]).double()
    drawn = targets.gains(value, mean, root, 20_000, torch.Generator().manual_seed(0))
    assert drawn.shape == (20_000, 2)
    std = root.square().sum(1).sqrt()
    np.testing.assert_allclose((drawn > 0).double().mean(0), targets.exceeded(value, mean, std), atol=0.015)


@pytest.mark.parametrize("targets", [warp(), Standardised(60.0, 30.0)], ids=["scores", "standardised"])
@pytest.mark.parametrize("correlation", [-0.95, 0.3, 0.9, 0.999])
def test_covariances_are_those_of_the_rewards_of_jointly_normal_targets(targets, correlation):
    mean, std, grid = torch.tensor([0.4, -0.9]).double(), torch.tensor([0.7, 1.3]).double(), np.linspace(-8, 8, 1601)
    weights = norm.pdf(grid) * (grid[1] - grid[0])
    own = targets.to_rewards(mean[0] + std[0] * torch.from_numpy(grid)).numpy()
    other = correlation * grid[:, None] + np.sqrt(1 - correlation**2) * grid  # given the first, the second
    given_first = targets.to_rewards(mean[1] + std[1] * torch.from_numpy(other)).numpy() @ weights
    expected = (own * given_first) @ weights - (own @ weights) * (given_first @ weights)
    joint = torch.outer(std, std) * torch.tensor([[1.0, correlation], [correlation, 1.0]]).double()
    found = targets.covariance(mean, joint)
    np.testing.assert_allclose(found[0, 1], expected, rtol=2e-3)
    np.testing.assert_allclose(found[1, 0], found[0, 1])
    np.testing.assert_allclose(found.diagonal().sqrt(), targets.moments(mean, std)[1], rtol=1e-9)


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
        gaps = [k for k, (a, b) in enumerate(atoms) if k % 2 == 0 and a < end and begin < b]
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
